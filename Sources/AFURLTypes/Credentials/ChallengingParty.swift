package import AFWire
import Foundation

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
        isProxy || endpoint.isSecured || ChallengingParty.isLoopback(endpoint.host)
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
