/// The parameters of permessage-deflate (RFC 7692 section 7.1).
public struct DeflateParameters: Sendable, Hashable {
    /// Whether the server compresses each message by itself.
    public var serverNoContextTakeover: Bool
    /// Whether the client compresses each message by itself.
    public var clientNoContextTakeover: Bool
    /// How far back the server's matches reach, as a power of two from 8 to 15; nil for 15, unsaid.
    public var serverMaxWindowBits: Int?
    /// The same for the client. The server says it only to a client that offers it.
    public var clientMaxWindowBits: Int?

    /// Makes parameters.
    public init(
        serverNoContextTakeover: Bool = false,
        clientNoContextTakeover: Bool = false,
        serverMaxWindowBits: Int? = nil,
        clientMaxWindowBits: Int? = nil
    ) {
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverMaxWindowBits = serverMaxWindowBits.map(Self.bounded)
        self.clientMaxWindowBits = clientMaxWindowBits.map(Self.bounded)
    }

    private static func bounded(_ bits: Int) -> Int { min(max(bits, 8), 15) }

    /// The value of `Sec-WebSocket-Extensions` that says so.
    var field: String {
        var parts = ["permessage-deflate"]
        if serverNoContextTakeover { parts.append("server_no_context_takeover") }
        if clientNoContextTakeover { parts.append("client_no_context_takeover") }
        if let serverMaxWindowBits { parts.append("server_max_window_bits=\(serverMaxWindowBits)") }
        if let clientMaxWindowBits { parts.append("client_max_window_bits=\(clientMaxWindowBits)") }
        return parts.joined(separator: "; ")
    }

    // MARK: - Negotiation

    /// What a server with these parameters answers to the first offer that it can accept; nil if there is none.
    func answer(to offers: [String]) -> DeflateParameters? {
        let offers = offers.flatMap { Self.split($0.utf8, at: ",") }
        return offers.lazy.compactMap { answer(to: $0) }.first
    }

    private func answer(to offer: [UInt8]) -> DeflateParameters? {
        let parts = Self.split(offer, at: ";")
        guard parts.first.map(Self.text) == "permessage-deflate" else { return nil }
        var answer = self
        answer.clientMaxWindowBits = nil
        var seen: Set<String> = []
        for part in parts.dropFirst() {
            let sides = Self.split(part, at: "=").map(Self.text)
            guard sides.count <= 2, seen.insert(sides[0]).inserted else { return nil }
            let bits = sides.count == 2 ? Self.windowBits(sides[1]) : nil
            switch (sides[0], bits) {
            case ("server_no_context_takeover", _) where sides.count == 1: answer.serverNoContextTakeover = true
            case ("client_no_context_takeover", _) where sides.count == 1: answer.clientNoContextTakeover = true
            case ("server_max_window_bits", let bits?):
                answer.serverMaxWindowBits = min(bits, serverMaxWindowBits ?? bits)
            case ("client_max_window_bits", let bits?):
                answer.clientMaxWindowBits = min(bits, clientMaxWindowBits ?? bits)
            case ("client_max_window_bits", nil) where sides.count == 1:
                answer.clientMaxWindowBits = clientMaxWindowBits
            default: return nil
            }
        }
        return answer
    }

    /// A number from 8 to 15, quoted or not.
    private static func windowBits(_ text: String) -> Int? {
        let isQuoted = text.count > 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
        let digits = isQuoted ? String(text.dropFirst().dropLast()) : text
        return (8...15).first { String($0) == digits }
    }

    private static func split(_ bytes: some Sequence<UInt8>, at separator: Unicode.Scalar) -> [[UInt8]] {
        Array(bytes)[...]
            .split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false)
            .map { Array($0.trimmed) }
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
