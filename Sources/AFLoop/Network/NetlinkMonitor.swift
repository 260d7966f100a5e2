import CAFLinux
import Glibc

/// Hears of changes from the kernel, by a netlink socket that is open as long as the monitor has clients.
///
/// What a message says is not looked at: it is enough that something has changed. So a message that was lost, cut short
/// or never understood is a change like any other. Changes come in bursts; clients hear of a burst once, when it is 200
/// ms old.
///
/// Where there is no netlink, or the socket breaks, it is tried again after 1, 2, 4 … 60 seconds. Meanwhile the clients
/// hear of no change, so a socket that opens at last counts as one.
package final class NetlinkMonitor: ChangeMonitor, TimerTarget {
    private static let burst = Duration.milliseconds(200)
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    private let loop: EventLoop
    private var clients = ChangeClients()
    private var socket: NetlinkSocket?
    /// Until the clients are told.
    private var burstTimer: TimerID?
    /// Until another socket is tried.
    private var openTimer: TimerID?
    private var pause = NetlinkMonitor.firstPause

    package init(loop: EventLoop) {
        self.loop = loop
    }

    package var isOpen: Bool { socket != nil }

    package func watch(for client: any ChangeMonitorClient) -> Int {
        let ticket = clients.add(client)
        // A client that comes while there is no socket tries at once.
        if socket == nil { open() }
        return ticket
    }

    package func unwatch(_ ticket: Int) {
        clients.remove(ticket)
        guard clients.isEmpty else { return }
        socket?.close()
        socket = nil
        for timer in [burstTimer, openTimer] {
            if let timer { loop.cancelTimer(timer) }
        }
        (burstTimer, openTimer) = (nil, nil)
        pause = NetlinkMonitor.firstPause
    }

    private func open() {
        socket = NetlinkSocket(of: self, on: loop)
        if socket == nil { openLater() }
    }

    private func openLater() {
        guard openTimer == nil, !clients.isEmpty else { return }
        openTimer = loop.startTimer(at: loop.now + pause, in: .all, for: self)
        pause = min(pause + pause, NetlinkMonitor.longestPause)
    }

    /// - Parameter isHealthy: The socket has said something.
    fileprivate func changed(isHealthy: Bool = true) {
        if isHealthy { pause = NetlinkMonitor.firstPause }
        if burstTimer == nil { burstTimer = loop.startTimer(at: loop.now + NetlinkMonitor.burst, in: .all, for: self) }
    }

    fileprivate func broke(_ socket: NetlinkSocket) {
        socket.close()
        guard self.socket === socket else { return }
        self.socket = nil
        openLater()
        changed(isHealthy: false)
    }

    package func timerFired(_ timer: TimerID) {
        guard timer == burstTimer else { return reopen() }
        burstTimer = nil
        for ticket in clients.tickets { clients[ticket]?.networkChanged() }
    }

    private func reopen() {
        openTimer = nil
        guard socket == nil else { return }
        open()
        if socket != nil { changed(isHealthy: false) }
    }
}

private final class NetlinkSocket: ChannelTarget, DeferredClosing {
    private static let readsPerTurn = 16

    private weak var monitor: NetlinkMonitor?
    private let loop: EventLoop
    private var descriptor: Int32
    private var token: PollToken = 0
    private var isOpen = true

    /// Nil if the system has none for us.
    init?(of monitor: NetlinkMonitor, on loop: EventLoop) {
        self.monitor = monitor
        self.loop = loop
        descriptor = caf_netlink_watch()
        guard descriptor >= 0 else {
            isOpen = false
            return nil
        }
        do throws(SystemCallError) {
            token = try loop.register(descriptor, for: self)
        } catch {
            isOpen = false
            _ = caf_close(descriptor)
            return nil
        }
    }

    func channelReady(_ readiness: Readiness) {
        guard isOpen, !readiness.isDisjoint(with: [.readable, .hangup]) else { return }
        for _ in 0..<NetlinkSocket.readsPerTurn {
            let result = caf_netlink_take_change(descriptor)
            switch result {
            case 0: break  // not from the kernel
            case -EAGAIN: return
            case 1, -ENOBUFS: monitor?.changed()
            default:
                monitor?.broke(self)
                return
            }
        }
        loop.deliverAgain(.readable, to: token)
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        loop.deregister(token, descriptor: descriptor)
        loop.deferClose(self)
    }

    func closeNow() {
        _ = caf_close(descriptor)
        descriptor = -1
    }
}
