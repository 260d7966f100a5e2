import CAFLinux
import Synchronization

/// The process's one network thread.
///
/// It starts on first use, lives as long as the process, and carries every
/// connection, timer and task of every session. Its loop is kept alive by the wake
/// port, as AFNetworking's was by a Mach port.
package enum NetworkThread {
    package static let name = "AFNetworking"

    /// As much as a main thread has, for callbacks that are made here. The engine itself
    /// needs a few KiB, and only what is used takes memory.
    private static let stackSize = 8 << 20

    package static let loop = EventLoop(poller: EpollPoller())

    private static let state = Atomic(State.notStarted)

    private enum State: UInt8, AtomicRepresentable {
        case notStarted
        case starting
        case running
    }

    /// True in a child made by `fork` without `exec`: our thread stayed behind in
    /// the parent, and the connections belong to the parent.
    package static var isLostToFork: Bool { caf_is_forked_child() }

    /// Starts the thread unless it runs. Throws if the system has none to give; a
    /// later call tries again.
    package static func ensureRunning() throws(SystemCallError) {
        guard state.load(ordering: .acquiring) == .notStarted else { return }
        guard state.compareExchange(expected: .notStarted, desired: .starting, ordering: .acquiring).exchanged else {
            return  // Somebody else is at it. Jobs wait in the inbox meanwhile.
        }
        caf_watch_forks()
        let reference = Unmanaged.passRetained(loop).toOpaque()
        let result = caf_start_thread(name, stackSize, runNetworkThread, reference)
        guard result == 0 else {
            Unmanaged<EventLoop>.fromOpaque(reference).release()
            state.store(.notStarted, ordering: .releasing)
            throw SystemCallError(.thread, code: -result)
        }
        state.store(.running, ordering: .releasing)
    }
}

private func runNetworkThread(_ reference: UnsafeMutableRawPointer?) {
    guard let reference else { return }
    Unmanaged<EventLoop>.fromOpaque(reference).takeRetainedValue().runForever()
}
