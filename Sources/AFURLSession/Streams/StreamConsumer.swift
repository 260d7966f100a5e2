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
    var caching: ResponseCaching { .always }

    init(_ mailbox: StreamMailbox) {
        self.mailbox = mailbox
    }

    func receivedResponse(_ response: URLResponse, of load: Load) {
        resume(mailbox.receive(response), of: load)
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        let loan = load.session.world.readBuffer.value.lend(bytes)
        let piece = loan.map(StreamPiece.init) ?? StreamPiece(copying: bytes)
        let (waiters, isFull) = mailbox.add(piece, leaving: StreamConsumer.highWater - load.longestPiece)
        if isFull { load.pause(.backPressure) }
        resume(waiters, of: load)
    }

    func completed(_ error: (any Error)?, of load: Load) {
        guard load.announcesMetrics else { return resume(mailbox.end(error), of: load) }
        // Readers look into the mailbox themselves: the end must not be there before the metrics.
        load.resumptions.post(.block { [mailbox] in for waiter in mailbox.end(error) { waiter.resume() } })
    }

    private func resume(_ waiters: [UnsafeContinuation<Void, Never>], of load: Load) {
        guard !waiters.isEmpty else { return }
        load.session.resumptions.post(.block { for waiter in waiters { waiter.resume() } })
    }
}
