import CAFLinux
import Synchronization

/// The eventfd that keeps the network thread's loop alive and wakes it.
///
/// It is registered edge-triggered, so every signal is an event of its own and the counter is never read.
final class WakePort: Waker {
    private let descriptor = Atomic<Int32>(-1)

    /// Loop only: opens the descriptor on first use.
    func open() throws(SystemCallError) -> Int32 {
        let current = descriptor.load(ordering: .relaxed)
        guard current < 0 else { return current }
        let created = caf_eventfd()
        guard created >= 0 else { throw SystemCallError(.eventfd, code: -created) }
        descriptor.store(created, ordering: .releasing)
        return created
    }

    func wake() {
        let current = descriptor.load(ordering: .acquiring)
        // Without a port the poller naps and looks at the inbox by itself.
        if current >= 0 { _ = caf_eventfd_signal(current) }
    }

    deinit {
        let current = descriptor.load(ordering: .relaxed)
        if current >= 0 { _ = caf_close(current) }
    }
}
