import AFBase
import Foundation

/// Reads from a connection. Blocks until there is something to read; schedules nothing on run loops.
final class CapturedInputStream: InputStream {
    private let link: CapturedLink
    private let status = Lock(Stream.Status.notOpen)

    init(_ link: CapturedLink) {
        self.link = link
        super.init(data: Data())
    }

    deinit {
        link.closeReading()
    }

    override var streamStatus: Stream.Status { status.withLock { $0 } }
    override var streamError: (any Error)? { streamStatus == .error ? link.failure : nil }
    override var hasBytesAvailable: Bool { link.hasArrivals }

    override func open() {
        status.withLock { if $0 == .notOpen { $0 = .open } }
    }

    override func close() {
        status.withLock { $0 = .closed }
        link.closeReading()
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard streamStatus == .open, maxLength > 0 else { return streamStatus == .atEnd ? 0 : -1 }
        let count = link.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: maxLength))
        if count <= 0 { status.withLock { if $0 == .open { $0 = count == 0 ? .atEnd : .error } } }
        return count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
