import AFLoop
import AFTransport
package import AFWire

/// Turns failures of proxies into load failures.
extension LoadFailure {
    package init(_ error: ProxyConfigurationError) {
        self.init(
            .request,
            detail: .proxy,
            phase: .preparing,
            message: "The request was not sent: \(error).",
            advice: "Correct the setting, or remove it."
        )
    }

    package init(_ failure: ProxyFailure, peer: Endpoint) {
        let proxy = failure.route.text
        switch failure.cause {
        case .dial(let cause, let report): self.init(cause, report: report, route: failure.route)
        case .handshake(let cause): self.init(cause, route: failure.route)
        case .tunnel(let cause): self.init(cause, doing: "Asking the \(proxy) for a tunnel to \(peer.text) failed: ")
        case .dropped:
            self.init(
                .lost,
                detail: .proxy,
                phase: .tls,
                message: "Securing the connection to \(peer.text) failed: the tunnel through the \(proxy) broke off."
            )
        }
    }

    private init(_ failure: DialFailure, report: DialReport, route: ProxyRoute) {
        switch failure {
        case .unresolved(let failure):
            self = .proxy(
                failure.kind == .notFound ? .nameNotFound : .nameLookup,
                message: "Looking up the \(route.text) failed: \(EscapedText(failure.message).text).",
                advice: "Check its name."
            )
        case .unreachable:
            let attempts = report.attempts.map(LoadFailure.Attempt.init)
            let errno = attempts.last { $0.errno != nil }?.errno
            let cause = errno.map { SystemErrorText.of($0) } ?? "no address answered"
            self.init(
                .proxy,
                detail: .connect,
                phase: .proxy,
                attempts: attempts,
                errno: errno,
                message: "Connecting to the \(route.text) failed: \(cause). No other way to the server was tried.",
                advice: LoadFailure.advice(forMissingWay: failure.wayMissing(report)) ?? "Check that it runs there."
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
            isProtocol ? .proxy : found.reason,
            detail: isProtocol ? .tls : found.detail,
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
                .credentials,
                message: doing + "it answered 407\(LoadFailure.words(of: head)).",
                advice: "Give user name and password with the proxy.",
                reply: 407
            )
        case .refused(let head):
            self = .proxy(
                .refused,
                message: doing + "it answered \(head.status)\(LoadFailure.words(of: head)).",
                reply: head.status
            )
        case .malformed(let error):
            self = .proxy(.malformed, message: doing + "its answer is not valid HTTP: \(error.detail).")
        case .violation(let what):
            self = .proxy(.malformed, message: doing + "\(what).", advice: "Check what kind of proxy it is.")
        case .surplus: self = .proxy(.malformed, message: doing + "it spoke out of turn.")
        case .reply(let reply):
            self = .proxy(.refused, message: doing + "\(reply.text) (reply \(reply.code)).", reply: Int(reply.code))
        case .noMethod(let hasLogin):
            let advice = hasLogin ? "Only user name and password are known here." : "Give both with the proxy."
            self = .proxy(.credentials, message: doing + "it wants to know who we are in another way.", advice: advice)
        case .loginRejected:
            self = .proxy(.credentials, message: doing + "it does not accept user name and password.")
        case .closed: self = .lostProxy(doing + "it closed the connection.")
        case .broken(let code):
            self = .lostProxy(doing + "the connection broke (\(SystemErrorText.of(code))).", errno: code)
        }
    }

    private static func proxy(_ detail: Detail, message: String, advice: String? = nil, reply: Int? = nil)
        -> LoadFailure
    {
        LoadFailure(.proxy, detail: detail, phase: .proxy, message: message, advice: advice, proxyReply: reply)
    }

    private static func lostProxy(_ message: String, errno: Int32? = nil) -> LoadFailure {
        LoadFailure(.lost, detail: .proxy, phase: .proxy, errno: errno, message: message)
    }

    private static func words(of head: ResponseHead) -> String {
        head.reason.isEmpty ? "" : " \(EscapedText(head.reason))"
    }
}
