import Dispatch
import Foundation

/// Tells the programmer, once and in debug builds only, that completion handlers wait for a main queue that nobody serves.
final class BlockedMainQueueWarning: Sendable {
    static let shared = BlockedMainQueueWarning()

    private static let patience = DispatchTimeInterval.seconds(5)

    private enum Stage {
        case unused
        case waiting
        case over
    }

    private let stage = Lock(Stage.unused)

    /// A completion handler is given to the main queue.
    func willCall() {
        #if DEBUG
            let isFirst = stage.withLock { stage in
                guard stage == .unused else { return false }
                stage = .waiting
                return true
            }
            guard isFirst else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + BlockedMainQueueWarning.patience) { [self] in
                guard stage.withLock({ $0 == .waiting }) else { return }
                FileHandle.standardError.write(Data(BlockedMainQueueWarning.text.utf8))
            }
        #endif
    }

    /// The main queue is served.
    func calls() {
        #if DEBUG
            stage.withLock { $0 = .over }
        #endif
    }

    private static let text = """
        AFNetworking: a completion handler has waited for the main queue for five seconds, and nobody serves that \
        queue. Set the manager's completionQueue to another one, use the async methods, or let the main thread run \
        dispatchMain() or a run loop.

        """
}
