import AFLoop
import Foundation

/// A body in memory, sent from the buffer of its owner.
final class DataBody: BodySource {
    /// Bytes offered to the kernel at once.
    private static let pieceSize = 256 << 10

    var client: (any BodyClient)?
    private let data: Data
    @exclusivity(unchecked) private var sent = 0

    init(_ data: Data) {
        self.data = data
    }

    func next() -> BodyStep { sent < data.count ? .ready : .end }

    func withReady(_ take: (UnsafeRawBufferPointer) -> ChannelWrite) -> ChannelWrite {
        data.withUnsafeBytes { bytes in
            take(UnsafeRawBufferPointer(rebasing: bytes[sent..<min(bytes.count, sent + DataBody.pieceSize)]))
        }
    }

    func consume(_ count: Int) {
        sent += count
    }

    var mayReplay: Bool { true }

    func rewind(_ done: @escaping (BodyFailure?) -> Void) {
        sent = 0
        done(nil)
    }

    func close() {
        client = nil
    }
}
