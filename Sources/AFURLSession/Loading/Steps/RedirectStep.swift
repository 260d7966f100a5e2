import AFLoop
import AFTransport
import AFWire
import Foundation

/// Follows responses that send the task to another URL, after asking the delegate.
final class RedirectStep: LoadStep {
    func judge(_ outcome: ExchangeOutcome, of load: any LoadView) -> Verdict {
        switch outcome {
        case .response(let pending) where pending.mayRedirect:
            pending.transfer == nil ? judgeSoon(pending, load: load) : judge(pending, load: load)
        case .foreignRedirect(let request, let response, _): judge(request, response: response, load: load)
        case .response, .failure, .foreignResponse: .pass
        }
    }

    /// Decides about a stored redirect in a later turn of the loop: the target may be a stored redirect as well, and
    /// each further one would be a few calls deeper on the stack.
    private func judgeSoon(_ pending: PendingResponse, load: any LoadView) -> Verdict {
        .later(asking: nil) { [self] reply in
            let waiting = LoopBound(
                confined: { reply { [self] load, _ in judge(pending, load: load) } },
                on: load.session.loop
            )
            load.session.loop.enqueue(in: .all) { waiting.value() }
        }
    }

    // MARK: - Redirects of servers

    private func judge(_ pending: PendingResponse, load: any LoadView) -> Verdict {
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
        load: any LoadView
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
        load: any LoadView
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
        load: any LoadView
    ) -> Verdict {
        guard let present = load.presentRequest else { return .pass }
        var leavesOrigin = proposal.leavesOrigin
        var request = request.openingWebSocket(like: proposal.request)
        // The delegate may name another URL than the server: the same rules hold for it.
        if let target = request.target {
            let (from, policy) = (pending.request.endpoint, load.redirectPolicy(of: present))
            if let url = request.url, let secured = load.session.withTLS(url, to: target.endpoint) {
                request.url = secured
            } else if from.isSecured, !target.endpoint.isSecured, !policy.allowsPlainText {
                return refuse(.plainText(target.endpoint), pending: pending)
            }
            leavesOrigin = !RedirectRules.isSameOrigin(from, to: target.endpoint, policy: policy)
            if leavesOrigin { request = RedirectRules.withoutSecrets(request, known: proposal.request, policy: policy) }
        }
        var next = NextRequest(request, inPlaceOf: pending.request)
        next.keepsBody = proposal.keepsBody && request.keepsBody(of: proposal.request)
        next.redirectLeavesOrigin = leavesOrigin
        next.entry = .classes
        return .send(next)
    }

    // MARK: - Asking

    /// Nil if there is no delegate to ask.
    private func ask(
        about response: HTTPURLResponse,
        request: URLRequest,
        load: any LoadView,
        answered: @escaping (URLRequest?, any LoadView) -> Verdict
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

    private func judge(_ request: URLRequest, response: URLResponse, load: any LoadView) -> Verdict {
        guard let memory = load.memory else { return .pass }
        // The class has delivered a part of what it now leads away from.
        guard load.delivered.mayStartOver else { return .fail(.redirect(.responseIsTaken)) }
        let redirect: ProtocolRedirect
        do throws(RedirectFailure) {
            redirect = try ProtocolRedirect(to: request, after: memory, policy: load.redirectPolicy(of: memory.request))
        } catch {
            return .fail(.redirect(error), showing: response)
        }
        let answered = { [self] (request: URLRequest?, load: any LoadView) -> Verdict in
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
        load: any LoadView
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
        if !mayKeepBody, ["GET", "HEAD"].contains(request.contents.method) { request.httpBody = nil }
        if !mayKeepBody, request.httpBody == nil, request.bodyStream == nil { request.trailers = nil }
        var next = NextRequest(request, inPlaceOf: nil)
        next.keepsBody = mayKeepBody && !load.body.isReplaced(in: request)
        next.redirectLeavesOrigin = leavesOrigin
        next.entry = .classes
        return .send(next)
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
