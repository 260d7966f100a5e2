import CAFLinux

/// The process's one network thread.
///
/// It starts on first use, lives as long as the process, and carries every
/// connection, timer and task of every session. Its loop is kept alive by the wake
/// port, as AFNetworking's was by a Mach port.
package enum NetworkThread {
    package static let name = "AFNetworking"

    /// Room for deep user hooks; the engine itself needs a few KiB.
    private static let stackSize = 1 << 20

    package static let loop: EventLoop = {
        caf_watch_forks()
        let loop = EventLoop(poller: EpollPoller())
        start(loop)
        return loop
    }()

    /// True in a child made by `fork` without `exec`: our thread stayed behind in
    /// the parent, and the connections belong to the parent.
    package static var isLostToFork: Bool { caf_is_forked_child() }

    private static func start(_ loop: EventLoop) {
        let reference = Unmanaged.passRetained(loop).toOpaque()
        // A process that may not have one more thread now may have it later; the
        // jobs wait in the inbox meanwhile.
        while caf_start_thread(name, stackSize, runNetworkThread, reference) < 0 {
            caf_sleep_nanoseconds(10_000_000)
        }
    }
}

private func runNetworkThread(_ reference: UnsafeMutableRawPointer?) {
    guard let reference else { return }
    Unmanaged<EventLoop>.fromOpaque(reference).takeRetainedValue().runForever()
}
