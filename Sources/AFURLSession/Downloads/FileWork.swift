import AFBase
import AFLoop
import AFTransport

/// Works on a file for the loop. Nothing here waits: the worker does the jobs in order, and their results come back to
/// the loop.
final class FileWork<Store: Sendable>: Sendable {
    /// A worker of its own, so that a disk that hangs holds up no other download.
    let worker: any BlockingWorker
    private let loop: EventLoop
    let store: Lock<Store>

    init(_ store: Store, world: World) {
        worker = world.workers.ownWorker("AFURLSession.download")
        loop = world.loop
        self.store = Lock(store)
    }

    /// Does work on the file, then calls `finished` on the loop with its result.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable (inout Store) -> Value,
        then finished: @escaping @Sendable (Value) -> Void
    ) {
        worker.run { [store, loop] in
            let value = store.withLock(work)
            loop.enqueue(in: .all) { finished(value) }
        }
    }
}

/// The file of a download.
typealias DownloadFile = FileWork<DownloadStore>

extension FileWork<DownloadStore> {
    convenience init(in place: DownloadPlace, world: World) {
        self.init(DownloadStore(in: place), world: world)
    }

    /// Removes the file, after the work under way.
    ///
    /// - Parameter withPart: Whether a part of it that was kept is removed too.
    func discard(withPart: Bool = false) {
        worker.run { [store] in
            store.withLock { store in
                if withPart { store.discardPart() }
                store.discard()
            }
        }
    }

    /// Lets go of the part, which the same resume data may resume another time.
    func putBack() {
        worker.run { [store] in
            store.withLock { store in _ = store.keep { $0 } }
        }
    }

    /// Removes the complete file, unless it was moved.
    func remove(_ file: PublishedFile) {
        worker.run { file.removeIfThere() }
    }
}
