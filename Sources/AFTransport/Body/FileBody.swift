package import AFLoop

/// A file, read piece by piece while it is sent.
///
/// What lies in the page cache is read right where it is sent from, which costs no
/// change of threads; the kernel says when that would mean waiting for the disk, and
/// then a worker reads ahead. The last piece is always a worker's: it is handed out
/// only if the file is still what was announced, so that a server never gets a
/// complete body that is none.
package final class FileBody: BodySource {
    @exclusivity(unchecked) package var client: (any BodyClient)?
    private let worker: any BlockingWorker
    private let loop: EventLoop
    @exclusivity(unchecked) private var pass: FilePass
    @exclusivity(unchecked) private var isFilling = false
    /// The client waits to be told.
    @exclusivity(unchecked) private var isAwaited = false
    @exclusivity(unchecked) private var isClosed = false

    /// - Parameter pass: With what was read when the file was opened.
    package init(_ pass: FilePass, _ worker: any BlockingWorker, on loop: EventLoop) {
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
        // As for streams: one wake-up for what the worker finds at hand.
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

    /// The file is still open, and its identity is looked at before its first byte is
    /// read again.
    package func rewind(_ done: @escaping (BodyFailure?) -> Void) {
        pass.abandon()
        pass = pass.anew()
        isFilling = false
        isAwaited = false
        done(nil)
    }

    /// The worker closes the file, behind a read that is under way: some file systems have
    /// that wait too.
    package func close() {
        client = nil
        isAwaited = false
        guard !isClosed else { return }
        isClosed = true
        pass.abandon()
        worker.run { [pass] in pass.close() }
    }
}
