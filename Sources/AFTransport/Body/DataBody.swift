package import AFLoop
package import Foundation

/// A body in memory, sent from the buffer of its owner.
package final class DataBody: BodySource {
    /// Bytes offered to the kernel at once.
    private static let pieceSize = 256 << 10

    package var client: (any BodyClient)?
    private let data: Data
    private let contentLength: Int?
    @exclusivity(unchecked) private var sent = 0

    /// - Parameter contentLength: How long the content was before it was coded.
    package init(_ data: Data, contentLength: Int? = nil) {
        self.data = data
        self.contentLength = contentLength
    }

    package var contentSent: Int64? {
        contentLength.map { Int64(Double($0) * (Double(sent) / Double(max(data.count, 1)))) }
    }

    package func next() -> BodyStep { sent < data.count ? .ready : .end }

    package func withReady(_ take: (UnsafeRawBufferPointer) -> ChannelWrite) -> ChannelWrite {
        data.withUnsafeBytes { bytes in
            take(UnsafeRawBufferPointer(rebasing: bytes[sent..<min(bytes.count, sent + DataBody.pieceSize)]))
        }
    }

    package func consume(_ count: Int) {
        sent += count
    }

    package var mayReplay: Bool { true }

    package func rewind(_ done: @escaping (BodyFailure?) -> Void) {
        sent = 0
        done(nil)
    }

    package func close() {
        client = nil
    }
}
