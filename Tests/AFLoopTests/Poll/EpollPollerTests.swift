import AFBase
import CAFLinux
import Glibc
import Testing

@testable import AFLoop

@Suite("Epoll")
struct EpollPollerTests {
    @Test func `T-RES-26 whatever the kernel reports is a read, a write or both, in all 32 combinations`() async {
        await #expect(processExitsWith: .success) {
            let poller = EpollPoller()
            caf_set_hook { call in
                guard let call, call.pointee.call == CAF_CALL_EPOLL_WAIT else { return false }
                call.pointee.events[0] = Report.next.withLock { $0 }
                call.pointee.result = 1
                return true
            }
            let bits = [EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP, EPOLLRDHUP].map(\.rawValue)
            for combination in 0..<32 {
                let isSet = (0..<5).map { combination & (1 << $0) != 0 }
                let (comes, takes, isBroken, isOver, ends) = (isSet[0], isSet[1], isSet[2], isSet[3], isSet[4])
                let mask = zip(bits, isSet).reduce(0) { $1.1 ? $0 | $1.0 : $0 }
                Report.next.withLock { $0 = epoll_event(events: mask, data: epoll_data_t(u64: 7)) }

                var heard: [ReadyEvent] = []
                poller.poll(until: nil, into: &heard)

                var wanted: Readiness = []
                if comes || isBroken || isOver || ends { wanted.insert(.readable) }
                if takes || isBroken || isOver { wanted.insert(.writable) }
                if isBroken || isOver || ends { wanted.insert(.hangup) }
                #expect(heard.map(\.token) == [7] && heard.map(\.readiness) == [wanted], "\(combination)")
            }
            caf_set_hook(nil)
        }
    }

    @Test func `T-RES-28 what wakes a poller before its first poll is not lost`() {
        let poller = EpollPoller()
        poller.waker.wake()
        var heard: [ReadyEvent] = []
        let end = poller.now + .seconds(5)

        poller.poll(until: end, into: &heard)

        #expect(poller.now < end && heard.isEmpty)
    }

    @Test func `T-RES-28 a wake-up counter that is full still wakes`() throws {
        let poller = EpollPoller()
        let port = try #require(poller.waker as? WakePort)
        let descriptor = try port.open()
        var heard: [ReadyEvent] = []
        poller.poll(until: poller.now, into: &heard)
        var most = UInt64.max - 1
        #expect(write(descriptor, &most, 8) == 8)
        // That was an edge as well.
        poller.poll(until: poller.now + .seconds(5), into: &heard)
        let quiet = poller.now + .milliseconds(5)
        poller.poll(until: quiet, into: &heard)
        #expect(poller.now >= quiet)

        port.wake()
        let end = poller.now + .seconds(5)
        poller.poll(until: end, into: &heard)

        #expect(poller.now < end && heard.isEmpty)
    }
}

/// What a hook, which can capture nothing, has the kernel report.
private enum Report {
    static let next = Lock(epoll_event())
}
