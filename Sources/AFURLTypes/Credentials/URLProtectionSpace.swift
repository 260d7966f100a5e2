import AFTLS
package import AFWire
public import Foundation

/// A place that asks for credentials: a realm of a server or proxy, or a handshake with one.
public final class URLProtectionSpace: NSObject, NSCopying, Sendable {
    /// The host of the server or proxy.
    public let host: String
    /// The port.
    public let port: Int
    /// `http`, `https` or `ftp`; nil for a proxy.
    public let `protocol`: String?
    /// The type of the proxy; nil for a server.
    public let proxyType: String?
    /// The server's name for the part of it that is protected.
    public let realm: String?
    /// The authentication method, one of the `NSURLAuthenticationMethod` constants.
    public let authenticationMethod: String
    /// The certificates that the server showed, for `NSURLAuthenticationMethodServerTrust`.
    public let serverTrust: ServerTrust?
    /// The names of the authorities whose certificates the server accepts, in DER, for
    /// `NSURLAuthenticationMethodClientCertificate`.
    public let distinguishedNames: [Data]?

    /// The scope that the token must have, for `NSURLAuthenticationMethodHTTPBearer`: words separated by blanks. Ours:
    /// Apple's loader has no such property.
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

    /// A realm of a server. Without a method, the default one.
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

    /// A realm of a proxy. Without a method, the default one.
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
    package convenience init(host: String, port: Int, serverTrust: ServerTrust) {
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

    /// The handshake in which a server asks for a certificate of the client.
    package convenience init(host: String, port: Int, distinguishedNames: [Data]) {
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
    package convenience init(endpoint: Endpoint, proxyType: String?, realm: String?, method: String, scope: String?) {
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

    /// Whether a password cannot be read on the way: the connection to the server is encrypted, or the method does not
    /// send the password. The connection to a proxy never counts as encrypted: the type of a proxy only names what it
    /// forwards.
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

    /// Whether the other object is the same place with the same method. The certificates that a server showed, and the
    /// scope of a token, are not compared. Text is equal if its bytes are.
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

    /// Place, realm and method, in visible characters: the realm is text of the server.
    public override var description: String {
        let scheme = proxyType.map { "\($0) proxy " } ?? `protocol`.map { "\($0)://" } ?? ""
        let place = realm.map { " realm \"\(PeerText.escaped($0.utf8))\"" } ?? ""
        return "\(scheme)\(PeerText.escaped(host.utf8)):\(port)\(place), \(authenticationMethod)"
    }
}

// The values are those of Apple's loader, so that a method that a program stored by name keeps its meaning.

/// The standard method of a protocol.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// User name and password in the clear, base64 encoded.
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// A proof of the password, which itself is not sent.
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// A bearer token (RFC 6750). Ours: Apple's loader has no such method.
public let NSURLAuthenticationMethodHTTPBearer = "NSURLAuthenticationMethodHTTPBearer"
/// A form of a web page.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// Kerberos or NTLM, whichever both sides speak.
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
/// NTLM.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// The server asks for a certificate of the client.
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
/// The server shows its certificates, and the client decides whether to trust it.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"

/// The protocol of a space: http.
public let NSURLProtectionSpaceHTTP = "http"
/// The protocol of a space: https.
public let NSURLProtectionSpaceHTTPS = "https"
/// The protocol of a space: ftp.
public let NSURLProtectionSpaceFTP = "ftp"
/// The type of a proxy: http.
public let NSURLProtectionSpaceHTTPProxy = "http"
/// The type of a proxy: https.
public let NSURLProtectionSpaceHTTPSProxy = "https"
/// The type of a proxy: ftp.
public let NSURLProtectionSpaceFTPProxy = "ftp"
/// The type of a proxy: SOCKS.
public let NSURLProtectionSpaceSOCKSProxy = "SOCKS"
