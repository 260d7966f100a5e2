/// What a client asks for when it opens a WebSocket, and how it checks the answer (RFC 6455 §4.1).
package final class WebSocketHandshake: Sendable {
    /// Why a response with status 101 opens no WebSocket.
    package enum Flaw: Error, Sendable, Hashable {
        /// `Upgrade` is not `websocket`.
        case upgrade
        /// `Connection` does not have the option `Upgrade`.
        case connection
        /// `Sec-WebSocket-Accept` is not the value that follows from the key.
        case accept
        /// The server chose a subprotocol that was not offered, or more than one.
        case subprotocol(EscapedText)
        /// The server uses an extension that was not offered, or with other parameters.
        case extensions(EscapedText)
    }

    /// What both sides have agreed on.
    package struct Agreement: Sendable, Hashable {
        package let subprotocol: String?
        package let compression: WebSocketCompression?
    }

    /// What stands behind the key when the server digests it (RFC 6455 §1.3).
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// In the order of preference.
    package let subprotocols: [String]
    /// Nil: messages are not compressed.
    package let compression: WebSocketCompression?

    package init(subprotocols: [String] = [], compression: WebSocketCompression? = nil) {
        self.subprotocols = subprotocols
        self.compression = compression
    }

    /// The same with other subprotocols.
    package func with(subprotocols: [String]) -> WebSocketHandshake {
        WebSocketHandshake(subprotocols: subprotocols, compression: compression)
    }

    /// The first subprotocol that may not be sent: each is a token, and stands there once.
    package var unusableSubprotocol: String? {
        var seen: Set<String> = []
        return subprotocols.first { name in
            let isToken = name.withUTF8Bytes { bytes in !bytes.isEmpty && bytes.allSatisfy(ASCIISet.token.contains) }
            return !isToken || !seen.insert(name).inserted
        }
    }

    /// The fields that ask for a WebSocket.
    ///
    /// - Parameter key: 16 random bytes in Base64, new for each request that is sent.
    package func fields(key: String) -> HTTPHeaders {
        var fields = HTTPHeaders()
        fields.append("Connection", value: "Upgrade")
        fields.append("Upgrade", value: "websocket")
        fields.append("Sec-WebSocket-Version", value: "13")
        fields.append("Sec-WebSocket-Key", value: key)
        if !subprotocols.isEmpty { fields.append(Self.subprotocolField, value: subprotocols.joined(separator: ", ")) }
        if let compression { fields.append("Sec-WebSocket-Extensions", value: compression.offer) }
        return fields
    }

    /// The bytes whose SHA-1, in Base64, is `Sec-WebSocket-Accept`.
    package static func proof(of key: String) -> [UInt8] { Array((key + suffix).utf8) }

    /// Checks the fields of a response with status 101.
    ///
    /// - Parameter accept: What `Sec-WebSocket-Accept` must be.
    package func agreement(in fields: HTTPHeaders, accept: [UInt8]) throws(Flaw) -> Agreement {
        guard Self.only("Upgrade", in: fields).map({ Self.isSame($0, lowered: "websocket") }) == true else {
            throw .upgrade
        }
        guard Self.lists("upgrade", in: "Connection", of: fields) else { throw .connection }
        guard Self.only("Sec-WebSocket-Accept", in: fields) == accept else { throw .accept }
        return Agreement(subprotocol: try subprotocol(in: fields), compression: try compression(in: fields))
    }

    private func subprotocol(in fields: HTTPHeaders) throws(Flaw) -> String? {
        let named = fields.valuesInBytes(Self.subprotocolField)
        guard !named.isEmpty else { return nil }
        guard named.count == 1, let chosen = subprotocols.first(where: { named[0].elementsEqual($0.utf8) }) else {
            throw .subprotocol(EscapedText(named.joined(separator: [UInt8(ascii: ",")])))
        }
        return chosen
    }

    private func compression(in fields: HTTPHeaders) throws(Flaw) -> WebSocketCompression? {
        let named = fields.valuesInBytes("Sec-WebSocket-Extensions")
        guard named.contains(where: { !$0.isEmpty }) else { return nil }
        guard let agreed = compression?.agreed(by: named) else {
            throw .extensions(EscapedText(named.joined(separator: [UInt8(ascii: ",")])))
        }
        return agreed
    }

    // MARK: - Fields

    /// The fields of a request that only the handshake sets. A caller's are left out.
    package static let ownFields = [
        "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Accept",
        "Sec-WebSocket-Extensions", subprotocolField,
    ]

    package static let subprotocolField = "Sec-WebSocket-Protocol"

    private static func only(_ name: String, in fields: HTTPHeaders) -> [UInt8]? {
        let values = fields.valuesInBytes(name)
        return values.count == 1 ? values[0] : nil
    }

    private static func isSame(_ value: [UInt8], lowered: StaticString) -> Bool {
        value.withUnsafeBytes { ByteScanning.equalsIgnoringCase($0, lowercase: lowered) }
    }

    private static func lists(_ option: StaticString, in name: String, of fields: HTTPHeaders) -> Bool {
        var found = false
        fields.forEachValue(of: name) { value in
            ByteScanning.forEachListElement(of: value) { element in
                if ByteScanning.equalsIgnoringCase(element, lowercase: option) { found = true }
            }
        }
        return found
    }
}

extension WebSocketHandshake: Hashable {
    package static func == (one: WebSocketHandshake, other: WebSocketHandshake) -> Bool {
        one === other || one.subprotocols == other.subprotocols && one.compression == other.compression
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(subprotocols)
        hasher.combine(compression)
    }
}
