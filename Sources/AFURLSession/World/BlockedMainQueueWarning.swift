import AFBase
import Dispatch
import Foundation

/// Tells the programmer, once and in debug builds only, that completion handlers wait for a main queue that no thread
/// serves.
package final class BlockedMainQueueWarning: Sendable {
    static let shared = BlockedMainQueueWarning { check in
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(5), execute: check)
    } say: { text in
        // If standard error is closed, the warning is lost.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    private enum Stage {
        case unused
        case waiting
        case over
    }

    private let stage = Lock(Stage.unused)
    private let later: @Sendable (_ check: @escaping @Sendable () -> Void) -> Void
    private let say: @Sendable (String) -> Void

    /// - Parameters:
    ///   - later: Calls the check after a time in which a served main queue would have called the handler.
    ///   - say: Shows a text to the programmer.
    package init(
        later: @escaping @Sendable (_ check: @escaping @Sendable () -> Void) -> Void,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.later = later
        self.say = say
    }

    /// Called when a completion handler is enqueued on the main queue.
    package func willCall() {
        #if DEBUG
            let isFirst = stage.withLock { stage in
                guard stage == .unused else { return false }
                stage = .waiting
                return true
            }
            guard isFirst else { return }
            later { [self] in
                if stage.withLock({ $0 == .waiting }) { say(Self.text) }
            }
        #endif
    }

    /// Called on the main queue: a thread serves it.
    package func calls() {
        #if DEBUG
            stage.withLock { $0 = .over }
        #endif
    }

    private static let text = """
        AFNetworking: a completion handler has waited for the main queue for five seconds, and no thread serves that \
        queue. Set the completionQueue of the manager or operation to another one, use the async methods, or let the \
        main thread run dispatchMain() or a run loop.

        """
}
