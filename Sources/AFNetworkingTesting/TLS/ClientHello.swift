internal import CAFOpenSSL

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
