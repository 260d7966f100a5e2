package import Foundation

/// So many zeroes: a body whose length shows at its end.
package final class ZeroStream: InputStream {
    private var left: Int
    private var status = Stream.Status.notOpen

    package init(_ byteCount: Int) {
        left = byteCount
        super.init(data: Data())
    }

    package override var hasBytesAvailable: Bool { left > 0 }
    package override var streamStatus: Stream.Status { status }
    package override var streamError: (any Error)? { nil }
    package override func open() { status = .open }
    package override func close() { status = .closed }

    package override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        let count = min(maxLength, left)
        buffer.update(repeating: 0, count: count)
        left -= count
        if count == 0 { status = .atEnd }
        return count
    }
}
