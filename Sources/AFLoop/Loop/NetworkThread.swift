import AFBase
import CAFLinux
import Synchronization

/// The process's one network thread.
///
/// It starts on first use, lives as long as the process, and carries every connection, timer and task of every session.
/// Its loop is kept alive by the wake port, as AFNetworking's was by a Mach port.
package enum NetworkThread {
    package static let name = "AFNetworking"

    /// As much as a main thread has, for callbacks that are made here. The engine itself
    /// needs a few KiB, and only what is used takes memory.
    private static let stackSize = 8 << 20

    package static let loop = EventLoop(poller: EpollPoller())

    /// Asked first, since it takes no lock.
    private static let isRunning = Atomic(false)
    /// Whether it was started. Held while it is: who comes second learns how that ended.
    private static let wasStarted = Lock(false)

    /// True in a child made by `fork` without `exec`: our thread stayed behind in
    /// the parent, and the connections belong to the parent.
    package static var isLostToFork: Bool { caf_is_forked_child() }

    /// Starts the thread unless it runs. Throws if the system has none to give; a later call tries again.
    package static func ensureRunning() throws(SystemCallError) {
        guard !isRunning.load(ordering: .acquiring) else { return }
        let result = wasStarted.withLock { wasStarted -> Int32 in
            guard !wasStarted else { return 0 }
            let result = start()
            wasStarted = result == 0
            return result
        }
        guard result == 0 else { throw SystemCallError(.thread, code: -result) }
        isRunning.store(true, ordering: .releasing)
    }

    /// 0, or -errno.
    private static func start() -> Int32 {
        caf_watch_forks()
        let reference = Unmanaged.passRetained(loop).toOpaque()
        let result = caf_start_thread(name, stackSize, runNetworkThread, reference)
        if result != 0 { Unmanaged<EventLoop>.fromOpaque(reference).release() }
        return result
    }
}

private func runNetworkThread(_ reference: UnsafeMutableRawPointer?) {
    guard let reference else { return }
    Unmanaged<EventLoop>.fromOpaque(reference).takeRetainedValue().serve { false }
}
