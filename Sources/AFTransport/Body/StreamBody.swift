import AFBase
package import AFLoop
import Foundation

/// A stream of the caller's. A worker reads it while it is sent, at most 256 KiB ahead.
///
/// If the head announces its length, the last byte leaves only when the stream has ended: the server gets as many bytes
/// as announced, or sees the connection close.
package final class StreamBody: BodySource {
    @exclusivity(unchecked) package var client: (any BodyClient)?
    private let announced: Int64?
    private let provider: any StreamProvider
    private let loop: EventLoop
    @exclusivity(unchecked) private var pump: StreamPump
    @exclusivity(unchecked) private var worker: any BlockingWorker
    @exclusivity(unchecked) private var sent: Int64 = 0
    @exclusivity(unchecked) private var isFilling = false
    @exclusivity(unchecked) private var isAwaited = false
    @exclusivity(unchecked) private var isClosed = false

    private init(pump: StreamPump, worker: any BlockingWorker, announced: Int64?, provider: any StreamProvider) {
        self.pump = pump
        self.worker = worker
        self.announced = announced
        self.provider = provider
        loop = provider.platform.loop
    }

    /// Opens the stream on a worker of its own.
    ///
    /// - Parameter announced: The length that the head announces, if it does.
    package static func open(
        _ stream: HandedStream,
        announced: Int64?,
        provider: any StreamProvider,
        done: @escaping (Result<StreamBody, BodyFailure>) -> Void
    ) {
        begin(stream, announced: announced, provider: provider) { pump, worker, failure in
            done(
                failure.map(Result.failure)
                    ?? .success(StreamBody(pump: pump, worker: worker, announced: announced, provider: provider))
            )
        }
    }

    private static func begin(
        _ stream: HandedStream,
        announced: Int64?,
        provider: any StreamProvider,
        done: @escaping (StreamPump, any BlockingWorker, BodyFailure?) -> Void
    ) {
        let pump = StreamPump(stream, announced: announced)
        let worker = provider.platform.workers.ownWorker("AFURLSession.stream")
        let loop = provider.platform.loop
        let bound = LoopBound(confined: done, on: loop)
        worker.run {
            let failure = pump.begin()
            loop.enqueue { bound.value(pump, worker, failure) }
        }
    }

    package func next() -> BodyStep {
        let (isAtEnd, failure) = pump.progress
        if let failure { return .failed(failure) }
        if !isAtEnd { refill() }
        if readyCount(isAtEnd) > 0 { return .ready }
        if isAtEnd { return .end }
        isAwaited = true
        return .waiting
    }

    private func readyCount(_ isAtEnd: Bool) -> Int {
        guard let announced, !isAtEnd else { return pump.ring.count }
        return Int(min(Int64(pump.ring.count), announced - sent - 1))
    }

    package func withReady(_ take: (UnsafeRawBufferPointer) -> ChannelWrite) -> ChannelWrite {
        let limit = readyCount(pump.progress.isAtEnd)
        return take(UnsafeRawBufferPointer(rebasing: pump.ring.ready.prefix(max(0, limit))))
    }

    package func consume(_ count: Int) {
        sent += Int64(count)
        pump.ring.taken(count)
    }

    private func refill() {
        guard !isFilling, pump.ring.count <= StreamPump.capacity / 4 else { return }
        isFilling = true
        pump.ring.restartIfEmpty()
        let bound = LoopBound(confined: self, on: loop)
        // A quick stream fills the ring before the worker wakes the loop, or while the loop yields: on a shared core
        // they would otherwise take turns with every piece. If the stream blocks, what it gave before waits for the
        // length of a nap.
        worker.run { [pump, loop] in
            loop.batchingWakes {
                pump.fill { loop.enqueue { bound.value.news(of: pump) } }
                loop.enqueue { bound.value.filled(pump) }
            }
        }
        loop.expectEcho()
    }

    private func filled(_ pump: StreamPump) {
        guard pump === self.pump else { return }
        isFilling = false
        news(of: pump)
    }

    private func news(of pump: StreamPump) {
        guard pump === self.pump, isAwaited else { return }
        isAwaited = false
        client?.bodyReady()
    }

    package var mayReplay: Bool { sent == 0 || provider.maySupplyStreams }

    package func rewind(_ done: @escaping (BodyFailure?) -> Void) {
        // Nothing was sent: the ring still holds what the worker read ahead.
        guard sent > 0 else { return done(nil) }
        letGo()
        provider.supplyStream { [self] stream in
            guard !isClosed else { return }
            guard let stream else { return done(.exhausted) }
            StreamBody.begin(stream, announced: announced, provider: provider) { [self] pump, worker, failure in
                (self.pump, self.worker) = (pump, worker)
                (sent, isFilling, isAwaited) = (0, false, false)
                if isClosed { letGo() } else { done(failure) }
            }
        }
    }

    package func close() {
        client = nil
        isAwaited = false
        guard !isClosed else { return }
        isClosed = true
        letGo()
    }

    /// The worker closes the stream, after a read that is under way.
    private func letGo() {
        pump.abandon()
        worker.run { [pump] in pump.close() }
    }
}

/// Supplies a stream when a body needs one.
package protocol StreamProvider: AnyObject {
    var platform: Platform { get }
    /// There is a delegate that can supply one.
    var maySupplyStreams: Bool { get }
    /// Calls back once, in a later turn.
    func supplyStream(_ done: @escaping (HandedStream?) -> Void)
}
