import Foundation

// Unchecked: a stream is a class of Foundation's, or of the user's, that nobody may use from two threads. Whoever takes
// it, and only the first does, uses it on one thread at a time.
/// A stream of the user's that several copies of a form share, and one can read.
final class MultipartSourceStream: @unchecked Sendable {
    /// Of its part, as it is sent.
    let name: String
    private let stream: InputStream
    private let taken = Lock(false)

    init(_ stream: InputStream, of name: String) {
        self.stream = stream
        self.name = MultipartHead.quotable(name)
    }

    /// Somebody reads it, or has read it.
    var isTaken: Bool { taken.withLock { $0 } }

    /// Nil if somebody has it already.
    func take() -> InputStream? {
        let wasTaken = taken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        return wasTaken ? nil : stream
    }
}
