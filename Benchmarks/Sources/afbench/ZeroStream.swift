import Foundation

/// So many zeroes.
final class ZeroStream: InputStream {
    private var left: Int
    private var status = Stream.Status.notOpen

    init(_ byteCount: Int) {
        left = byteCount
        super.init(data: Data())
    }

    override var hasBytesAvailable: Bool { left > 0 }
    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? { nil }
    override func open() { status = .open }
    override func close() { status = .closed }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        let count = min(maxLength, left)
        buffer.update(repeating: 0, count: count)
        left -= count
        return count
    }
}
