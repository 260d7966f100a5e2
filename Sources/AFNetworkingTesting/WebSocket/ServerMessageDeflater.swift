import CAFZlib

/// Compresses the messages of the server (RFC 7692 section 7.2.1).
struct ServerMessageDeflater {
    private let parameters: DeflateParameters
    private var stream: Deflate

    init(_ parameters: DeflateParameters) {
        self.parameters = parameters
        stream = Self.stream(parameters)
    }

    /// zlib makes no window of 256 bytes. Without matches any window does.
    private static func stream(_ parameters: DeflateParameters) -> Deflate {
        let bits = parameters.serverMaxWindowBits ?? 15
        return Deflate(windowBits: -Int32(max(bits, 9)), strategy: bits < 9 ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY)
    }

    /// The payload of a message, without the four bytes that each would end with.
    mutating func compress(_ bytes: [UInt8]) -> [UInt8] {
        if parameters.serverNoContextTakeover { stream = Self.stream(parameters) }
        // Nothing to flush: RFC 7692 section 7.2.3.6 says what an empty message is.
        return bytes.isEmpty ? [0] : stream.compress(bytes, flush: Z_SYNC_FLUSH).dropLast(4)
    }
}
