import AFWire
import CAFZlib
import Glibc

/// Packs our messages (RFC 7692 §7.2.1). Confined to the loop.
final class MessageDeflater {
    /// zlib makes no smaller window: a server that wants one gets messages that are not compressed.
    static let leastWindowBits = 9

    private let windowBits: Int
    private let resetsContext: Bool
    private var stream: UnsafeMutablePointer<z_stream>?

    /// Nil if zlib cannot make what was agreed on.
    init?(_ agreed: WebSocketCompression) {
        guard agreed.clientWindowBits >= Self.leastWindowBits else { return nil }
        windowBits = agreed.clientWindowBits
        resetsContext = agreed.clientResetsContext
    }

    deinit {
        caf_deflate_free(stream)
    }

    /// Packs a piece of a message behind what `packed` has.
    ///
    /// - Returns: False if zlib fails, for lack of memory.
    func deflate(_ piece: UnsafeRawBufferPointer, isLast: Bool, to packed: inout [UInt8]) -> Bool {
        guard let stream = stream ?? caf_deflate_make(-Int32(windowBits)) else { return false }
        self.stream = stream
        let flush = isLast ? Z_SYNC_FLUSH : Z_NO_FLUSH
        var (rest, isDone, hasFailed) = (piece, false, false)
        while !isDone {
            let count = packed.count
            packed.append(addingCapacity: max(256, rest.count / 2 + 64)) { output in
                output.withUnsafeMutableBufferPointer { buffer, used in
                    let room = UnsafeMutableRawBufferPointer(buffer)[used...]
                    let step = caf_deflate(
                        stream,
                        rest.baseAddress,
                        rest.count,
                        UnsafeMutableRawBufferPointer(rebasing: room).baseAddress,
                        room.count,
                        flush
                    )
                    used += step.produced
                    rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
                    isDone = rest.isEmpty && step.produced < room.count
                    hasFailed = step.status != Z_OK && step.status != Z_BUF_ERROR
                }
            }
            guard !hasFailed, isDone || packed.count > count else { return false }
        }
        if isLast {
            packed.removeLast(4)
            if resetsContext, deflateReset(stream) != Z_OK {
                caf_deflate_free(stream)
                self.stream = nil
            }
        }
        return true
    }
}
