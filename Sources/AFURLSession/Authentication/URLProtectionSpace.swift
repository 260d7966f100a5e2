import AFTLS
public import Foundation

/// A place that asks for credentials: a realm of a server or proxy, or the handshake
/// with it.
public final class URLProtectionSpace: Sendable {
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

    private init(
        host: String,
        port: Int,
        protocol: String?,
        proxyType: String?,
        realm: String?,
        method: String?,
        serverTrust: ServerTrust? = nil,
        distinguishedNames: [Data]? = nil
    ) {
        self.host = host
        self.port = port
        self.protocol = `protocol`
        self.proxyType = proxyType
        self.realm = realm
        authenticationMethod = method ?? NSURLAuthenticationMethodDefault
        self.serverTrust = serverTrust
        self.distinguishedNames = distinguishedNames
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

    /// Whether a proxy asks.
    public func isProxy() -> Bool { proxyType != nil }

    /// Whether a password would not be readable on the way: the connection is secured,
    /// or the method does not send it.
    public var receivesCredentialSecurely: Bool {
        if `protocol` == NSURLProtectionSpaceHTTPS || proxyType == NSURLProtectionSpaceHTTPSProxy { return true }
        return [
            NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust,
        ].contains(authenticationMethod)
    }
}

extension URLProtectionSpace: Hashable, CustomStringConvertible {
    /// Equal if the same place asks in the same way. What a server showed is not compared.
    public static func == (left: URLProtectionSpace, right: URLProtectionSpace) -> Bool {
        left.host == right.host && left.port == right.port && left.protocol == right.protocol
            && left.proxyType == right.proxyType && left.realm == right.realm
            && left.authenticationMethod == right.authenticationMethod
    }

    /// Hashes place and method.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(realm)
        hasher.combine(authenticationMethod)
    }

    /// Place, realm and method.
    public var description: String {
        let scheme = proxyType.map { "\($0) proxy " } ?? `protocol`.map { "\($0)://" } ?? ""
        let place = realm.map { " realm \"\($0)\"" } ?? ""
        return "\(scheme)\(host):\(port)\(place), \(authenticationMethod)"
    }
}
