import AFLoop
import Foundation

/// Puts a body into a mailbox, piece by piece, and makes the server wait when that is full.
///
/// The mailbox never holds more than `StreamConsumer.highWater`: reading stops as soon as one more piece of the longest
/// kind might not fit. A read fills 256 KiB at most, so the loop reads a body without coding once each time the reader
/// comes for more; meanwhile the kernel collects.
final class StreamConsumer: TaskConsumer {
    static let highWater = 256 << 10

    private let mailbox: StreamMailbox

    var isHolding: Bool { false }

    init(_ mailbox: StreamMailbox) {
        self.mailbox = mailbox
    }

    func receivedResponse(_ response: URLResponse, of core: Load) {
        resume(mailbox.receive(response), of: core)
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer, of core: Load) {
        let loan = core.session.world.readBuffer.value.lend(bytes)
        let piece = loan.map(StreamPiece.init) ?? StreamPiece(copying: bytes)
        let (waiters, isFull) = mailbox.add(piece, leaving: StreamConsumer.highWater - core.longestPiece)
        if isFull { core.pause(.backPressure) }
        resume(waiters, of: core)
    }

    func completed(_ error: (any Error)?, of core: Load) {
        guard core.announcesMetrics else { return resume(mailbox.end(error), of: core) }
        // Readers look into the mailbox themselves: the end must not be there before the metrics.
        core.resumptions.post(.block { [mailbox] in for waiter in mailbox.end(error) { waiter.resume() } })
    }

    private func resume(_ waiters: [UnsafeContinuation<Void, Never>], of core: Load) {
        guard !waiters.isEmpty else { return }
        core.session.resumptions.post(.block { for waiter in waiters { waiter.resume() } })
    }
}
