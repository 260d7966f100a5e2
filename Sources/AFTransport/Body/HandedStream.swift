import AFBase
import AFLoop
package import Foundation

// Unchecked: a stream is a class of Foundation's, or of the user's, that nobody may use
// from two threads. It only travels in here; whoever takes it, and only the first does,
// uses it on one worker.
/// A stream of the user's on its way to who reads it.
package final class HandedStream: @unchecked Sendable {
    /// For the user, who may ask for it again.
    package let stream: InputStream
    private let isTaken = Lock(false)

    package init(_ stream: InputStream) {
        self.stream = stream
    }

    /// Nil if somebody reads it already: requests are copied, and their stream is not.
    package func take() -> InputStream? {
        let wasTaken = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        return wasTaken ? nil : stream
    }
}
