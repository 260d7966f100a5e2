import AFWire

/// What authentication has to know about one exchange. It is the same when the request is sent and when its response
/// is looked at.
struct AuthenticationExchange {
    /// Who may ask with 401. Nil for `CONNECT`, whose answer comes from the proxy.
    var origin: ChallengingParty?
    /// Who may ask with 407. Nil on a direct connection and inside a tunnel, where a 407 comes from the origin and
    /// is not a question of the proxy's.
    var proxy: ChallengingParty?
    /// What the proxy was configured with. It is proposed when that proxy asks, and goes before what is stored.
    var proxyCredential: URLCredential?
    var method: String
    /// Exactly what stands in the request line.
    var target: [UInt8]
    /// Path and query of the URL, which is the target unless the request goes to a proxy.
    var path: [UInt8]
    /// What stands in the URL before `@`, still encoded.
    var userInfo: [UInt8]?
    /// The caller has set `Authorization`: nothing is put in its place unless the server asks.
    var hasOwnAuthorization = false
    /// The body can be read once more than it is sent, to compute its digest.
    var mayHashBody = true

    /// A request for `url` that its origin answers, or a proxy that reads it.
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

    /// The parties that are sent something, the one that asks with 401 first.
    var parties: [ChallengingParty] { [origin, proxy].compactMap(\.self) }

    /// Who asks with this status, and in which field.
    func asker(_ status: Int) -> (party: ChallengingParty, field: String)? {
        switch status {
        case 401: origin.map { ($0, "WWW-Authenticate") }
        case 407: proxy.map { ($0, "Proxy-Authenticate") }
        default: nil
        }
    }
}
