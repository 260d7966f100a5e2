/// Compresses the messages of the server (RFC 7692 section 7.2.1).
struct MessageDeflater {
    /// How much the context may hold before the server begins a new one, which the format allows at any time.
    private static let contextLimit = 1024 * 1024

    private let window: Int
    private let keepsContext: Bool
    private var context = Deflate.Context()

    init(_ parameters: DeflateParameters) {
        window = 1 << (parameters.serverMaxWindowBits ?? 15)
        keepsContext = !parameters.serverNoContextTakeover
    }

    /// The payload of a message, without the four bytes that each would end with.
    mutating func compress(_ bytes: [UInt8]) -> [UInt8] {
        if !keepsContext || context.bytes.count > Self.contextLimit { context = Deflate.Context() }
        return Deflate.compressed(bytes, after: &context, window: window, isFinal: false).dropLast(4)
    }
}

/// Decompresses the messages of the client (RFC 7692 section 7.2.2).
struct MessageInflater {
    private let window: Int
    private let keepsContext: Bool
    private var history: [UInt8] = []

    init(_ parameters: DeflateParameters) {
        window = 1 << (parameters.clientMaxWindowBits ?? 15)
        keepsContext = !parameters.clientNoContextTakeover
    }

    mutating func decompress(_ payload: [UInt8], limit: Int) throws(ClientViolation) -> [UInt8] {
        do throws(Inflate.Failure) {
            let bytes = try Inflate.decompressed(
                payload + [0, 0, 0xFF, 0xFF],
                after: history,
                window: window,
                limit: limit
            )
            if keepsContext { history = Array((history + bytes.suffix(window)).suffix(window)) }
            return bytes
        } catch {
            throw ClientViolation(reason: "compressed data with \(error.reason)")
        }
    }
}
