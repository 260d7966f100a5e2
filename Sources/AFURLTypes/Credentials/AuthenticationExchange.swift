package import AFState
package import AFWire
import Foundation

/// What authentication has to know about one exchange: the same when the request is sent and when its response is
/// judged.
package struct AuthenticationExchange {
    /// The party that may ask with 401. Nil for `CONNECT`, which the proxy answers.
    package var origin: ChallengingParty?
    /// The party that may ask with 407. Nil on a direct connection and inside a tunnel, where a 407 comes from the
    /// origin and is no question of the proxy.
    package var proxy: ChallengingParty?
    /// Under which judgement the party is accepted that reads the request.
    let trust: TrustScope
    /// The credential that the proxy was configured with. It is proposed when that proxy asks, before any stored one.
    package var proxyCredential: URLCredential?
    /// Whether that credential goes with the request before the proxy has asked for one: by Basic.
    package var sendsProxyCredential = false
    package var method: String
    /// Exactly the target of the request line that the proxy reads.
    package var target: [UInt8]
    /// Path and query of the URL, which the origin reads.
    package var path: [UInt8]
    /// The user information of the URL (before `@`), still encoded.
    package var userInfo: [UInt8]?
    /// The caller has set `Authorization`: the session replaces it only if the server asks.
    package var hasOwnAuthorization = false
    /// The session can read the body once more than it sends it, to compute its digest.
    package var mayHashBody = true

    /// A request for `url` that its origin answers, or a proxy that reads the request.
    ///
    /// - Parameter namedHost: See ``ChallengingParty/namedHost``.
    package init(
        _ url: RequestURL,
        method: String,
        target: [UInt8]? = nil,
        namedHost: [UInt8]? = nil,
        proxy: ChallengingParty? = nil,
        trust: TrustScope
    ) {
        self.trust = trust
        origin = .origin(url.endpoint, named: namedHost)
        self.proxy = proxy
        self.method = method
        self.target = target ?? url.target
        path = url.target
        userInfo = url.userInfo
    }

    /// A request for a tunnel.
    package init(connecting target: [UInt8], through proxy: ChallengingParty, trust: TrustScope) {
        self.trust = trust
        self.proxy = proxy
        method = "CONNECT"
        self.target = target
        path = []
    }

    /// Whether the origin may get the credential unasked: not if the URL names another user.
    func mayBeSent(by credential: URLCredential) -> Bool {
        guard let user = userInfo.flatMap({ URLUserInfo($0) })?.user else { return true }
        return credential.user.map { Array($0.utf8) == user } ?? false
    }

    /// The parties that credentials may be sent to, the origin first.
    var parties: [ChallengingParty] { [origin, proxy].compactMap(\.self) }

    /// The party that asks with this status, and the field it asks in.
    func asker(_ status: Int) -> (party: ChallengingParty, field: String)? {
        switch status {
        case 401: origin.map { ($0, "WWW-Authenticate") }
        case 407: proxy.map { ($0, "Proxy-Authenticate") }
        default: nil
        }
    }
}

/// A party that may ask for credentials: an origin, or a proxy on the way to one. What the session knows about one
/// party holds for no other, even if their realms have the same name.
package struct ChallengingParty: Hashable, Sendable {
    enum Role: Hashable, Sendable {
        case origin
        /// A proxy that loads URLs of this scheme.
        case proxy(Endpoint.Scheme)
    }

    let role: Role
    /// Its scheme, host and port; the scheme says whether the connection to it is secured.
    package let endpoint: Endpoint
    /// The host that the field `Host` names, if it is another one than the URL's. Each such host is a party of its own:
    /// what was said to one is told to no other. What the program stores for the endpoint is for all of them.
    package let namedHost: [UInt8]?

    package static func origin(_ endpoint: Endpoint, named host: [UInt8]? = nil) -> ChallengingParty {
        .init(role: .origin, endpoint: endpoint, namedHost: host)
    }

    package static func proxy(_ endpoint: Endpoint, for scheme: Endpoint.Scheme) -> ChallengingParty {
        .init(role: .proxy(scheme), endpoint: endpoint, namedHost: nil)
    }

    package var isProxy: Bool { role != .origin }

    /// Whether a password may be sent to the party as it is, even if the program has not allowed it for this very
    /// endpoint: the connection cannot be read on the way, or the party is a proxy, which has no credentials but those
    /// it was configured with.
    var mayReceivePasswords: Bool {
        isProxy || endpoint.scheme == .https || ChallengingParty.isLoopback(endpoint.host)
    }

    private static func isLoopback(_ host: Endpoint.Host) -> Bool {
        switch host.kind {
        case .ipv4: host.text.utf8.starts(with: "127.".utf8)
        case .ipv6: host.text == "::1"
        case .name: host.text == "localhost" || host.text.utf8.reversed().starts(with: ".localhost".utf8.reversed())
        }
    }

    package func space(realm: [UInt8]?, method: String, scope: [UInt8]? = nil) -> URLProtectionSpace {
        URLProtectionSpace(
            endpoint: endpoint,
            proxyType: proxyType,
            realm: realm.map(HTTPText.decode),
            method: method,
            scope: scope.map(HTTPText.decode)
        )
    }

    private var proxyType: String? {
        switch role {
        case .origin: nil
        case .proxy(.http): NSURLProtectionSpaceHTTPProxy
        case .proxy(.https): NSURLProtectionSpaceHTTPSProxy
        }
    }
}
