import AFLoop
import Foundation

/// The place where a connection calls its delegate, and how the network thread reaches it.
///
/// The connection holds it, and so none of them holds the connection; a weak reference costs a table beside the connection,
/// through which each count goes.
enum DeliveryPlace: Sendable {
    case networkThread(LoopModes)
    case queue(OperationQueue)
    case runLoop(RunLoopScheduler)

    /// Whether the code that runs now is there.
    func isHere(in world: World) -> Bool {
        if case .networkThread(let modes) = self { world.loop.isRunning(in: modes) } else { false }
    }

    /// Makes the connection deliver there, once or more, at a time when no code of it runs. From any thread.
    ///
    /// - Parameter schedule: The number of this schedule: the connection may have another by then.
    func wake(_ core: ConnectionCore, for schedule: Int, in world: World) {
        switch self {
        case .networkThread(let modes):
            // Without a network thread there is only the caller's.
            guard world.unavailability() == nil else { return core.deliver(for: schedule) }
            world.loop.enqueue(in: modes) { core.deliver(for: schedule) }
        case .queue(let queue): queue.addOperation(CallbackOperation(block: { core.deliver(for: schedule) }))
        case .runLoop(let scheduler): scheduler.wake(core)
        }
    }

    /// The connection needs it no longer.
    func close() {
        if case .runLoop(let scheduler) = self { scheduler.close() }
    }
}
