import AFWire

/// What authentication has to know about one exchange: the same when the request is sent and when its response is
/// judged.
struct AuthenticationExchange {
    /// The party that may ask with 401. Nil for `CONNECT`, which the proxy answers.
    var origin: ChallengingParty?
    /// The party that may ask with 407. Nil on a direct connection and inside a tunnel, where a 407 comes from the
    /// origin and is no question of the proxy.
    var proxy: ChallengingParty?
    /// The credential that the proxy was configured with. It is proposed when that proxy asks, before any stored one.
    var proxyCredential: URLCredential?
    var method: String
    /// Exactly the target of the request line.
    var target: [UInt8]
    /// Path and query of the URL, which is the target unless the request goes to a proxy.
    var path: [UInt8]
    /// The user information of the URL (before `@`), still encoded.
    var userInfo: [UInt8]?
    /// The caller has set `Authorization`: the session replaces it only if the server asks.
    var hasOwnAuthorization = false
    /// The session can read the body once more than it sends it, to compute its digest.
    var mayHashBody = true

    /// A request for `url` that its origin answers, or a proxy that reads the request.
    ///
    /// - Parameter namedHost: See ``ChallengingParty/namedHost``.
    init(
        _ url: RequestURL,
        method: String,
        target: [UInt8]? = nil,
        namedHost: [UInt8]? = nil,
        proxy: ChallengingParty? = nil
    ) {
        origin = .origin(url.endpoint, named: namedHost)
        self.proxy = proxy
        self.method = method
        self.target = target ?? url.target
        path = url.target
        userInfo = url.userInfo
    }

    /// A request for a tunnel.
    init(connecting target: [UInt8], through proxy: ChallengingParty) {
        self.proxy = proxy
        method = "CONNECT"
        self.target = target
        path = []
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
