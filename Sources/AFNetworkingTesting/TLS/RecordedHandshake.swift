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

/// Reads a ClientHello through OpenSSL.
enum ClientHello {
    /// The numbers of the extensions that are read.
    private enum Extension: UInt32 {
        case serverName = 0
        case protocols = 16
        case ticket = 35
        case sharedKey = 41
        case earlyData = 42
        case versions = 43
    }

    static func note(_ ssl: OpaquePointer, in handshake: inout RecordedHandshake) {
        var field: UnsafePointer<UInt8>?
        let suiteCount = SSL_client_hello_get0_ciphers(ssl, &field)
        handshake.offeredCipherSuites = numbers(in: Array(UnsafeBufferPointer(start: field, count: suiteCount)))
        let idCount = SSL_client_hello_get0_session_id(ssl, &field)
        handshake.sessionID = Array(UnsafeBufferPointer(start: field, count: idCount))

        handshake.serverName = content(of: .serverName, in: ssl).flatMap { name(in: $0) }
        handshake.offeredProtocols = content(of: .protocols, in: ssl).map { protocols(in: $0) } ?? []
        handshake.offeredVersions =
            content(of: .versions, in: ssl).map { numbers(in: Array($0.dropFirst())) }
            ?? [UInt16(truncatingIfNeeded: SSL_client_hello_get0_legacy_version(ssl))]
        handshake.offeredEarlyData = content(of: .earlyData, in: ssl) != nil
        handshake.offeredTicket =
            content(of: .sharedKey, in: ssl) != nil || content(of: .ticket, in: ssl)?.isEmpty == false
    }

    private static func content(of kind: Extension, in ssl: OpaquePointer) -> [UInt8]? {
        var field: UnsafePointer<UInt8>?
        var count = 0
        guard SSL_client_hello_get0_ext(ssl, kind.rawValue, &field, &count) == 1 else { return nil }
        return Array(UnsafeBufferPointer(start: field, count: field == nil ? 0 : count))
    }

    private static func numbers(in bytes: [UInt8]) -> [UInt16] {
        stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    }

    /// The length of the list, then the type of a name, its length and the name (RFC 6066 section 3).
    private static func name(in bytes: [UInt8]) -> String? {
        guard bytes.count > 5, bytes[2] == 0 else { return nil }
        return String(decoding: bytes[5...], as: UTF8.self)
    }

    /// The length of the list, then names, each with its length (RFC 7301 section 3.1).
    private static func protocols(in bytes: [UInt8]) -> [String] {
        var names: [String] = []
        var rest = bytes.dropFirst(2)
        while let count = rest.first {
            names.append(String(decoding: rest.dropFirst().prefix(Int(count)), as: UTF8.self))
            rest = rest.dropFirst(Int(count) + 1)
        }
        return names
    }
}
