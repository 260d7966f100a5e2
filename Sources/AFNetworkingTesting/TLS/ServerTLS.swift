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
    // MARK: Who the server is

    /// What it shows, chosen by the name the client asks for; the first one if no name fits.
    /// Without any, only suites without authentication work (`aNULL` in `cipherList`).
    public var credentials: [Credential]

    // MARK: What it speaks

    /// The oldest version it speaks.
    public var minimumVersion = Version.tls12
    /// The newest version it speaks.
    public var maximumVersion = Version.tls13
    /// The suites for TLS 1.2 and older in OpenSSL's notation, such as "ECDHE-RSA-AES128-GCM-SHA256"; nil for the usual.
    public var cipherList: String?
    /// The suites for TLS 1.3, such as "TLS_AES_128_GCM_SHA256"; nil for the usual.
    public var cipherSuites: String?
    /// The groups for the key exchange, such as "P-256:X25519"; nil for the usual.
    public var groups: String?
    /// How weak the server's own keys, certificates and suites may be, from 0 to 5. It is 0, so that every
    /// defect reaches the client, whose task it is to refuse it. Versions before 1.2 need 0.
    public var securityLevel = 0
    /// How it answers the client's list of protocols.
    public var alpn = ALPN.choose(["http/1.1"])

    // MARK: Whom it asks

    /// Whether clients must say who they are.
    public var clientCertificates = ClientCertificates.ignored

    // MARK: Resumption

    /// How many tickets it sends after a handshake: so many in TLS 1.3, at most one in TLS 1.2; 0 for none.
    public var ticketCount = 2
    /// Whether it keeps sessions by their ids, for clients that resume without a ticket.
    public var keepsSessions = true
    /// Whether its tickets invite clients to send data before the handshake. It never accepts any.
    public var invitesEarlyData = false
    /// What tickets are sealed with: 80 bytes. Copies of a value share it, so that a ticket from before
    /// a change of certificates, or from another server, is still good.
    public var ticketSecret = (0..<80).map { _ in UInt8.random(in: .min ... .max) }

    // MARK: Misbehaviour

    /// What goes wrong during the handshake.
    public var handshakeFault: HandshakeFault?
    /// Whether the end of the stream is announced (close_notify). Without it the client cannot tell
    /// an end from a cut.
    public var announcesEnd = true

    /// Shows these certificates.
    public init(_ certificates: IssuedCertificate...) {
        credentials = certificates.map { Credential($0) }
    }

    /// Shows these credentials.
    public init(credentials: [Credential]) {
        self.credentials = credentials
    }
}

extension ServerTLS {
    /// A version of the protocol.
    public enum Version: UInt16, Sendable, Hashable, CaseIterable {
        /// TLS 1.0, out of use.
        case tls10 = 0x0301
        /// TLS 1.1, out of use.
        case tls11 = 0x0302
        /// TLS 1.2.
        case tls12 = 0x0303
        /// TLS 1.3.
        case tls13 = 0x0304
    }

    /// A certificate with its key, and what is sent along.
    public struct Credential: Sendable {
        /// What is sent: the server's own certificate, then any others in any order, missing, repeated or unrelated.
        public var certificates: [Certificate]
        /// The key of the first certificate.
        public var key: CertificateKey
        /// The names it is chosen for when there are several: `*.example.test` for one label in front.
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
    public enum ALPN: Sendable, Hashable {
        /// With the first of its own that the client offers; with nothing if there is none.
        case choose([String])
        /// With these bytes, offered or not; at most 255.
        case always([UInt8])
        /// With nothing.
        case nothing
        /// By ending the handshake with the alert no_application_protocol.
        case refuse

        /// With this protocol, offered or not.
        public static func always(_ name: String) -> ALPN { .always(Array(name.utf8)) }
    }

    /// Whether clients are asked for a certificate.
    public enum ClientCertificates: Sendable {
        /// They are not.
        case ignored
        /// They are, and may show any or none.
        case requested
        /// They must show one that these authorities issued; any one if there are none.
        case required(by: [Certificate] = [])
    }

    /// What goes wrong during the handshake.
    public enum HandshakeFault: Sendable, Hashable {
        /// After so many bytes of what the server sends, nothing more comes.
        case stall(after: Int)
        /// After so many bytes of what the server sends, the stream ends.
        case close(after: Int)
        /// After so many bytes of what the server sends, the connection is reset.
        case reset(after: Int)
        /// The first message of the client is answered with this alert, 40 being handshake_failure.
        case alert(UInt8)
    }
}
