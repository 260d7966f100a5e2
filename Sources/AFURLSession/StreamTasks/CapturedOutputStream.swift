import AFBase
import Foundation

/// Writes to a connection. Blocks until there is room; schedules nothing on run loops.
final class CapturedOutputStream: OutputStream {
    private let link: CapturedLink
    private let status = Lock(Stream.Status.notOpen)

    init(_ link: CapturedLink) {
        self.link = link
        super.init(toMemory: ())
    }

    @available(*, unavailable)
    required init(toMemory: ()) {
        preconditionFailure("made of a connection only")
    }

    deinit {
        link.closeWriting()
    }

    override var streamStatus: Stream.Status { status.withLock { $0 } }
    override var streamError: (any Error)? { streamStatus == .error ? link.failure : nil }
    override var hasSpaceAvailable: Bool { link.hasRoom }

    override func open() {
        status.withLock { if $0 == .notOpen { $0 = .open } }
    }

    override func close() {
        status.withLock { $0 = .closed }
        link.closeWriting()
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength: Int) -> Int {
        guard streamStatus == .open, maxLength > 0 else { return -1 }
        let count = link.write(UnsafeRawBufferPointer(start: buffer, count: maxLength))
        if count < 0 { status.withLock { if $0 == .open { $0 = .error } } }
        return count
    }

    override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
