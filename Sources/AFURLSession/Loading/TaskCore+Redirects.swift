import AFLoop
import AFTransport
import AFWire
import Foundation

// Responses that are not the task's, but send it to another URL.

extension TaskCore {
    /// How many bytes the heads of all responses of one task may have.
    static let headBudget: Int64 = 1 << 20

    /// True if the response is a redirect that the task follows, or asks its delegate about.
    func redirects(_ held: HeldResponse) -> Bool {
        guard held.mayRedirect, let request = presentRequest else { return false }
        let question = RedirectRules.Question(
            request: request,
            source: held.request.url,
            status: held.response.statusCode,
            headers: held.response.headers,
            body: held.transfer?.body.map { $0.mayReplay ? .replayable : .once } ?? .none,
            count: course?.redirects ?? 0,
            policy: redirectPolicy(of: request),
            wantsTLS: session.wantsTLS
        )
        switch RedirectRules.decide(question) {
        case .deliver: return false
        case .refuse(let failure): refuse(failure, held.response)
        case .follow(let proposal):
            hold(held)
            propose(proposal, held)
        }
        return true
    }

    /// The policy for a request. The fields that interceptors have set stay in their origin.
    func redirectPolicy(of request: URLRequest) -> RedirectPolicy {
        var policy = request.redirectPolicy ?? session.settings.redirects
        if let fields = course?.interception?.fields { policy.sensitiveFields.formUnion(fields) }
        return policy
    }

    private func refuse(_ failure: RedirectFailure, _ response: HTTPURLResponse) {
        present(response)
        fail(.redirect(failure))
    }

    // MARK: - Asking

    private func propose(_ proposal: RedirectRules.Proposal, _ held: HeldResponse) {
        let isAsked = asksDelegate(about: held.response, proposal.request) { [weak self, weak held] request in
            if let self, let held { answered(request, to: proposal, held) }
        }
        if isAsked { held.transfer?.pause(.undecided) } else { followUnasked(proposal, held) }
    }

    /// False if there is no delegate to ask.
    ///
    /// - Parameter answered: Called with each answer.
    func asksDelegate(
        about response: HTTPURLResponse,
        _ request: URLRequest,
        _ answered: @escaping (URLRequest?) -> Void
    ) -> Bool {
        guard let (delegate, task) = taskDelegate, !session.isMissing(.willRedirect, in: delegate) else { return false }
        let loop = session.loop
        let answer = LoopBound(confined: answered, on: loop)
        session.outbox.post(
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
        return true
    }

    /// Only the first answer counts: after it the task holds the response no longer.
    private func answered(_ request: URLRequest?, to proposal: RedirectRules.Proposal, _ held: HeldResponse) {
        guard isLoading, course?.held === held else { return }
        guard let request else { return deliver(held) }
        let isUnchanged = request.isUnanswered || proposal.isForeign && request.url == proposal.request.url
        if isUnchanged { followUnasked(proposal, held) } else { follow(request, proposal, held) }
    }

    private func followUnasked(_ proposal: RedirectRules.Proposal, _ held: HeldResponse) {
        if let objection = proposal.objection { return refuse(objection, held.response) }
        follow(proposal.request, proposal, held)
    }

    // MARK: - Following

    private func follow(_ request: URLRequest, _ proposal: RedirectRules.Proposal, _ held: HeldResponse) {
        guard let course else { return }
        var leavesOrigin = proposal.leavesOrigin
        var request = request
        if request.url != proposal.request.url {
            // The delegate names another URL than the server: the same rules hold for it.
            let (from, policy) = (held.request.endpoint, redirectPolicy(of: course.request))
            if let target = request.url.flatMap({ try? RequestURL($0.absoluteString) }) {
                if session.wantsTLS(target.endpoint), target.endpoint.scheme == .http {
                    request.url = request.url?.withTLS
                } else if from.scheme == .https, target.endpoint.scheme == .http, !policy.allowsPlainText {
                    return refuse(.plainText(target.endpoint), held.response)
                }
                leavesOrigin = !RedirectRules.isSameOrigin(from, target.endpoint, policy)
                if leavesOrigin { request = RedirectRules.withoutSecrets(request, known: proposal.request, policy) }
            }
        }
        course.redirects += 1
        trace?.redirected(held.response.statusCode, to: request.url)
        course.hasLeftOrigin = course.hasLeftOrigin || leavesOrigin
        let keepsBody = proposal.keepsBody && request.keepsBody(of: proposal.request)
        store(held)
        guard hasClassesToAsk else { return repeatTask(as: request, after: held, keepsBody: keepsBody) }
        held.transfer?.pause(.undecided)
        let next = request
        offer(next, keepsBody: keepsBody) { [self] in
            course.held = nil
            held.transfer?.surrenderBody()?.close()
            leave(held.response)
        } declined: { [self] in
            repeatTask(as: next, after: held, keepsBody: keepsBody)
        }
    }

    /// Stores a redirect without asking the delegate, and without reading more of its body than otherwise.
    private func store(_ held: HeldResponse) {
        guard let transfer = held.transfer else { return }
        session.cache.note(held.response, to: held.request)
        // A coded body would have to be decoded first, only for the cache.
        guard !held.response.headers.contains("Content-Encoding"),
            let writer = cacheWriter(for: held.response, of: transfer)
        else { return }
        held.body.withUnsafeBytes { writer.append($0) }
        switch held.end {
        case nil: course?.writer = writer
        case .finished: writer.finish()
        case .failed: break
        }
    }

    /// Sends another request in place of the one that the server answered.
    func repeatTask(as request: URLRequest, after held: HeldResponse, keepsBody: Bool) {
        guard let course else { return }
        guard course.headBytes + (held.transfer?.times.responseHeadBytes ?? 0) <= TaskCore.headBudget else {
            return fail(.tooManyHeads)
        }
        let body = held.transfer?.surrenderBody()
        repeatTask(as: request, inPlaceOf: held.request, body, keepsBody: keepsBody, after: held.response)
    }

    /// - Parameters:
    ///   - body: The body that went with the former request, unless the request itself holds it.
    ///   - response: The response to the former request; nil if there was none.
    func repeatTask(
        as request: URLRequest,
        inPlaceOf former: WireRequest,
        _ body: (any BodySource)?,
        keepsBody: Bool,
        after response: HTTPURLResponse?
    ) {
        guard let course, let task else { return }
        let frozen: WireRequest
        do throws(RequestRejection) {
            frozen = try freeze(request, keepsBody ? former : nil, with: headers(of: task, for: request))
        } catch {
            body?.close()
            if let response { present(response) }
            return fail(.rejected(error))
        }
        // A body that the request itself holds can be sent again.
        let isThereAgain = frozen.body != nil
        if !keepsBody || isThereAgain { body?.close() }
        if !keepsBody { course.hasDroppedBody = true }
        goOn(with: frozen, madeFrom: request, body: keepsBody && !isThereAgain ? body : nil, after: response)
    }

    func headers(of task: URLSessionTask, for request: URLRequest) -> HeaderDefaults {
        guard course?.hasLeftOrigin == true else { return task.session.headers }
        let policy = redirectPolicy(of: request)
        return HeaderDefaults(task.session.headers) { RedirectRules.isSecret($0, to: policy) }
    }

    /// The own body of an upload task takes precedence over that of its request, unless a delegate has set another.
    private func isBodyTheTasks(_ request: URLRequest) -> Bool {
        guard case .data = body else { return false }
        return request.httpBody == task?.originalRequest?.httpBody
    }

    /// - Parameter former: The request whose body is sent again.
    func freeze(
        _ request: URLRequest,
        _ former: WireRequest?,
        with defaults: HeaderDefaults
    ) throws(RequestRejection) -> WireRequest {
        var request = request
        var plan = request.bodyStream == nil ? RequestFreezer.BodyPlan.own : .stream
        if let former {
            plan = .own
            if former.isStreamed {
                plan = .stream
            } else if former.body == nil, let length = former.bodyLength {
                plan = .length(length)
            } else if let data = former.body, request.httpBody == nil || isBodyTheTasks(request) {
                request.httpBody = data
            }
        }
        return try RequestFreezer.freeze(
            request,
            defaults: defaults,
            plan: plan,
            expectsContinueAbove: session.settings.expectsContinueAbove
        )
    }
}

extension LoadError {
    static var tooManyHeads: LoadError {
        .transfer(.wire(HTTP1Error(.limit(.taskHeadBytes), "the heads of all responses are longer than 1 MiB")))
    }
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
