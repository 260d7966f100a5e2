import AFFaults
import CAFLinux
import Glibc
import Testing

@testable import AFLoop

@Suite("Changes of the network")
struct NetlinkTests {
    private final class Client: ChangeMonitorClient {
        private(set) var changes = 0

        func networkChanged() {
            changes += 1
        }
    }

    /// A monitor on a clock that jumps, with a socket whose readiness the test makes up.
    private final class Bench {
        let poller = StillPoller()
        let client = Client()
        let loop: EventLoop
        let monitor: NetlinkMonitor
        let ticket: Int

        init() {
            let poller = poller
            loop = EventLoop(poller: poller)
            monitor = NetlinkMonitor(loop: loop)
            ticket = monitor.watch(for: client)
        }

        /// The socket is said to be readable, and nothing else happens.
        func makeReadable() {
            poller.events = poller.registered.values.map { ReadyEvent(token: $0, readiness: .readable) }
            loop.runTurn(until: poller.now)
        }

        /// Time goes on to the next deadline.
        func passTime() -> Duration {
            let before = poller.now
            // One turn to wait, one to fire.
            loop.runTurn(until: before + .seconds(3600))
            loop.runTurn(until: poller.now)
            return before.duration(to: poller.now)
        }
    }

    @Test func `a socket is open only while the monitor has a client`() {
        let loop = EventLoop(poller: EpollPoller())
        let monitor = NetlinkMonitor(loop: loop)
        let clients = (0..<3).map { _ in Client() }
        #expect(!monitor.isOpen)

        let tickets = clients.map { monitor.watch(for: $0) }
        #expect(Set(tickets).count == 3)
        #expect(loop.registeredChannels == (monitor.isOpen ? 1 : 0))
        for ticket in tickets { monitor.unwatch(ticket) }
        loop.runTurn(until: loop.now)

        #expect(!monitor.isOpen)
        #expect(loop.registeredChannels == 0 && loop.armedTimers == 0)
    }

    @Test func `where netlink is refused no client is told, and nothing breaks`() async {
        await #expect(processExitsWith: .success) {
            let loop = EventLoop(poller: EpollPoller())
            let monitor = NetlinkMonitor(loop: loop)
            let client = Client()
            for call in [CAF_CALL_SOCKET, CAF_CALL_BIND] {
                await FaultInjector.enumerate(.fails(EPERM), of: call, limit: 1) { _ in
                    let ticket = monitor.watch(for: client)
                    precondition(!monitor.isOpen)
                    monitor.unwatch(ticket)
                }
            }
            precondition(loop.registeredChannels == 0)
        }
    }

    @Test("messages that were lost are a change, T-NET-01")
    func overflow() async {
        await #expect(processExitsWith: .success) {
            await FaultInjector.enumerate(.fails(ENOBUFS), of: CAF_CALL_RECV, limit: 1) { _ in
                let bench = Bench()
                bench.makeReadable()
                precondition(bench.client.changes == 0 && bench.monitor.isOpen)
                precondition(bench.passTime() == .milliseconds(200))
                precondition(bench.client.changes == 1)
                bench.monitor.unwatch(bench.ticket)
                bench.loop.runTurn(until: bench.poller.now)
            }
            precondition(FaultInjector.badCloses == 0)
        }
    }

    @Test("a socket that breaks, or says nothing for ever, is opened anew after a while, T-NET-13")
    func broken() async {
        await #expect(processExitsWith: .success) {
            for code in [0, EIO, EBADF, ENOMEM] {
                await FaultInjector.enumerate(.fails(code), of: CAF_CALL_RECV, limit: 1) { _ in
                    let bench = Bench()
                    bench.makeReadable()
                    precondition(!bench.monitor.isOpen && bench.loop.registeredChannels == 0)
                    // Something may have been missed.
                    precondition(bench.passTime() == .milliseconds(200) && bench.client.changes == 1)
                    precondition(bench.passTime() == .milliseconds(800))
                    precondition(bench.monitor.isOpen && bench.loop.registeredChannels == 1)
                    precondition(bench.passTime() == .milliseconds(200) && bench.client.changes == 2)
                    bench.monitor.unwatch(bench.ticket)
                    bench.loop.runTurn(until: bench.poller.now)
                    precondition(bench.loop.armedTimers == 0 && bench.loop.registeredChannels == 0)
                }
            }
            // Nothing there: nothing has happened.
            await FaultInjector.enumerate(.fails(EAGAIN), of: CAF_CALL_RECV, limit: 1) { _ in
                let bench = Bench()
                bench.makeReadable()
                precondition(bench.monitor.isOpen && bench.loop.armedTimers == 0)
                bench.monitor.unwatch(bench.ticket)
                bench.loop.runTurn(until: bench.poller.now)
            }
        }
    }

    @Test("where netlink is refused it is tried again, and more and more seldom, T-NET-09")
    func refusedForNow() async {
        await #expect(processExitsWith: .success) {
            var bench: Bench?
            await FaultInjector.enumerate(.fails(EPERM), of: CAF_CALL_SOCKET, limit: 1) { _ in bench = Bench() }
            guard let bench else { preconditionFailure("no bench") }
            precondition(!bench.monitor.isOpen && bench.client.changes == 0)

            precondition(bench.passTime() == .seconds(1) && bench.monitor.isOpen)
            precondition(bench.passTime() == .milliseconds(200) && bench.client.changes == 1)
            bench.monitor.unwatch(bench.ticket)
            bench.loop.runTurn(until: bench.poller.now)
            precondition(bench.loop.armedTimers == 0 && bench.loop.registeredChannels == 0)
        }
    }

    @Test func `the loopback interface is no modem, and neither is one that does not exist`() throws {
        let address = try #require(SocketAddress(ipv4: "127.0.0.1", port: 80))

        #expect(!address.isReachedByCellular)
        #expect(!caf_is_cellular(0) && !caf_is_cellular(-1) && !caf_is_cellular(Int32.max))
    }
}
