package import Foundation

/// So many zeroes: a body whose length shows at its end.
package final class ZeroStream: InputStream {
    private var left: Int

    package init(_ byteCount: Int) {
        left = byteCount
        super.init(data: Data())
    }

    package override var hasBytesAvailable: Bool { left > 0 }
    package override var streamStatus: Stream.Status { left > 0 ? .open : .atEnd }
    package override var streamError: (any Error)? { nil }
    package override func open() {}
    package override func close() {}

    package override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        let count = min(maxLength, left)
        buffer.update(repeating: 0, count: count)
        left -= count
        return count
    }
}
