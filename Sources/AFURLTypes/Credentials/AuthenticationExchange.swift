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
        url: RequestURL,
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
