import AFURLSession
import Foundation

/// The credentials for challenges of servers and proxies.
struct Identity: Sendable {
    private let origin: URL
    private let login: Login?
    private let scheme: LoginScheme
    /// The session may send a login of the group to other URLs of it, and that of a URL to no other.
    private let persistence: URLCredential.Persistence
    /// Whether servers of other origins get the credentials, too.
    private let isTrusting: Bool
    private let proxyLogin: Login?
    private let proxyScheme: LoginScheme

    init(_ url: URL, _ login: Login?, _ arguments: Arguments) {
        origin = url
        // With basic, the request has them already.
        self.login = arguments.loginScheme == .basic ? nil : login
        scheme = arguments.loginScheme
        persistence = arguments.login == nil && login != nil ? .none : .forSession
        isTrusting = arguments.redirects.isTrusting
        proxyLogin = arguments.proxy.answer
        proxyScheme = arguments.proxy.scheme
    }

    /// Whether there are any credentials.
    var mayAnswer: Bool { login != nil || proxyLogin != nil }

    func answer(to challenge: URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let space = challenge.protectionSpace
        let method = space.authenticationMethod
        guard [NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest].contains(method),
            let (login, scheme) = space.isProxy() ? proxyLogin.map({ ($0, proxyScheme) }) : answer(for: space)
        else { return (.performDefaultHandling, nil) }
        if scheme == .digest, method != NSURLAuthenticationMethodHTTPDigest { return (.rejectProtectionSpace, nil) }
        guard challenge.previousFailureCount == 0 else { return (.performDefaultHandling, nil) }
        let persistence = space.isProxy() ? .forSession : persistence
        return (.useCredential, URLCredential(user: login.user, password: login.password, persistence: persistence))
    }

    private func answer(for space: URLProtectionSpace) -> (Login, LoginScheme)? {
        guard let login, isTrusting || isOrigin(space) else { return nil }
        return (login, scheme)
    }

    private func isOrigin(_ space: URLProtectionSpace) -> Bool {
        let isSecured = origin.scheme?.lowercased() == "https"
        return space.protocol == (isSecured ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP)
            && space.port == (origin.port ?? (isSecured ? 443 : 80))
            && Self.bare(space.host) == Self.bare(origin.host ?? "")
    }

    private static func bare(_ host: String) -> String {
        host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    }
}
