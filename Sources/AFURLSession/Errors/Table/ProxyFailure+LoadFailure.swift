import AFLoop
import AFTransport
import AFWire

// Rows for proxies.
extension LoadFailure {
    init(_ failure: ProxyFailure, peer: Endpoint) {
        let proxy = failure.route.text
        switch failure.cause {
        case .dial(let cause, let report): self.init(cause, report: report, route: failure.route)
        case .handshake(let cause): self.init(cause, route: failure.route)
        case .tunnel(let cause): self.init(cause, doing: "Asking the \(proxy) for a tunnel to \(peer.text) failed: ")
        case .dropped:
            self.init(
                .lostProxy,
                phase: .tls,
                message: "Securing the connection to \(peer.text) failed: the tunnel through the \(proxy) broke off."
            )
        }
    }

    private init(_ failure: DialFailure, report: DialReport, route: ProxyRoute) {
        switch failure {
        case .unresolved(let failure):
            self = .proxy(
                failure.kind == .notFound ? .proxyNameNotFound : .proxyNameLookup,
                message: "Looking up the \(route.text) failed: \(EscapedText(failure.message).text).",
                advice: "Check its name."
            )
        case .unreachable:
            self.init(
                .proxyConnect,
                phase: .proxy,
                attempts: report.attempts.map(Attempt.init),
                errno: report.lastErrno,
                message: "Connecting to the \(route.text) failed: \(report.reason). No other way to the server was "
                    + "tried.",
                advice: failure.missingWay(report)?.advice ?? "Check that it runs there."
            )
        case .unanswered(let limit): self = .unanswered("the \(route.text)", after: limit, report: report)
        case .forbidden: self = .forbidden("the \(route.text)", report: report)
        }
    }

    /// A proxy whose certificate is refused keeps that reason. Other failures of the handshake become failures of the
    /// proxy.
    private init(_ failure: HandshakeFailure, route: ProxyRoute) {
        let found = LoadFailure(failure, peer: route.endpoint)
        let isProtocol = found.reason == .tls || found.reason == .lost
        self.init(
            isProtocol ? .proxyTLS : found.kind,
            phase: .proxy,
            errno: found.errno,
            message: "The connection to the \(route.text) is not secure. \(found.occurrence)",
            advice: found.advice,
            security: found.security
        )
    }

    private init(_ failure: TunnelFailure, doing: String) {
        switch failure {
        case .refused(let head) where head.status == 407:
            self = .proxy(
                .proxyCredentials,
                message: doing + "it answered 407\(LoadFailure.words(of: head)).",
                advice: "Give user name and password with the proxy.",
                reply: 407
            )
        case .refused(let head):
            self = .proxy(
                .proxyRefused,
                message: doing + "it answered \(head.status)\(LoadFailure.words(of: head)).",
                reply: head.status
            )
        case .malformed(let error):
            self = .proxy(.proxyMalformed, message: doing + "its answer is not valid HTTP: \(error.detail).")
        case .violation(let what):
            self = .proxy(.proxyMalformed, message: doing + "\(what).", advice: "Check what kind of proxy it is.")
        case .surplus: self = .proxy(.proxyMalformed, message: doing + "it spoke out of turn.")
        case .reply(let reply):
            self = .proxy(
                .proxyRefused,
                message: doing + "\(reply.text) (reply \(reply.code)).",
                reply: Int(reply.code)
            )
        case .noMethod(let hasLogin):
            self = .proxy(
                .proxyCredentials,
                message: doing + "it wants to know who we are in another way.",
                advice: hasLogin ? "Only user name and password are known here." : "Give both with the proxy."
            )
        case .loginRejected:
            self = .proxy(.proxyCredentials, message: doing + "it does not accept user name and password.")
        case .closed: self = .lostProxy(doing + "it closed the connection.")
        case .broken(let code):
            self = .lostProxy(doing + "the connection broke (\(SystemErrorText.of(code))).", errno: code)
        }
    }

    private static func proxy(_ kind: Kind, message: String, advice: String? = nil, reply: Int? = nil) -> LoadFailure {
        LoadFailure(kind, phase: .proxy, message: message, advice: advice, proxyReply: reply)
    }

    private static func lostProxy(_ message: String, errno: Int32? = nil) -> LoadFailure {
        LoadFailure(.lostProxy, phase: .proxy, errno: errno, message: message)
    }

    private static func words(of head: ResponseHead) -> String {
        head.reason.isEmpty ? "" : " \(EscapedText(head.reason))"
    }
}
