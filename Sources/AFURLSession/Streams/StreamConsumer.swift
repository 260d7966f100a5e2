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
    /// What the reader expects; nil if it takes any response.
    private let content: ResponseRefusal.Content?
    /// Whether the connection takes none of the places that the host has, once the response is the expected one.
    private let isApart: Bool
    /// In place of the mailbox, if the response is another one.
    private var refused: RefusedBody?

    var isHolding: Bool { false }
    /// No program asks for the events of the past, and the page at the same URL is another response.
    var caching: ResponseCaching { content == .events ? .apart : .always }

    init(mailbox: StreamMailbox, expecting content: ResponseRefusal.Content?, isApart: Bool) {
        self.mailbox = mailbox
        self.isApart = isApart
        self.content = content
    }

    func receivedResponse(_ response: URLResponse, of load: Load) {
        if let content, let response = response as? HTTPURLResponse, let cause = content.objection(to: response) {
            refused = RefusedBody(response: response, cause: cause, for: content, of: load)
        } else {
            if isApart { load.transfer?.holdConnectionApart() }
            resume(mailbox.receive(response), of: load)
        }
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        if let refused { return refused.receive(bytes) }
        let loan = load.session.world.readBuffer.value.lend(bytes)
        let piece = loan.map(StreamPiece.init) ?? StreamPiece(copying: bytes)
        let (waiters, isFull) = mailbox.add(piece, leaving: StreamConsumer.highWater - load.longestPiece)
        if isFull { load.pause(.backPressure) }
        resume(waiters, of: load)
    }

    func receivedEnd(of load: Load) {
        if let refused { load.fail(refused.error(isComplete: true)) }
    }

    func settle(_ error: LoadError, reported: URLError, of load: Load) -> Bool {
        guard let refusal = refused?.replacing(error) else { return false }
        load.end(load.urlError(refusal))
        return true
    }

    func completed(_ error: (any Error)?, of load: Load) -> Bool {
        refused?.stop(on: load.session.loop)
        guard load.delegateGoesFirst else {
            resume(mailbox.end(error), of: load)
            return false
        }
        // Readers look into the mailbox themselves: the end must not be there before the metrics.
        load.resumptions.post(.block { [mailbox] in for waiter in mailbox.end(error) { waiter.resume() } })
        return false
    }

    private func resume(_ waiters: [UnsafeContinuation<Void, Never>], of load: Load) {
        guard !waiters.isEmpty else { return }
        load.session.resumptions.post(.block { for waiter in waiters { waiter.resume() } })
    }
}
