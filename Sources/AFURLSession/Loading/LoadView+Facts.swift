import AFTransport
import AFWire
import Foundation

extension Load {
    /// The delegate for the bodies of responses, and the handle to call it with.
    var dataDelegate: (delegate: any URLSessionDataDelegate, task: URLSessionDataTask)? {
        guard let task = handle as? URLSessionDataTask else { return nil }
        return (dataListener ?? session.dataDelegate).map { ($0, task) }
    }
}

// What follows from what a step sees of a load.

extension LoadView {
    /// The delegate, and the handle to call it with. The task calls its own delegate in place of the session's, where
    /// that has the method.
    var taskDelegate: (delegate: any URLSessionTaskDelegate, task: URLSessionTask)? {
        guard let handle, let delegate = listener ?? session.taskDelegate else { return nil }
        return (delegate, handle)
    }

    /// The task's own delegate.
    var ownDelegate: (any URLSessionTaskDelegate)? {
        guard let listener else { return nil }
        return (listener as? DelegatePair)?.own ?? listener
    }

    /// The task's own delegate in this role, if it has one.
    func listener<Kind>(as kind: Kind.Type) -> Kind? {
        guard let listener else { return nil }
        if let pair = listener as? DelegatePair, !pair.has(kind) { return nil }
        return listener as? Kind
    }

    /// The task's own delegate, as a pair with the session's if there is one.
    func listener(for own: any URLSessionTaskDelegate) -> any URLSessionTaskDelegate {
        guard let handle, let shared = session.delegate, shared !== own else { return own }
        return DelegatePair(own: own, shared: shared, in: handle.session)
    }

    func memory(beginningWith request: URLRequest) -> LoadMemory {
        if let memory { return memory }
        let made = LoadMemory(request)
        memory = made
        return made
    }

    // MARK: - The body

    /// The body that the task was made with.
    var body: TaskBody { handle?.body ?? .request }

    /// The task's body; without one, the body of the request itself.
    var presentBody: TaskBody { memory?.hasDroppedBody == true ? .request : body }

    /// Whether there is nothing to do for the body before a connection is chosen.
    func isPrepared(for request: WireRequest) -> Bool { presentBody.isPrepared(for: request) }

    // MARK: - The fields

    /// What the session adds to a request's fields. Secrets stay in the origin that the task began with.
    func headers(for request: URLRequest) -> HeaderDefaults {
        // A task that has completed sends nothing.
        guard let defaults = handle?.session.headers else {
            return HeaderDefaults(additionalHeaders: [:], decodes: false)
        }
        guard memory?.hasLeftOrigin == true else { return defaults }
        let policy = redirectPolicy(of: request)
        return HeaderDefaults(defaults) { policy.withholds($0) }
    }

    /// The policy for a request. The fields that interceptors have set stay in their origin.
    func redirectPolicy(of request: URLRequest) -> RedirectPolicy {
        var policy = request.redirectPolicy ?? session.settings.redirects
        if let fields = memory?.interception?.fields { policy.sensitiveFields.formUnion(fields) }
        return policy
    }

    // MARK: - The bytes

    /// The own body of an upload task takes precedence over that of its request, unless a delegate has set another.
    private func isBodyTheTasks(_ request: URLRequest) -> Bool {
        guard case .data = body else { return false }
        return request.httpBody == handle?.originalRequest?.httpBody
    }

    /// - Parameter former: The request whose body is sent again.
    func freeze(_ request: URLRequest, former: WireRequest?) throws(RequestRejection) -> WireRequest {
        var made = request
        var plan = request.bodyStream == nil ? RequestFreezer.BodyPlan.own : .stream
        if let former {
            plan = .own
            if former.body.isStreamed {
                plan = .stream
            } else if former.body.data == nil, let length = former.body.length {
                plan = .length(length)
            } else if let data = former.body.data, request.httpBody == nil || isBodyTheTasks(request) {
                made.httpBody = data
            }
        }
        return try RequestFreezer.freeze(
            made,
            defaults: headers(for: request),
            plan: plan,
            expectsContinueAbove: session.settings.expectsContinueAbove
        )
    }

    // MARK: - The judgement

    /// The delegate that would answer challenges of trust and identity for the task, as far as the session knows before
    /// it asks: nil is the session's delegate, or none at all.
    ///
    /// A delegate of the task's own counts as one that answers until the session has called it once: only then it knows
    /// that the delegate does not implement the method.
    var trustJudge: TrustJudge? {
        guard let own = ownDelegate, own !== session.delegate, !session.answersChallenges,
            !session.isMissing(.receivedTaskChallenge, in: own)
        else { return nil }
        if let own = own as? any TrustJudging { return own.trustJudge }
        return .own(session.delegateNumbers.number(of: own))
    }

    /// The same for a request to this place: nil without TLS, where there is nothing to decide.
    func trustJudge(for endpoint: Endpoint) -> TrustJudge? {
        endpoint.isSecured ? trustJudge : nil
    }

    /// Under which judgement the load would accept a server, as far as that is known before there is a connection.
    func scopeOfServer(at endpoint: Endpoint, under rules: SecurityContext?) -> TrustScope {
        let judge = trustJudge(for: endpoint)
        return session.scopes.scope(
            of: endpoint,
            under: rules,
            word: judge.map { .delegate($0) } ?? .none,
            isProven: false
        )
    }

    /// Asks the delegates about a server.
    func challenges(of endpoint: Endpoint) -> HandshakeChallenges? {
        handle.map {
            HandshakeChallenges(task: $0, taskDelegate: taskDelegate?.delegate, endpoint: endpoint, in: session)
        }
    }

    /// Whether a delegate may decide about the server. A delegate that hands challenges on may have done so this time.
    func mayBeDecidedElsewhere(at endpoint: Endpoint) -> Bool {
        endpoint.isSecured && challenges(of: endpoint)?.mayBeAsked == true
    }
}
