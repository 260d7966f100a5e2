import CAFZlib

/// Decompresses the messages of the client (RFC 7692 section 7.2.2).
struct ClientMessageInflater {
    private let windowBits: Int
    private let keepsContext: Bool
    private var history: [UInt8] = []

    init(_ parameters: DeflateParameters) {
        windowBits = parameters.clientMaxWindowBits ?? 15
        keepsContext = !parameters.clientNoContextTakeover
    }

    mutating func decompress(_ payload: [UInt8], limit: Int) throws(ClientViolation) -> [UInt8] {
        do throws(Inflate.Failure) {
            let bytes = try Inflate.decompressed(
                payload + [0, 0, 0xFF, 0xFF],
                after: history,
                windowBits: windowBits,
                limit: limit
            )
            if keepsContext { history = Array((history + bytes).suffix(1 << windowBits)) }
            return bytes
        } catch {
            throw ClientViolation(reason: "compressed data with \(error.reason)")
        }
    }
}
