import AFBase
package import Foundation

// Unchecked: a stream is a class of Foundation's, or of the caller's, that two threads must never use at once. This
// object only carries it: the first worker that takes it, and no other, uses it.
/// A stream of the caller's on its way to the worker that reads it.
package final class HandedStream: @unchecked Sendable {
    /// For the caller, who may ask the request for it again.
    package let stream: InputStream
    private let taken = Lock(false)

    package init(_ stream: InputStream) {
        self.stream = stream
    }

    /// Whether it has been taken.
    package var isTaken: Bool { taken.withLock { $0 } }

    /// Nil if it has been taken: copies of a request, and of a form, share their stream.
    package func take() -> InputStream? {
        let wasTaken = taken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        return wasTaken ? nil : stream
    }
}
