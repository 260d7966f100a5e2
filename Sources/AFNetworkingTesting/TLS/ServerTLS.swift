public import AFTLS

/// How a `TestServer` speaks TLS, and how it misbehaves while doing so.
///
/// ```swift
/// let authority = try CertificateAuthority()
/// let site = try authority.issue(for: "localhost", "127.0.0.1", "::1")
/// let server = try TestServer(tls: ServerTLS(site))
/// ```
///
/// Change what the test is about:
///
/// ```swift
/// var tls = ServerTLS(site)
/// tls.maximumVersion = .tls12
/// tls.clientCertificates = .required(by: [clients.certificate])
/// ```
public struct ServerTLS: Sendable {
    // MARK: Certificates

    /// The certificates that it sends, chosen by the name that the client asks for; the first one if no name fits.
    /// Without credentials, only suites without authentication work (`aNULL` in `cipherList`).
    public var credentials: [Credential]

    // MARK: Versions and suites

    /// The oldest version that it speaks.
    public var minimumVersion = Version.tls12
    /// The newest version that it speaks.
    public var maximumVersion = Version.tls13
    /// The suites for TLS 1.2 and older in OpenSSL's notation, such as "ECDHE-RSA-AES128-GCM-SHA256"; nil for OpenSSL's
    /// default.
    public var cipherList: String?
    /// The suites for TLS 1.3, such as "TLS_AES_128_GCM_SHA256"; nil for OpenSSL's default.
    public var cipherSuites: String?
    /// The groups for the key exchange, such as "P-256:X25519"; nil for OpenSSL's default.
    public var groups: String?
    /// OpenSSL's security level, from 0 to 5. The default of 0 lets every weak key, certificate and suite reach the
    /// client, which must refuse it. Versions before 1.2 need 0.
    public var securityLevel = 0
    /// How it answers the client's list of protocols (ALPN).
    public var alpn = ALPN.choose(["http/1.1"])

    // MARK: Client certificates

    /// Whether it asks clients for a certificate.
    public var clientCertificates = ClientCertificates.ignored

    // MARK: Resumption

    /// How many tickets it sends after a handshake, in TLS 1.2 at most one; 0 for none.
    public var ticketCount = 2
    /// Whether it keeps sessions by their ids, so that clients can resume without a ticket.
    public var keepsSessions = true
    /// Whether its tickets allow early data. It never accepts any.
    public var invitesEarlyData = false
    /// The 80 bytes of the keys that encrypt tickets. Copies of a value share them, so that a ticket stays good after
    /// a change of certificates, or on another server.
    public var ticketSecret = (0..<80).map { _ in UInt8.random(in: .min ... .max) }

    // MARK: Misbehaviour

    /// What goes wrong during the handshake.
    public var handshakeFault: HandshakeFault?
    /// Whether it sends close_notify at the end of the stream. Without it the client cannot tell the end of the stream
    /// from a truncation.
    public var announcesEnd = true

    /// Sends these certificates.
    public init(_ certificates: IssuedCertificate...) {
        credentials = certificates.map { Credential($0) }
    }

    /// Sends these credentials.
    public init(credentials: [Credential]) {
        self.credentials = credentials
    }

    /// A version of the protocol.
    @nonexhaustive
    public enum Version: UInt16, Sendable, Hashable, CaseIterable {
        /// TLS 1.0, deprecated.
        case tls10 = 0x0301
        /// TLS 1.1, deprecated.
        case tls11 = 0x0302
        /// TLS 1.2.
        case tls12 = 0x0303
        /// TLS 1.3.
        case tls13 = 0x0304
    }

    /// A certificate with its key, and the certificates that are sent after it.
    public struct Credential: Sendable {
        /// The certificates that are sent: the server's own, then others in any order, missing, repeated or unrelated.
        public var certificates: [Certificate]
        /// The key of the first certificate.
        public var key: CertificateKey
        /// The names that it is chosen for; `*.example.test` stands for one label in front.
        public var hostNames: [String]

        /// Sends these certificates exactly as given.
        public init(certificates: [Certificate], key: CertificateKey, hostNames: [String] = []) {
            self.certificates = certificates
            self.key = key
            self.hostNames = hostNames
        }

        /// Sends a certificate with its chain, without the root, for the names it was issued for.
        public init(_ issued: IssuedCertificate) {
            let names = issued.template.alternativeNames.compactMap { name in
                if case .dns(let text) = name { text } else { nil as String? }
            }
            self.init(certificates: issued.chain, key: issued.key, hostNames: names)
        }

        /// Sends a certificate with others of your choice, in place of its chain.
        public init(_ issued: IssuedCertificate, followedBy others: [Certificate]) {
            self.init(issued)
            certificates = [issued.certificate] + others
        }
    }

    /// How the server answers the client's list of protocols.
    @nonexhaustive
    public enum ALPN: Sendable, Hashable {
        /// With the first of these that the client offers; without a protocol if there is none.
        case choose([String])
        /// With these bytes, offered or not; at most 255.
        case always([UInt8])
        /// Without a protocol.
        case nothing
        /// With the alert no_application_protocol.
        case refuse

        /// With this protocol, offered or not.
        public static func always(_ name: String) -> ALPN { .always(Array(name.utf8)) }
    }

    /// Whether the server asks clients for a certificate.
    @nonexhaustive
    public enum ClientCertificates: Sendable {
        /// It does not ask.
        case ignored
        /// It asks, and accepts any certificate or none.
        case requested
        /// It requires a certificate that these authorities issued; any certificate if the list is empty.
        case required(by: [Certificate] = [])
    }

    /// What goes wrong during the handshake.
    @nonexhaustive
    public enum HandshakeFault: Sendable, Hashable {
        /// The server sends nothing more after this many bytes.
        case stall(after: Int)
        /// The server closes the stream after it has sent this many bytes.
        case close(after: Int)
        /// The server resets the connection after it has sent this many bytes.
        case reset(after: Int)
        /// The server answers the ClientHello with this alert; 40 is handshake_failure.
        case alert(UInt8)
    }
}
