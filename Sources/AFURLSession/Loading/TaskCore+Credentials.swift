import AFTLS
import AFTransport
import AFWire
import Foundation

// Responses that ask for credentials.

/// The task's authentication with servers and proxies, and the exchange that it is about.
struct Dealings {
    var course = AuthenticationCourse()
    var exchange: AuthenticationExchange
}

extension TaskCore {
    /// The task does not hash a longer body for its digest: that would hold up the network thread.
    private static let longestHashedBody = 1 << 20

    private var hasCredentials: Bool { course?.dealings != nil || !session.proven.isEmpty }

    // MARK: - Before a request

    /// The fields with the credentials for a request, asked for or not.
    func credentials(for request: WireRequest) -> [HeadField] {
        guard hasCredentials else { return [] }
        let exchange = exchange(of: request)
        let values = values(for: exchange, body: request.body)
        course?.dealings?.exchange = exchange
        return fields(of: values)
    }

    /// The fields that replace them when the session sends the request again. The server may have seen the first one,
    /// and RFC 7616 §3.4 lets it refuse a count that it has seen.
    func credentialsAgain(for request: WireRequest) -> [HeadField] {
        guard let exchange = course?.dealings?.exchange else { return [] }
        return fields(of: values(for: exchange, body: request.body))
    }

    private func fields(of values: AuthenticationCourse.FieldValues) -> [HeadField] {
        var fields: [HeadField] = []
        if let value = values.authorization { fields.append(HeadField("Authorization", value)) }
        if let value = values.proxyAuthorization { fields.append(HeadField("Proxy-Authorization", value)) }
        return fields
    }

    private func values(for exchange: AuthenticationExchange, body: Data?) -> AuthenticationCourse.FieldValues {
        guard let present = presentRequest else { return AuthenticationCourse.FieldValues() }
        var dealings = course?.dealings ?? Dealings(exchange: exchange)
        let function = dealings.course.prepare(exchange, in: session.proven)
        let bodyDigest = function.flatMap { digest(of: body, $0) }
        let values = dealings.course.fieldValues(for: exchange, bodyDigest: bodyDigest)
        if course?.dealings != nil || values != AuthenticationCourse.FieldValues() {
            course(beginningWith: present).dealings = dealings
        }
        return values
    }

    private func digest(of body: Data?, _ function: DigestFunction) -> [UInt8]? {
        guard let body, let digest = MessageDigest(function) else { return nil }
        digest.add([UInt8](body))
        return digest.finish()
    }

    private func exchange(of request: WireRequest) -> AuthenticationExchange {
        let route = (try? session.connectionKey(for: request.endpoint))?.route
        let reader = route.flatMap { $0.tunnels(to: request.endpoint) ? nil : $0 }
        var exchange = AuthenticationExchange(
            request.url,
            method: request.method,
            target: reader.map { _ in Array(request.url.text.utf8) },
            namedHost: request.namedHost,
            proxy: reader.map { .proxy($0.endpoint, for: request.endpoint.scheme) }
        )
        exchange.proxyCredential = reader?.credential
        exchange.hasOwnAuthorization = HeadField("Authorization", []).line(in: request.headBytes) != nil
        exchange.mayHashBody = mayHashBody(of: request)
        return exchange
    }

    private func mayHashBody(of request: WireRequest) -> Bool {
        if let body = request.body { return body.count <= TaskCore.longestHashedBody }
        return !request.isStreamed && request.bodyLength ?? 0 == 0
    }

    // MARK: - After a response

    /// True if the response asks for credentials that the task has, or may get. Then it may not be the task's.
    func asksForCredentials(_ held: HeldResponse) -> Bool {
        let status = held.response.statusCode
        guard held.transfer != nil, status == 401 || status == 407 || course?.dealings != nil else { return false }
        guard let present = presentRequest else { return false }
        var dealings = course?.dealings ?? Dealings(exchange: exchange(of: held.request))
        let step = dealings.course.received(status, held.response.headers, to: dealings.exchange, in: session.proven)
        if case .deliver = step {
            course?.dealings = dealings
            return false
        }
        course(beginningWith: present).dealings = dealings
        hold(held)
        take(step, held)
        return true
    }

    private func take(_ step: AuthenticationCourse.Step, _ held: HeldResponse) {
        switch step {
        case .deliver: conclude(held)
        case .again:
            guard let present = presentRequest else { return }
            repeatTask(as: present, after: held, keepsBody: true)
        case .ask(let question):
            held.transfer?.pause(.undecided)
            ask(question, after: held.response) { [weak held] task, step in
                if let held, task.course?.held === held { task.take(step, held) }
            }
        case .cancel: fail(.cancelled)
        case .fail(let rejection):
            present(held.response)
            fail(.rejected(rejection))
        }
    }

    private func ask(
        _ question: CredentialQuestion,
        after response: HTTPURLResponse,
        _ done: @escaping (TaskCore, AuthenticationCourse.Step) -> Void
    ) {
        guard let task else { return }
        trace?.challenged(question.space, failures: question.previousFailureCount)
        let desk = CredentialDesk(task, taskDelegate?.delegate, in: session)
        desk.ask(question, after: response) { [weak self] disposition, credential in
            guard let self, isLoading, var dealings = course?.dealings else { return }
            let step = dealings.course.answered(disposition, credential, in: session.proven)
            course?.dealings = dealings
            done(self, step)
        }
    }

    // MARK: - Tunnels

    /// The same route with the credentials that the session knows for its proxy.
    func authorized(_ key: ConnectionKey, by route: ProxyRoute) -> ConnectionKey {
        guard hasCredentials, let exchange = exchange(through: route, to: key.endpoint),
            let value = values(for: exchange, body: nil).proxyAuthorization
        else { return key }
        return key.led(by: route.authorized(by: HTTPText.decode(value)))
    }

    /// The request for a tunnel; nil if the route has no proxy that reads one.
    private func exchange(through route: ProxyRoute, to endpoint: Endpoint) -> AuthenticationExchange? {
        guard route.tunnels(to: endpoint), !route.kind.isSOCKS else { return nil }
        let party = ChallengingParty.proxy(route.endpoint, for: endpoint.scheme)
        var exchange = AuthenticationExchange(connecting: Array(endpoint.text.utf8), through: party)
        exchange.proxyCredential = route.credential
        return exchange
    }

    /// A proxy that made the tunnel has accepted the credentials.
    func noteTunnel(of transfer: Transfer) {
        guard let route = transfer.key.route, let exchange = exchange(through: route, to: transfer.request.endpoint)
        else { return }
        _ = course?.dealings?.course.received(200, HTTPHeaders(), to: exchange, in: session.proven)
    }

    /// True if a proxy asks for a credential that the task has, or may get from its delegate.
    func asksForCredentials(_ error: LoadError, _ transfer: Transfer) -> Bool {
        guard case .transfer(.proxy(let failure)) = error, let head = failure.challenge, let present = presentRequest,
            let exchange = exchange(through: failure.route, to: transfer.request.endpoint)
        else { return false }
        let course = course(beginningWith: present)
        var dealings = course.dealings ?? Dealings(exchange: exchange)
        let step = dealings.course.received(head.status, head.headers, to: exchange, in: session.proven)
        course.dealings = dealings
        let response = HTTPURLResponse(url: transfer.request.location, head: head)
        startClock()
        take(step, of: error, transfer, response)
        return true
    }

    private func take(
        _ step: AuthenticationCourse.Step,
        of error: LoadError,
        _ transfer: Transfer,
        _ response: HTTPURLResponse
    ) {
        switch step {
        // The response of a proxy never passes for the server's.
        case .deliver: fail(error)
        case .again:
            guard let present = presentRequest else { return }
            course?.refusal = response
            repeatTask(as: present, inPlaceOf: transfer.request, transfer.surrenderBody(), keepsBody: true, after: nil)
        case .ask(let question):
            ask(question, after: response) { [weak transfer] task, step in
                if let transfer, transfer === task.transfer { task.take(step, of: error, transfer, response) }
            }
        case .cancel: fail(.cancelled)
        case .fail(let rejection): fail(.rejected(rejection))
        }
    }
}

extension ProxyRoute {
    fileprivate var credential: URLCredential? {
        account.map { URLCredential(user: $0.user, password: $0.password, persistence: .none) }
    }
}
