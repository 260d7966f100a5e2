import CAFLinux

/// The kernel's clock and epoll.
///
/// Where the process has no descriptors left for epoll itself, the poller still keeps time: it naps, tries again, and
/// refuses registrations meanwhile with the error the kernel gave. So a program at its limit gets errors, not a hang.
package final class EpollPoller: Poller {
    private static let capacity = 256
    private static let wakeToken = PollToken.max
    private static let napNanoseconds: Int64 = 5_000_000

    package let waker: any Waker
    private let wakePort: WakePort
    @exclusivity(unchecked) private var epoll: Int32 = -1
    @exclusivity(unchecked) private var latest = LoopInstant(nanoseconds: 0)
    private let events: UnsafeMutablePointer<caf_event>

    package init() {
        events = .allocate(capacity: EpollPoller.capacity)
        events.initialize(repeating: caf_event(), count: EpollPoller.capacity)
        wakePort = WakePort()
        waker = wakePort
    }

    deinit {
        if epoll >= 0 { _ = caf_close(epoll) }
        events.deallocate()
    }

    package var now: LoopInstant {
        let nanoseconds = caf_monotonic_nanoseconds()
        // A clock that fails stands still rather than jumping back.
        if nanoseconds >= 0 { latest = max(latest, LoopInstant(nanoseconds: nanoseconds)) }
        return latest
    }

    package func add(_ descriptor: Int32, token: PollToken) throws(SystemCallError) {
        try open()
        let result = caf_epoll_add(epoll, descriptor, token)
        if result < 0 { throw SystemCallError(.epollControl, code: -result) }
    }

    package func remove(_ descriptor: Int32) {
        if epoll >= 0 { _ = caf_epoll_remove(epoll, descriptor) }
    }

    package func poll(until deadline: LoopInstant?, into ready: inout [ReadyEvent]) {
        let hadPort = epoll >= 0
        guard (try? open()) != nil else { return nap(until: deadline) }
        // Without the port, nothing could wake the loop: what came before it was there must not wait.
        let wait = hadPort ? milliseconds(until: deadline) : 0
        let count = caf_epoll_wait(epoll, events, Int32(EpollPoller.capacity), wait)
        for index in 0..<max(0, Int(count)) where events[index].token != EpollPoller.wakeToken {
            let event = events[index]
            ready.append(ReadyEvent(token: event.token, readiness: Readiness(rawValue: event.readiness)))
        }
    }

    private func open() throws(SystemCallError) {
        guard epoll < 0 else { return }
        let wake = try wakePort.open()
        let created = caf_epoll_create()
        guard created >= 0 else { throw SystemCallError(.epollCreate, code: -created) }
        let added = caf_epoll_add(created, wake, EpollPoller.wakeToken)
        guard added >= 0 else {
            _ = caf_close(created)
            throw SystemCallError(.epollControl, code: -added)
        }
        epoll = created
    }

    /// Rounded up: a timer woken a fraction early would only send the loop round again with nothing to do.
    private func milliseconds(until deadline: LoopInstant?) -> Int32 {
        guard let deadline else { return -1 }
        guard deadline > latest else { return 0 }
        let remaining = now.nanoseconds(to: deadline)
        guard remaining > 0 else { return 0 }
        return Int32(clamping: remaining / 1_000_000 + (remaining % 1_000_000 == 0 ? 0 : 1))
    }

    private func nap(until deadline: LoopInstant?) {
        let remaining = deadline.map { now.nanoseconds(to: $0) } ?? .max
        if remaining > 0 { caf_sleep_nanoseconds(min(remaining, EpollPoller.napNanoseconds)) }
    }
}
