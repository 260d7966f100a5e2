/// How much of one turn of the loop one peer may take, so that all others get theirs.
///
/// The channel that the loop serves owns it, and renews it when the loop delivers readiness, which is once in a turn.
/// Each layer above takes from the same share what its work costs: the socket bytes, TLS records, HTTP chunks and
/// fields, WebSocket frames. So a peer that sends tiny pieces gets no more time than one that sends large ones. A
/// handler that finds the share spent keeps what is left to do, and calls `continueNextTurn`.
package final class TurnShare {
    /// In bytes: a read of so many takes about as long as a few hundred pieces.
    package static let size = 1 << 20
    /// What a piece costs beside its bytes, in bytes.
    package static let pieceCost = 4 << 10

    @exclusivity(unchecked) private var left = TurnShare.size

    package init() {}

    /// A new turn.
    package func renew() {
        left = TurnShare.size
    }

    /// Pays for work that is done.
    ///
    /// - Parameters:
    ///   - bytes: Bytes that were read or written.
    ///   - pieces: What cost time whatever its length: a system call, a record, a chunk, a frame.
    package func take(bytes: Int = 0, pieces: Int = 1) {
        left -= bytes + pieces * TurnShare.pieceCost
    }

    /// How many pieces may follow. A reader of many asks once and pays once.
    package var piecesLeft: Int { max(0, left) / TurnShare.pieceCost }

    /// Nothing is left of it.
    package var isSpent: Bool { left <= 0 }

    /// Writing stops at one half: otherwise a peer that takes all we send would not be heard.
    package var isSpentForWriting: Bool { left <= TurnShare.size / 2 }

    /// By how much work has gone beyond the share: at most by its last step.
    package var overdraft: Int { max(0, -left) }
}
