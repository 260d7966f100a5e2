import AFBase
import AFLoop
import AFTransport

/// The door from the loop to the file of a download. Nothing here waits: jobs are done
/// in order, away from the loop, and their results come back to it.
final class DownloadFile: Sendable {
    /// Its own: one disk that hangs holds up nobody else.
    private let worker: any BlockingWorker
    private let loop: EventLoop
    private let store: Lock<DownloadStore>

    init(in parent: String, world: World) {
        worker = world.workers.ownWorker("AFURLSession.download")
        loop = world.loop
        store = Lock(DownloadStore(in: parent))
    }

    /// Does something with the file, then `finished` on the loop with what came of it.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable (inout DownloadStore) -> Value,
        then finished: @escaping @Sendable (Value) -> Void
    ) {
        worker.run { [store, loop] in
            let value = store.withLock(work)
            loop.enqueue(in: .all) { finished(value) }
        }
    }

    /// Removes the file, after what is under way.
    ///
    /// - Parameter withPart: Also a part of it that was kept.
    func discard(withPart: Bool = false) {
        worker.run { [store] in
            store.withLock { store in
                if withPart { store.discardPart() }
                store.discard()
            }
        }
    }

    /// Removes the complete file, unless it was moved.
    func remove(_ file: PublishedFile) {
        worker.run { file.removeIfThere() }
    }
}
