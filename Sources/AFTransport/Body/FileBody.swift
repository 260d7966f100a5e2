package import AFLoop

/// A file, read piece by piece while it is sent.
///
/// The loop itself reads what lies in the page cache, which costs no change of threads. The kernel says when a read
/// would wait for the disk, and then a worker reads ahead. A worker always reads the last piece, and hands it out only
/// if the file is unchanged since its length was announced: a server never gets a changed file as a complete body.
package final class FileBody: BodySource {
    @exclusivity(unchecked) package var client: (any BodyClient)?
    private let worker: any BlockingWorker
    private let loop: EventLoop
    @exclusivity(unchecked) private var pass: FilePass
    @exclusivity(unchecked) private var isFilling = false
    /// The client waits for `bodyReady`.
    @exclusivity(unchecked) private var isAwaited = false
    @exclusivity(unchecked) private var isClosed = false

    /// - Parameter pass: Holds what the worker read when it opened the file.
    package init(pass: FilePass, worker: any BlockingWorker, on loop: EventLoop) {
        self.pass = pass
        self.worker = worker
        self.loop = loop
    }

    package func next() -> BodyStep {
        if !isFilling { refill() }
        switch pass.progress {
        case .failed(let failure): return .failed(failure)
        case .ready: return .ready
        case .complete: return .end
        case .empty:
            isAwaited = true
            return .waiting
        }
    }

    package func withReady(_ take: (UnsafeRawBufferPointer) -> ChannelWrite) -> ChannelWrite { take(pass.ring.ready) }

    package func consume(_ count: Int) {
        pass.ring.taken(count)
    }

    private func refill() {
        guard pass.wantsMore else { return }
        guard !pass.readWithoutWaiting() else { return }
        isFilling = true
        let bound = LoopBound(confined: self, on: loop)
        // As with streams: one wake-up of the loop for all that the worker can read in one go.
        worker.run { [pass, loop] in
            loop.batchingWakes {
                pass.fill { loop.enqueue { bound.value.news(of: pass) } }
                loop.enqueue { bound.value.filled(pass) }
            }
        }
        loop.expectEcho()
    }

    private func filled(_ pass: FilePass) {
        guard pass === self.pass else { return }
        isFilling = false
        news(of: pass)
    }

    private func news(of pass: FilePass) {
        guard pass === self.pass, isAwaited else { return }
        isAwaited = false
        client?.bodyReady()
    }

    package var mayReplay: Bool { true }

    /// The file is still open. Before the new pass reads its first byte, it checks that the file is unchanged.
    package func rewind(_ done: @escaping (BodyFailure?) -> Void) {
        pass.abandon()
        pass = pass.anew()
        isFilling = false
        isAwaited = false
        done(nil)
    }

    /// The worker closes the file, after a read that is under way: on some file systems closing blocks, too.
    package func close() {
        client = nil
        isAwaited = false
        guard !isClosed else { return }
        isClosed = true
        pass.abandon()
        worker.run { [pass] in pass.close() }
    }
}
