import AFLoop
import AFTransport
package import AFWire

/// Turns failures of proxies into load failures.
extension LoadFailure {
    package init(_ error: ProxyConfigurationError) {
        self.init(
            .request,
            .proxy,
            phase: .preparing,
            message: "The request was not sent: \(error).",
            advice: "Correct the setting, or remove it."
        )
    }

    package init(_ failure: ProxyFailure, _ peer: Endpoint) {
        let proxy = failure.route.text
        switch failure.cause {
        case .dial(let cause, let report): self.init(cause, report, failure.route)
        case .handshake(let cause): self.init(cause, failure.route)
        case .tunnel(let cause): self.init(cause, "Asking the \(proxy) for a tunnel to \(peer.text) failed: ")
        case .dropped:
            self.init(
                .lost,
                .proxy,
                phase: .tls,
                message: "Securing the connection to \(peer.text) failed: the tunnel through the \(proxy) broke off."
            )
        }
    }

    private init(_ failure: DialFailure, _ report: DialReport, _ route: ProxyRoute) {
        switch failure {
        case .unresolved(let failure):
            self = .proxy(
                failure.kind == .notFound ? .nameNotFound : .nameLookup,
                "Looking up the \(route.text) failed: \(EscapedText(failure.message).text).",
                advice: "Check its name."
            )
        case .unreachable:
            let attempts = report.attempts.map(LoadFailure.Attempt.init)
            let errno = attempts.last { $0.errno != nil }?.errno
            let cause = errno.map { SystemErrorText.of($0) } ?? "no address answered"
            self.init(
                .proxy,
                .connect,
                phase: .proxy,
                attempts: attempts,
                errno: errno,
                message: "Connecting to the \(route.text) failed: \(cause). No other way to the server was tried.",
                advice: LoadFailure.advice(forMissingWay: failure.wayMissing(report)) ?? "Check that it runs there."
            )
        case .unanswered(let limit): self = .unanswered("the \(route.text)", after: limit, report)
        case .forbidden: self = .forbidden("the \(route.text)", report)
        }
    }

    /// A proxy whose certificate is refused keeps that reason. Other failures of the handshake become failures of the
    /// proxy.
    private init(_ failure: HandshakeFailure, _ route: ProxyRoute) {
        let found = LoadFailure(failure, route.endpoint)
        let isProtocol = found.reason == .tls || found.reason == .lost
        self.init(
            isProtocol ? .proxy : found.reason,
            isProtocol ? .tls : found.detail,
            phase: .proxy,
            errno: found.errno,
            message: "The connection to the \(route.text) is not secure. \(found.occurrence)",
            advice: found.advice,
            security: found.security
        )
    }

    private init(_ failure: TunnelFailure, _ doing: String) {
        switch failure {
        case .refused(let head) where head.status == 407:
            self = .proxy(
                .credentials,
                doing + "it answered 407\(LoadFailure.words(of: head)).",
                advice: "Give user name and password with the proxy.",
                reply: 407
            )
        case .refused(let head):
            self = .proxy(
                .refused,
                doing + "it answered \(head.status)\(LoadFailure.words(of: head)).",
                reply: head.status
            )
        case .malformed(let error): self = .proxy(.malformed, doing + "its answer is not valid HTTP: \(error.detail).")
        case .violation(let what):
            self = .proxy(.malformed, doing + "\(what).", advice: "Check what kind of proxy it is.")
        case .surplus: self = .proxy(.malformed, doing + "it spoke out of turn.")
        case .reply(let reply):
            self = .proxy(.refused, doing + "\(reply.text) (reply \(reply.code)).", reply: Int(reply.code))
        case .noMethod(let hasLogin):
            let advice = hasLogin ? "Only user name and password are known here." : "Give both with the proxy."
            self = .proxy(.credentials, doing + "it wants to know who we are in another way.", advice: advice)
        case .loginRejected:
            self = .proxy(.credentials, doing + "it does not accept user name and password.")
        case .closed: self = .lostProxy(doing + "it closed the connection.")
        case .broken(let code):
            self = .lostProxy(doing + "the connection broke (\(SystemErrorText.of(code))).", errno: code)
        }
    }

    private static func proxy(_ detail: Detail, _ message: String, advice: String? = nil, reply: Int? = nil)
        -> LoadFailure
    {
        LoadFailure(.proxy, detail, phase: .proxy, message: message, advice: advice, proxyReply: reply)
    }

    private static func lostProxy(_ message: String, errno: Int32? = nil) -> LoadFailure {
        LoadFailure(.lost, .proxy, phase: .proxy, errno: errno, message: message)
    }

    private static func words(of head: ResponseHead) -> String {
        head.reason.isEmpty ? "" : " \(EscapedText(head.reason))"
    }
}
