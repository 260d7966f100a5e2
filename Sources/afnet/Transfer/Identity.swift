import AFURLSession
import Foundation

/// The credentials for challenges of servers and proxies.
struct Identity: Sendable {
    private let origin: URL
    private let login: Login?
    private let scheme: LoginScheme
    /// The session may send a login of the group to other URLs of it, and that of a URL or of a file to no other.
    private let persistence: URLCredential.Persistence
    /// Whether servers of other origins get the credentials, too.
    private let isTrusting: Bool
    private let proxyLogin: Login?
    private let proxyScheme: LoginScheme
    /// Has the logins of other origins, which a redirect may lead to.
    private let netrc: NetrcFile?

    /// - Parameter netrc: Nil if a login of the command line goes before it.
    init(_ url: URL, login: Login?, arguments: Arguments, netrc: NetrcFile? = nil) {
        origin = url
        // With basic, the request has them already.
        self.login = arguments.loginScheme == .basic ? nil : login
        scheme = arguments.loginScheme
        persistence = arguments.login == nil ? .none : .forSession
        isTrusting = arguments.redirects.isTrusting
        proxyLogin = arguments.proxy.answer
        proxyScheme = arguments.proxy.scheme
        self.netrc = arguments.setsAuthorization ? nil : netrc
    }

    /// The value of `Authorization` for a URL that a redirect leads to; nil if a challenge comes first.
    func authorization(for target: URL?) -> String? {
        guard scheme == .basic, let host = target?.host else { return nil }
        return login(for: host, isSecured: target?.scheme?.lowercased() == "https")?.basic
    }

    /// The login of the file of passwords for another host than the first. Nil if the first has TLS and this one has not: a
    /// redirect would send the password in clear text.
    private func login(for host: String, isSecured: Bool) -> Login? {
        if !isSecured, origin.scheme?.lowercased() == "https" { return nil }
        // Without the user that a server may have written in front of the host.
        let place = URL(string: "http://\(host.contains(":") ? "[\(Self.bare(host))]" : host)/")
        guard let credential = place.flatMap({ netrc?.credential(for: $0) }) else { return nil }
        return Login(user: credential.user ?? "", password: credential.password ?? "")
    }

    /// Whether there are any credentials for challenges.
    var mayAnswer: Bool { login != nil || proxyLogin != nil || netrc != nil && scheme != .basic }

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
        if let login, isTrusting || isOrigin(space) { return (login, scheme) }
        guard scheme != .basic, !isOrigin(space) else { return nil }
        return login(for: space.host, isSecured: space.protocol == NSURLProtectionSpaceHTTPS).map { ($0, scheme) }
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
