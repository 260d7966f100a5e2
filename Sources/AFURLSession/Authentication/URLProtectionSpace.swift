import AFTLS
import AFTransport
import AFWire
public import Foundation

/// A place that asks for credentials: a realm of a server or proxy, or the handshake
/// with it.
public final class URLProtectionSpace: NSObject, NSCopying, Sendable {
    /// The host, or that of the proxy.
    public let host: String
    /// The port.
    public let port: Int
    /// `http`, `https` or `ftp`; nil for a proxy.
    public let `protocol`: String?
    /// The type of the proxy; nil for a server.
    public let proxyType: String?
    /// What the server calls the part of it that is protected.
    public let realm: String?
    /// How it wants to be convinced, one of the `NSURLAuthenticationMethod` constants.
    public let authenticationMethod: String
    /// What the server showed, for `NSURLAuthenticationMethodServerTrust`.
    public let serverTrust: ServerTrust?
    /// The names of the authorities whose certificates the server takes, in DER, for
    /// `NSURLAuthenticationMethodClientCertificate`.
    public let distinguishedNames: [Data]?

    /// What a token has to permit, for `NSURLAuthenticationMethodHTTPBearer`; words with a blank between each two.
    /// Ours: Apple's loader has no such property.
    public let scope: String?

    private init(
        host: String,
        port: Int,
        protocol: String?,
        proxyType: String?,
        realm: String?,
        method: String?,
        serverTrust: ServerTrust? = nil,
        distinguishedNames: [Data]? = nil,
        scope: String? = nil
    ) {
        self.host = host
        self.port = port
        self.protocol = `protocol`
        self.proxyType = proxyType
        self.realm = realm
        authenticationMethod = method ?? NSURLAuthenticationMethodDefault
        self.serverTrust = serverTrust
        self.distinguishedNames = distinguishedNames
        self.scope = scope
        super.init()
    }

    /// A realm of a server. Without a method, the standard one.
    public convenience init(
        host: String,
        port: Int,
        protocol: String?,
        realm: String?,
        authenticationMethod: String?
    ) {
        self.init(
            host: host,
            port: port,
            protocol: `protocol`,
            proxyType: nil,
            realm: realm,
            method: authenticationMethod
        )
    }

    /// A realm of a proxy. Without a method, the standard one.
    public convenience init(
        proxyHost host: String,
        port: Int,
        type: String?,
        realm: String?,
        authenticationMethod: String?
    ) {
        self.init(host: host, port: port, protocol: nil, proxyType: type, realm: realm, method: authenticationMethod)
    }

    /// The handshake in which a server shows its certificates.
    convenience init(host: String, port: Int, serverTrust: ServerTrust) {
        self.init(
            host: host,
            port: port,
            protocol: NSURLProtectionSpaceHTTPS,
            proxyType: nil,
            realm: nil,
            method: NSURLAuthenticationMethodServerTrust,
            serverTrust: serverTrust
        )
    }

    /// The handshake in which a server asks for a certificate of ours.
    convenience init(host: String, port: Int, distinguishedNames: [Data]) {
        self.init(
            host: host,
            port: port,
            protocol: NSURLProtectionSpaceHTTPS,
            proxyType: nil,
            realm: nil,
            method: NSURLAuthenticationMethodClientCertificate,
            distinguishedNames: distinguishedNames
        )
    }

    /// A realm as a challenge names it.
    convenience init(endpoint: Endpoint, proxyType: String?, realm: String?, method: String, scope: String?) {
        self.init(
            host: endpoint.host.text,
            port: Int(endpoint.port),
            protocol: proxyType == nil ? endpoint.scheme.text : nil,
            proxyType: proxyType,
            realm: realm,
            method: method,
            scope: scope
        )
    }

    /// Whether a proxy asks.
    public override func isProxy() -> Bool { proxyType != nil }

    /// Whether a password would not be readable on the way: the connection to the server
    /// is secured, or the method does not send it. The way to a proxy is never secured by
    /// the proxy's type, which only names what it forwards.
    public var receivesCredentialSecurely: Bool {
        if `protocol` == NSURLProtectionSpaceHTTPS { return true }
        return [
            NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust,
        ].contains(authenticationMethod)
    }

    // MARK: - Copying, comparing and describing

    /// Returns the space itself, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the same place asks in the same way. What a server showed, and what a token has to permit, is not
    /// compared. Text is equal if its bytes are.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLProtectionSpace else { return false }
        return port == other.port && ByteEquality.holds(host, other.host)
            && ByteEquality.holds(`protocol`, other.protocol) && ByteEquality.holds(proxyType, other.proxyType)
            && ByteEquality.holds(realm, other.realm)
            && ByteEquality.holds(authenticationMethod, other.authenticationMethod)
    }

    /// The same for equal spaces.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(realm)
        hasher.combine(authenticationMethod)
        return hasher.finalize()
    }

    /// Place, realm and method, in visible characters: the realm is a stranger's text.
    public override var description: String {
        let scheme = proxyType.map { "\($0) proxy " } ?? `protocol`.map { "\($0)://" } ?? ""
        let place = realm.map { " realm \"\(PeerText.escaped($0.utf8))\"" } ?? ""
        return "\(scheme)\(PeerText.escaped(host.utf8)):\(port)\(place), \(authenticationMethod)"
    }
}
