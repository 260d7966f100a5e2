/// The parameters of permessage-deflate (RFC 7692 §7.1): what a client offers, and what both sides agree on.
package struct WebSocketCompression: Sendable, Hashable {
    /// The window bits of either side may be these (RFC 7692 §7.1.2).
    package static let windowBits = 8...15

    /// The server begins each message with an empty window.
    package var serverResetsContext: Bool
    /// The client does.
    package var clientResetsContext: Bool
    /// The base-2 logarithm of the server's window.
    package var serverWindowBits: Int
    /// The same of the client's.
    package var clientWindowBits: Int

    package init(
        serverResetsContext: Bool = false,
        clientResetsContext: Bool = false,
        serverWindowBits: Int = 15,
        clientWindowBits: Int = 15
    ) {
        self.serverResetsContext = serverResetsContext
        self.clientResetsContext = clientResetsContext
        self.serverWindowBits = serverWindowBits
        self.clientWindowBits = clientWindowBits
    }

    /// The offer as it stands in `Sec-WebSocket-Extensions`. The server may always ask for a smaller window of ours.
    package var offer: String {
        var text = "permessage-deflate; client_max_window_bits"
        if clientWindowBits < 15 { text += "=\(clientWindowBits)" }
        if serverWindowBits < 15 { text += "; server_max_window_bits=\(serverWindowBits)" }
        if clientResetsContext { text += "; client_no_context_takeover" }
        if serverResetsContext { text += "; server_no_context_takeover" }
        return text
    }

    /// What a server makes of the offer; nil if its answer is not one that the offer allows.
    ///
    /// - Parameter fields: The values of `Sec-WebSocket-Extensions`, of which there is at least one.
    func agreed(by fields: [[UInt8]]) -> WebSocketCompression? {
        var agreed: WebSocketCompression?
        for field in fields {
            let isGood = field.withUnsafeBytes { bytes in
                var scanner = FieldScanner(bytes)
                scanner.skipListSeparators()
                while !scanner.isAtEnd {
                    guard agreed == nil, scanner.loweredToken() == "permessage-deflate",
                        let answer = parameters(&scanner)
                    else { return false }
                    agreed = answer
                    scanner.skipListSeparators()
                }
                return true
            }
            guard isGood else { return nil }
        }
        return agreed
    }

    /// Reads up to the comma behind the extension, or to the end.
    private func parameters(_ scanner: inout FieldScanner) -> WebSocketCompression? {
        // Unless the server says so, it keeps its window; ours is as we want it.
        var agreed = self
        (agreed.serverResetsContext, agreed.serverWindowBits) = (false, 15)
        var names: Set<String> = []
        scanner.skipBlanks()
        while scanner.take(UInt8(ascii: ";")) {
            scanner.skipBlanks()
            guard let name = scanner.loweredToken(), names.insert(name).inserted else { return nil }
            scanner.skipBlanks()
            let value: [UInt8]?
            if scanner.take(UInt8(ascii: "=")) {
                scanner.skipBlanks()
                guard let text = scanner.quotedString() ?? scanner.token().map({ Array($0) }) else { return nil }
                value = text
                scanner.skipBlanks()
            } else {
                value = nil
            }
            guard agreed.take(name, value: value) else { return nil }
        }
        // RFC 7692 §7.1: the server has to do what was offered, or to refuse the extension.
        guard agreed.serverResetsContext || !serverResetsContext, agreed.serverWindowBits <= serverWindowBits,
            agreed.clientWindowBits <= clientWindowBits
        else { return nil }
        return agreed
    }

    private mutating func take(_ name: String, value: [UInt8]?) -> Bool {
        switch name {
        case "server_no_context_takeover":
            serverResetsContext = true
            return value == nil
        case "client_no_context_takeover":
            clientResetsContext = true
            return value == nil
        case "server_max_window_bits":
            guard let bits = Self.bits(value) else { return false }
            serverWindowBits = bits
        case "client_max_window_bits":
            guard let bits = Self.bits(value) else { return false }
            clientWindowBits = bits
        default: return false
        }
        return true
    }

    /// A number from 8 to 15, without a leading zero.
    private static func bits(_ value: [UInt8]?) -> Int? {
        guard let value, value.first != UInt8(ascii: "0") else { return nil }
        let number = value.withUnsafeBytes { ByteScanning.decimal($0) }.map { Int($0) }
        return number.flatMap { windowBits.contains($0) ? $0 : nil }
    }
}
