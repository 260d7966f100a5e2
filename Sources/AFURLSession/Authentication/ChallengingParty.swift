import AFWire
import Foundation

/// Somebody who may ask for credentials: an origin, or a proxy on the way to one. What is known about one says nothing
/// about any other, whatever it calls its realms.
struct ChallengingParty: Hashable, Sendable {
    enum Role: Hashable, Sendable {
        case origin
        /// What is loaded through it.
        case proxy(Endpoint.Scheme)
    }

    let role: Role
    /// Where it is, and whether the way there is secured.
    let endpoint: Endpoint
    /// Which host there, if the field `Host` names another one than the URL does. Each is a party of its own: one of
    /// them learns nothing of what was said to another. What the program stores for the place is for all of them.
    let namedHost: [UInt8]?

    static func origin(_ endpoint: Endpoint, named host: [UInt8]? = nil) -> ChallengingParty {
        .init(role: .origin, endpoint: endpoint, namedHost: host)
    }

    static func proxy(_ endpoint: Endpoint, for scheme: Endpoint.Scheme) -> ChallengingParty {
        .init(role: .proxy(scheme), endpoint: endpoint, namedHost: nil)
    }

    var isProxy: Bool { role != .origin }

    /// Whether a password may go there as it is, without anybody having said so for this very place: nobody can read
    /// it on the way, or it is a proxy, which has no credentials but those it was configured with.
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

    func space(realm: [UInt8]?, method: String, scope: [UInt8]? = nil) -> URLProtectionSpace {
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
