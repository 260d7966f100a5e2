import AFLoop
import AFTransport
import AFWire
import Foundation

/// Follows responses that send the task to another URL, after asking the delegate.
final class RedirectStep: LoadStep {
    func judge(_ outcome: ExchangeOutcome, of load: Load) -> Verdict {
        switch outcome {
        case .response(let pending) where pending.mayRedirect:
            pending.transfer == nil ? judgeSoon(pending, load: load) : judge(pending, load: load)
        case .foreignRedirect(let request, let response, _): judge(request, response: response, load: load)
        case .response, .failure, .foreignResponse: .pass
        }
    }

    /// Decides about a stored redirect in a later turn of the loop: the target may be a stored redirect as well, and
    /// each further one would be a few calls deeper on the stack.
    private func judgeSoon(_ pending: PendingResponse, load: Load) -> Verdict {
        .later(asking: nil) { [self] reply in
            let waiting = LoopBound(
                confined: { reply { [self] load, _ in judge(pending, load: load) } },
                on: load.session.loop
            )
            load.session.loop.enqueue(in: .all) { waiting.value() }
        }
    }

    // MARK: - Redirects of servers

    private func judge(_ pending: PendingResponse, load: Load) -> Verdict {
        guard let request = load.presentRequest else { return .pass }
        let question = RedirectRules.Question(
            request: request,
            source: pending.request.url,
            status: pending.response.statusCode,
            headers: pending.response.headers,
            body: pending.transfer?.body.map { $0.mayReplay ? .replayable : .once } ?? .none,
            count: load.memory?.redirects ?? 0,
            policy: load.redirectPolicy(of: request),
            withTLS: load.session.withTLS
        )
        switch RedirectRules.decide(question) {
        case .deliver: return .pass
        case .refuse(let failure): return refuse(failure, pending: pending)
        case .follow(let proposal):
            let asked = ask(about: pending.response, request: proposal.request, load: load) {
                [self, weak pending] request, load in
                pending.map { answered(request, to: proposal, pending: $0, load: load) } ?? .pass
            }
            return asked ?? followUnasked(proposal, pending: pending, load: load)
        }
    }

    private func answered(
        _ request: URLRequest?,
        to proposal: RedirectRules.Proposal,
        pending: PendingResponse,
        load: Load
    ) -> Verdict {
        guard let request else { return .pass }
        let isUnchanged = request.isUnanswered || proposal.isForeign && request.url == proposal.request.url
        return isUnchanged
            ? followUnasked(proposal, pending: pending, load: load)
            : follow(request, proposal: proposal, pending: pending, load: load)
    }

    private func followUnasked(
        _ proposal: RedirectRules.Proposal,
        pending: PendingResponse,
        load: Load
    ) -> Verdict {
        if let objection = proposal.objection { return refuse(objection, pending: pending) }
        return follow(proposal.request, proposal: proposal, pending: pending, load: load)
    }

    private func refuse(_ failure: RedirectFailure, pending: PendingResponse) -> Verdict {
        .fail(.redirect(failure), showing: pending.response)
    }

    private func follow(
        _ request: URLRequest,
        proposal: RedirectRules.Proposal,
        pending: PendingResponse,
        load: Load
    ) -> Verdict {
        guard let present = load.presentRequest else { return .pass }
        let memory = load.memory(beginningWith: present)
        var leavesOrigin = proposal.leavesOrigin
        var request = request.openingWebSocket(like: proposal.request)
        // The delegate may name another URL than the server: the same rules hold for it.
        if let target = request.target {
            let (from, policy) = (pending.request.endpoint, load.redirectPolicy(of: memory.request))
            if let url = request.url, let secured = load.session.withTLS(url, to: target.endpoint) {
                request.url = secured
            } else if from.scheme == .https, target.endpoint.scheme == .http, !policy.allowsPlainText {
                return refuse(.plainText(target.endpoint), pending: pending)
            }
            leavesOrigin = !RedirectRules.isSameOrigin(from, to: target.endpoint, policy: policy)
            if leavesOrigin { request = RedirectRules.withoutSecrets(request, known: proposal.request, policy: policy) }
        }
        memory.redirects += 1
        load.trace?.redirected(pending.response.statusCode, to: request.url)
        memory.hasLeftOrigin = memory.hasLeftOrigin || leavesOrigin
        let keepsBody = proposal.keepsBody && request.keepsBody(of: proposal.request)
        store(pending, load: load)
        let body = pending.transfer?.surrenderBody()
        return load.sending(
            request,
            inPlaceOf: pending.request,
            body: body,
            keepsBody: keepsBody,
            after: pending.response,
            from: .classes
        )
    }

    /// Stores a redirect without asking the delegate, and without reading more of its body than otherwise.
    private func store(_ pending: PendingResponse, load: Load) {
        guard let transfer = pending.transfer else { return }
        // A coded body would have to be decoded first, only for the cache.
        guard !pending.response.headers.contains("Content-Encoding"),
            let writer = load.cacheWriter(for: pending.response, of: transfer)
        else { return }
        pending.body.withUnsafeBytes { writer.append($0) }
        switch pending.end {
        case nil: load.memory?.redirectWriter = writer
        case .finished: writer.finish()
        case .failed: break
        }
    }

    // MARK: - Asking

    /// Nil if there is no delegate to ask.
    private func ask(
        about response: HTTPURLResponse,
        request: URLRequest,
        load: Load,
        answered: @escaping (URLRequest?, Load) -> Verdict
    ) -> Verdict? {
        guard let (delegate, task) = load.taskDelegate, !load.session.isMissing(.willRedirect, in: delegate) else {
            return nil
        }
        return .later(asking: .redirect) { reply in
            let loop = load.session.loop
            let answer = LoopBound(
                confined: { (request: URLRequest?) in reply { load, _ in answered(request, load) } },
                on: loop
            )
            load.session.outbox.post(
                .block {
                    delegate.urlSession(
                        task.session,
                        task: task,
                        willPerformHTTPRedirection: response,
                        newRequest: request,
                        completionHandler: { request in loop.enqueue { answer.value(request) } }
                    )
                }
            )
        }
    }

    // MARK: - Redirects of classes

    private func judge(_ request: URLRequest, response: URLResponse, load: Load) -> Verdict {
        guard let memory = load.memory else { return .pass }
        // The class has delivered a part of what it now leads away from.
        if load.response != nil {
            guard load.consumer.mayStartOver else { return .fail(.redirect(.responseIsTaken)) }
            load.startConsumerOver()
        }
        let redirect: ProtocolRedirect
        do throws(RedirectFailure) {
            redirect = try ProtocolRedirect(to: request, after: memory, policy: load.redirectPolicy(of: memory.request))
        } catch {
            return .fail(.redirect(error), showing: response)
        }
        let answered = { [self] (request: URLRequest?, load: Load) -> Verdict in
            guard let request else { return .pass }
            return follow(
                request.isUnanswered ? redirect.request : request,
                proposal: redirect.request,
                response: response,
                load: load
            )
        }
        guard let http = response as? HTTPURLResponse,
            let asked = ask(about: http, request: redirect.request, load: load, answered: answered)
        else { return answered(redirect.request, load) }
        return asked
    }

    private func follow(
        _ request: URLRequest,
        proposal: URLRequest,
        response: URLResponse,
        load: Load
    ) -> Verdict {
        guard let memory = load.memory else { return .pass }
        var request = request.openingWebSocket(like: proposal)
        let policy = load.redirectPolicy(of: memory.request)
        let leavesOrigin: Bool
        do throws(RedirectFailure) {
            // The delegate may name another URL than the class: the same rules hold for it.
            leavesOrigin = try ProtocolRedirect(to: request, after: memory, policy: policy).leavesOrigin
        } catch {
            return .fail(.redirect(error), showing: response)
        }
        if leavesOrigin { request = RedirectRules.withoutSecrets(request, known: proposal, policy: policy) }
        let mayKeepBody =
            request.contents.method == memory.request.contents.method && !ProtocolRedirect.dropsBody(response)
            && !memory.hasDroppedBody
        memory.redirects += 1
        memory.hasLeftOrigin = memory.hasLeftOrigin || leavesOrigin
        if !mayKeepBody, ["GET", "HEAD"].contains(request.contents.method) { request.httpBody = nil }
        load.leaveForeign(response)
        memory.request = request
        load.becomes(request)
        guard let task = load.handle else { return .pass }
        let defaults = load.headers(of: task, for: request)
        let keepsBody = mayKeepBody && !load.body.isReplaced(in: request)
        return .send(
            draft(of: request, defaults: defaults, keepsBody: keepsBody, after: response, load: load),
            from: .classes
        )
    }

    /// The request as the network gets it, if no class takes the target. Never a file.
    private func draft(
        of request: URLRequest,
        defaults: HeaderDefaults,
        keepsBody: Bool,
        after response: URLResponse,
        load: Load
    ) -> RequestDraft {
        var made = request
        switch load.body {
        case .request: break
        case .data(let data): if keepsBody { made.httpBody = data }
        // Open the file, or ask for the stream, anew: the class may have read the one it got.
        case .file, .streamed: if made.bodyStream != nil { made.httpBodyStream = nil }
        }
        let isStreamed = if case .streamed = load.body { keepsBody } else { made.bodyStream != nil }
        var draft = RequestDraft(
            OwnRequest(
                Result { () throws(RequestRejection) in
                    try RequestFreezer.freeze(
                        made,
                        defaults: defaults,
                        plan: isStreamed ? .stream : .own,
                        expectsContinueAbove: load.session.settings.expectsContinueAbove
                    )
                }
            )
        )
        draft.keepsBody = keepsBody
        let history = DraftHistory()
        history.cause = response
        history.forNetwork = (made, hasDroppedBody: !keepsBody)
        draft.history = history
        return draft
    }
}

extension PendingResponse {
    /// Whether the redirect rules apply.
    fileprivate var mayRedirect: Bool { (300..<400).contains(response.statusCode) }
}

extension URLRequest {
    /// Stands for the answer of a delegate that does not implement the method.
    static let unanswered = {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.change { $0.isUnanswered = true }
        return request
    }()

    var isUnanswered: Bool { contents.isUnanswered }

    /// Whether the body is still that of the task, and not one that the delegate has set.
    fileprivate func keepsBody(of other: URLRequest) -> Bool {
        contents.method == other.contents.method && contents.bodyStream === other.contents.bodyStream
            && contents.body == other.contents.body
    }
}
