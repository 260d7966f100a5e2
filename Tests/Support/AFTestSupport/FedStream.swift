import AFBase
import Dispatch
package import Foundation

/// A stream that the test feeds: a read waits for the next piece.
package final class FedStream: InputStream {
    private let pieces = Lock<[String]>([])
    private let isFed = DispatchSemaphore(value: 0)
    private let state = Lock(Stream.Status.notOpen)
    package let closings = Watched(0)

    package init() { super.init(data: Data()) }

    package func feed(_ piece: String) {
        pieces.withLock { $0.append(piece) }
        isFed.signal()
    }

    package func end() { feed("") }

    package override var streamStatus: Stream.Status { state.withLock { $0 } }
    package override var streamError: (any Error)? { nil }
    package override var hasBytesAvailable: Bool { true }

    package override func open() { state.withLock { $0 = .open } }

    package override func close() {
        state.withLock { $0 = .closed }
        closings.change { $0 += 1 }
        // A read that waits ends.
        isFed.signal()
    }

    package override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        isFed.wait()
        let piece = pieces.withLock { $0.isEmpty ? "" : $0.removeFirst() }
        for (place, byte) in piece.utf8.enumerated() { buffer[place] = byte }
        return piece.utf8.count
    }
}
