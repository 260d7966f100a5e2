import AFBase
import AFTransport
import Foundation

/// A body between the loop, which adds pieces, and the readers, which take them and wait when there is none.
///
/// It is an object apart from the readers: the loop keeps it, and the load still ends when the last reader is released.
final class StreamMailbox: Sendable {
    /// The answer to a reader.
    enum Mail: Sendable {
        case piece(StreamPiece)
        /// The body is complete.
        case end
        case failed(any Error)
        /// There is nothing yet: `wait`.
        case nothing
    }

    private struct State {
        var response: URLResponse?
        /// The first piece is the next one to read.
        var pieces: [StreamPiece] = []
        var taken = 0
        var count = 0
        var ending: Mail?
        /// Whether the loop has stopped reading until there is room.
        var isFull = false
        var waiters: [Int: UnsafeContinuation<Void, Never>] = [:]
        var nextWaiter = 0

        mutating func next() -> StreamPiece? {
            guard taken < pieces.count else { return nil }
            let piece = pieces[taken]
            taken += 1
            count -= piece.bytes.count
            if taken == pieces.count {
                pieces = []
                taken = 0
            }
            return piece
        }

        mutating func takeWaiters() -> [UnsafeContinuation<Void, Never>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    private let state = Lock(State())

    // MARK: - From the loop

    /// These methods return the waiting readers, which the caller resumes.
    func receive(_ response: URLResponse) -> [UnsafeContinuation<Void, Never>] {
        state.withLock { state in
            state.response = response
            return state.takeWaiters()
        }
    }

    /// - Parameter room: How many more bytes must fit after this piece; otherwise the mailbox counts as full.
    func add(
        _ piece: StreamPiece,
        leaving room: Int
    ) -> (waiters: [UnsafeContinuation<Void, Never>], isFull: Bool) {
        state.withLock { state in
            state.pieces.append(piece)
            state.count += piece.bytes.count
            state.isFull = state.isFull || state.count > room
            return (state.takeWaiters(), state.isFull)
        }
    }

    /// Ends the body. Only the first end counts.
    func end(_ error: (any Error)?) -> [UnsafeContinuation<Void, Never>] {
        state.withLock { state in
            if state.ending == nil { state.ending = error.map { .failed($0) } ?? .end }
            return state.takeWaiters()
        }
    }

    // MARK: - From a reader

    /// What is there without waiting, and whether to tell the loop that there is room again.
    func take() -> (mail: Mail, makesRoom: Bool) {
        state.withLock { state in
            guard let piece = state.next() else { return (state.ending ?? .nothing, false) }
            // Only when it is empty: waking the loop for each piece would cost more than the piece.
            let makesRoom = state.isFull && state.count == 0
            if makesRoom { state.isFull = false }
            return (.piece(piece), makesRoom)
        }
    }

    /// The response, or why there is none; nil before the task has either.
    var answer: Result<URLResponse, any Error>? {
        state.withLock { state in
            if let response = state.response { return .success(response) }
            switch state.ending {
            case .failed(let error): return .failure(error)
            case .end, .piece, .nothing: return .failure(URLError(.unknown))
            case nil: return nil
            }
        }
    }

    /// Whether everything has arrived, or nothing more will.
    var hasEnded: Bool { state.withLock { $0.ending != nil } }

    var isFull: Bool { state.withLock { $0.isFull } }

    /// Returns when there is something new; another reader may have taken it by then.
    ///
    /// - Parameter forResponse: Whether to return for the response, too.
    func wait(forResponse: Bool = false) async {
        await withUnsafeContinuation { continuation in
            let isThere = state.withLock { state in
                let isThere =
                    state.ending != nil || state.taken < state.pieces.count
                    || (forResponse && state.response != nil)
                if !isThere {
                    state.nextWaiter += 1
                    state.waiters[state.nextWaiter] = continuation
                }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }
}
