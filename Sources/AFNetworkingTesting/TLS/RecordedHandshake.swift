public import AFTLS
internal import CAFOpenSSL

/// A TLS handshake as a `TestServer` recorded it.
public struct RecordedHandshake: Sendable, Hashable {
    /// A TLS alert.
    public struct Alert: Sendable, Hashable, CustomStringConvertible {
        /// The number, such as 42.
        public let number: UInt8

        /// An alert with this number.
        public init(number: UInt8) {
            self.number = number
        }

        /// The name, such as "bad certificate".
        public var name: String {
            SSL_alert_desc_string_long(Int32(number)).map { String(cString: $0) } ?? "unknown"
        }

        /// The name and the number.
        public var description: String { "\(name) (\(number))" }
    }

    // MARK: The client's offer

    /// The name that the client asked for (SNI), decoded as UTF-8.
    public internal(set) var serverName: String?
    /// The protocols that it offered (ALPN).
    public internal(set) var offeredProtocols: [String] = []
    /// The numbers of the versions that it offered, in its order: TLS 1.3 is 0x0304. GREASE values are included.
    public internal(set) var offeredVersions: [UInt16] = []
    /// The numbers of the cipher suites that it offered, in its order.
    public internal(set) var offeredCipherSuites: [UInt16] = []
    /// Whether it offered to resume a session, with a ticket or a pre-shared key.
    public internal(set) var offeredTicket = false
    /// The session id that it sent. A TLS 1.3 client sends a random one for middleboxes.
    public internal(set) var sessionID: [UInt8] = []
    /// Whether it offered early data.
    public internal(set) var offeredEarlyData = false

    // MARK: The result

    /// Whether the handshake is complete. In TLS 1.3 this means that the client has accepted the server.
    public internal(set) var isComplete = false
    /// The negotiated version.
    public internal(set) var version: ServerTLS.Version?
    /// The negotiated cipher suite, as OpenSSL names it.
    public internal(set) var cipherSuite: String?
    /// The protocol the server chose (ALPN).
    public internal(set) var chosenProtocol: String?
    /// Whether it resumed an earlier session. The server sends no certificate then.
    public internal(set) var isResumed = false
    /// The last alert of the client other than close_notify.
    public internal(set) var receivedAlert: Alert?
    /// Whether the client sent close_notify.
    public internal(set) var receivedEnd = false
    /// Why the handshake failed.
    public internal(set) var failure: String?
    /// The certificates that the client sent, its own first. Empty if the server did not ask or the client had none. On
    /// a resumed session, only the client's own.
    public internal(set) var clientCertificates: [Certificate] = []

    init() {}
}
