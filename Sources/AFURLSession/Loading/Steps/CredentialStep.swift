import AFTLS
import AFTransport
import AFWire
import Foundation

/// What a load knows of its authentication with servers and proxies, and the exchange that it is about.
struct Authentication {
    var machine = AuthenticationMachine()
    var exchange: AuthenticationExchange
}

/// Sends credentials, and gets those that a server or a proxy asks for.
final class CredentialStep: LoadStep {
    /// The load does not hash a longer body for its digest: that would hold up the network thread.
    private static let longestHashedBody = 1 << 20

    /// Those of the session.
    private let proven: ProvenCredentials

    init(_ proven: ProvenCredentials) {
        self.proven = proven
    }

    private func hasCredentials(_ load: any LoadView) -> Bool {
        load.memory?.authentication != nil || !proven.isEmpty
    }

    // MARK: - Before a request

    /// Adds the credentials for a request, asked for or not. If the request goes another time, they replace those of
    /// the first time: the server may have seen them, and RFC 7616 §3.4 lets it refuse a count that it has seen.
    func addFields(to fields: inout HTTPHeaders, of request: WireRequest, load: any LoadView, isRepeated: Bool) {
        guard hasCredentials(load) else { return }
        if isRepeated, load.memory?.authentication == nil { return }
        let exchange = isRepeated ? load.memory?.authentication?.exchange : nil
        let present = exchange ?? self.exchange(of: request, load: load)
        let values = values(for: present, body: request.body.content, load: load)
        load.memory?.authentication?.exchange = present
        if let value = values.authorization { fields.append("Authorization", value: value) }
        if let value = values.proxyAuthorization { fields.append("Proxy-Authorization", value: value) }
    }

    private func values(
        for exchange: AuthenticationExchange,
        body: Data?,
        load: any LoadView
    ) -> AuthenticationMachine.FieldValues {
        guard let present = load.presentRequest else { return AuthenticationMachine.FieldValues() }
        let former = load.memory?.authentication
        var authentication = former ?? Authentication(exchange: exchange)
        let function = authentication.machine.prepare(exchange, knowing: proven.known(for: exchange))
        let bodyDigest = function.flatMap { digest(of: body, function: $0) }
        let values = authentication.machine.fieldValues(for: exchange, bodyDigest: bodyDigest)
        if former != nil || values != AuthenticationMachine.FieldValues() {
            load.memory(beginningWith: present).authentication = authentication
        }
        return values
    }

    private func digest(of body: Data?, function: DigestFunction) -> [UInt8]? {
        guard let body, let digest = MessageDigest(function) else { return nil }
        digest.add([UInt8](body))
        return digest.finish()
    }

    private func exchange(of request: WireRequest, load: any LoadView) -> AuthenticationExchange {
        let session = load.session
        let key = try? session.connectionKey(for: request, judgedBy: load.trustJudge(for: request.endpoint))
        let reader = key?.route.flatMap { $0.tunnels(to: request.endpoint) ? nil : $0 }
        var exchange = AuthenticationExchange(
            url: request.url,
            method: request.method,
            target: reader.map { _ in Array(request.url.text.utf8) },
            namedHost: request.namedHost,
            proxy: reader.map { .proxy($0.endpoint, for: request.endpoint.scheme) },
            trust: reader.map { session.scope(ofProxy: $0, under: key?.proxySecurity) }
                ?? load.scopeOfServer(at: request.endpoint, under: key?.security)
        )
        exchange.proxyCredential = reader?.credential
        exchange.sendsProxyCredential = reader?.authorization != nil
        exchange.hasOwnAuthorization = request.head.fields.contains("Authorization")
        exchange.mayHashBody = mayHashBody(of: request)
        return exchange
    }

    private func mayHashBody(of request: WireRequest) -> Bool {
        if let body = request.body.content { return body.count <= CredentialStep.longestHashedBody }
        return !request.body.isStreamed && request.body.length ?? 0 == 0
    }

    // MARK: - After a response

    func judge(_ outcome: ExchangeOutcome, of load: any LoadView) -> Verdict {
        switch outcome {
        case .response(let pending): judge(pending, load: load)
        case .failure(let failure): judge(failure.error, load: load)
        case .foreignResponse, .foreignRedirect: .pass
        }
    }

    /// The response may ask for credentials that the load has, or may get.
    private func judge(_ pending: PendingResponse, load: any LoadView) -> Verdict {
        let status = pending.response.statusCode
        guard let transfer = pending.transfer, let present = load.presentRequest,
            status == 401 || status == 407 || load.memory?.authentication != nil
        else { return .pass }
        if load.memory?.authentication != nil { noteTunnel(of: transfer, load: load) }
        var authentication =
            load.memory?.authentication ?? Authentication(exchange: exchange(of: pending.request, load: load))
        let turn = authentication.machine.received(
            status,
            headers: pending.response.headers,
            to: authentication.exchange,
            knowing: proven.known
        )
        let step = proven.learn(from: turn)
        if let complaint = authentication.machine.complaint {
            load.trace?.note(.challengeUnanswerable(message: complaint))
        }
        if case .deliver = step {
            load.memory?.authentication = authentication
            return .pass
        }
        // Before the step is taken: a request that goes again takes its fields from what is remembered.
        load.memory(beginningWith: present).authentication = authentication
        return take(step, pending: pending, load: load)
    }

    private func take(_ step: AuthenticationMachine.Step, pending: PendingResponse, load: any LoadView) -> Verdict {
        switch step {
        case .deliver: return .pass
        case .again:
            guard let present = load.presentRequest else { return .pass }
            return .send(NextRequest(present, inPlaceOf: pending.request))
        case .ask(let question):
            // Weakly: a delegate may keep the question for ever, but not the transfer with its connection.
            return ask(question, after: pending.response, load: load) { [self, weak pending] step, load in
                pending.map { take(step, pending: $0, load: load) } ?? .pass
            }
        case .cancel: return .fail(.cancelled)
        case .fail(let rejection): return .fail(.rejected(rejection), showing: pending.response)
        }
    }

    private func ask(
        _ question: CredentialQuestion,
        after response: HTTPURLResponse,
        load: any LoadView,
        take: @escaping (AuthenticationMachine.Step, any LoadView) -> Verdict
    ) -> Verdict {
        guard let task = load.handle else { return .pass }
        load.trace?.challenged(question.space, failures: question.previousFailureCount)
        let challenges = CredentialChallenges(task: task, taskDelegate: load.taskDelegate?.delegate, in: load.session)
        return .later(asking: .challenge) { [proven] reply in
            challenges.ask(question, after: response) { disposition, credential in
                reply { load, _ in
                    guard var authentication = load.memory?.authentication else { return .pass }
                    let answer = CredentialAnswer(disposition, credential: credential)
                    let step = proven.learn(from: authentication.machine.answered(answer, knowing: proven.known))
                    load.memory?.authentication = authentication
                    return take(step, load)
                }
            }
        }
    }

    // MARK: - Tunnels

    /// Gives the route the credentials that the session knows for its proxy.
    ///
    /// The exchange of the load stays that of the request: the server in the tunnel answers that one, and may cause it to
    /// be sent again.
    func address(
        _ key: ConnectionKey,
        by route: ProxyRoute,
        for request: WireRequest,
        of load: any LoadView
    ) -> ConnectionKey {
        guard hasCredentials(load), let tunnel = exchange(through: route, by: key, of: load) else { return key }
        let own = load.memory?.authentication?.exchange ?? exchange(of: request, load: load)
        let value = values(for: tunnel, body: nil, load: load).proxyAuthorization
        load.memory?.authentication?.exchange = own
        return value.map { key.led(by: route.authorized(by: HTTPText.decode($0))) } ?? key
    }

    /// The request for a tunnel; nil if the route has no proxy that reads one.
    private func exchange(
        through route: ProxyRoute,
        by key: ConnectionKey,
        of load: any LoadView
    ) -> AuthenticationExchange? {
        let endpoint = key.endpoint
        guard route.tunnels(to: endpoint), !route.kind.isSOCKS else { return nil }
        var exchange = AuthenticationExchange(
            connecting: Array(endpoint.text.utf8),
            through: .proxy(route.endpoint, for: endpoint.scheme),
            trust: load.session.scope(ofProxy: route, under: key.proxySecurity)
        )
        exchange.proxyCredential = route.credential
        exchange.sendsProxyCredential = route.authorization != nil
        return exchange
    }

    /// A proxy that made the tunnel has accepted the credentials.
    private func noteTunnel(of transfer: Transfer, load: any LoadView) {
        guard let route = transfer.key.route, let exchange = exchange(through: route, by: transfer.key, of: load),
            let turn = load.memory?.authentication?.machine
                .received(200, headers: HTTPHeaders(), to: exchange, knowing: proven.known)
        else { return }
        _ = proven.learn(from: turn)
    }

    /// A proxy may ask for a credential that the load has, or may get from its delegate.
    private func judge(_ error: LoadError, load: any LoadView) -> Verdict {
        guard case .transfer(.proxy(let failure)) = error, let head = failure.challenge,
            let present = load.presentRequest, let transfer = load.transfer,
            let exchange = exchange(through: failure.route, by: transfer.key, of: load)
        else { return .pass }
        let memory = load.memory(beginningWith: present)
        var authentication = memory.authentication ?? Authentication(exchange: exchange)
        let turn = authentication.machine.received(
            head.status,
            headers: head.headers,
            to: exchange,
            knowing: proven.known
        )
        let step = proven.learn(from: turn)
        memory.authentication = authentication
        let response = HTTPURLResponse(url: transfer.request.location, head: head)
        return take(step, of: error, response: response, load: load)
    }

    private func take(
        _ step: AuthenticationMachine.Step,
        of error: LoadError,
        response: HTTPURLResponse,
        load: any LoadView
    ) -> Verdict {
        switch step {
        // The response of a proxy never passes for the server's.
        case .deliver: return .fail(error)
        case .again:
            guard let present = load.presentRequest, let transfer = load.transfer else { return .fail(error) }
            var next = NextRequest(present, inPlaceOf: transfer.request)
            next.refusal = response
            return .send(next)
        case .ask(let question):
            return ask(question, after: response, load: load) { [self] step, load in
                take(step, of: error, response: response, load: load)
            }
        case .cancel: return .fail(.cancelled)
        case .fail(let rejection): return .fail(.rejected(rejection))
        }
    }
}

extension ProxyRoute {
    fileprivate var credential: URLCredential? {
        proxy.account.map { URLCredential(user: $0.user, password: $0.password, persistence: .none) }
    }
}

extension LoadMemory {
    /// The authentication with the parties that have asked.
    var authentication: Authentication? {
        get { self[Authentication.self] }
        set { self[Authentication.self] = newValue }
    }
}
