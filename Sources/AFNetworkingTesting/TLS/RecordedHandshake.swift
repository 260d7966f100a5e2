public import AFTLS
internal import CAFOpenSSL

/// What a `TestServer` saw of one TLS handshake.
public struct RecordedHandshake: Sendable, Hashable {
    /// An alert of the protocol.
    public struct Alert: Sendable, Hashable, CustomStringConvertible {
        /// Its number, such as 42.
        public let number: UInt8

        /// An alert with this number.
        public init(number: UInt8) {
            self.number = number
        }

        /// Its name, such as "bad certificate".
        public var name: String {
            SSL_alert_desc_string_long(Int32(number)).map { String(cString: $0) } ?? "unknown"
        }

        /// Name and number.
        public var description: String { "\(name) (\(number))" }
    }

    // MARK: What the client offered

    /// The name the client asked for (SNI), its bytes as UTF-8.
    public internal(set) var serverName: String?
    /// The protocols it offered (ALPN).
    public internal(set) var offeredProtocols: [String] = []
    /// The versions it offered, the best first, as numbers: TLS 1.3 is 0x0304. Placeholders are among them.
    public internal(set) var offeredVersions: [UInt16] = []
    /// The numbers of the cipher suites it offered, in its order.
    public internal(set) var offeredCipherSuites: [UInt16] = []
    /// Whether it offered to resume a session with a ticket or a key from before.
    public internal(set) var offeredTicket = false
    /// The session id it sent. TLS 1.3 clients make one up that means nothing.
    public internal(set) var sessionID: [UInt8] = []
    /// Whether it announced data before the end of the handshake.
    public internal(set) var offeredEarlyData = false

    // MARK: What came of it

    /// Whether the handshake came to its end. In TLS 1.3 that means that the client accepted the server.
    public internal(set) var isComplete = false
    /// The version that was agreed on.
    public internal(set) var version: ServerTLS.Version?
    /// The cipher suite that was agreed on, as OpenSSL names it.
    public internal(set) var cipherSuite: String?
    /// The protocol the server chose (ALPN).
    public internal(set) var chosenProtocol: String?
    /// Whether an earlier session was resumed; the server showed no certificate then.
    public internal(set) var isResumed = false
    /// The last alert the client sent, close_notify excepted.
    public internal(set) var receivedAlert: Alert?
    /// Whether the client announced the end of its side (close_notify).
    public internal(set) var receivedEnd = false
    /// Why the handshake failed.
    public internal(set) var failure: String?
    /// The certificates the client showed, its own first. Empty if it was not asked or had none; of a
    /// resumed session only its own.
    public internal(set) var clientCertificates: [Certificate] = []

    init() {}
}
