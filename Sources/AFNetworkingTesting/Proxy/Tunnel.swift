import Glibc

/// Passes bytes both ways between a client and a target until both have ended their sides.
///
/// One thread waits in poll(2) for both sides, so that neither direction holds up the other. It reads from one side
/// at most `limit` bytes that the other side has not taken.
final class Tunnel {
    private static let limit = 256 * 1024

    private let stream: SocketStream
    private let client: ClientSide
    private let target: Upstream
    private let meter: TrafficMeter
    private let dribble: Delivery.Dribble?

    private var toTarget: ArraySlice<UInt8>
    private var fromTarget: ArraySlice<UInt8> = []
    private var clientEnded = false
    private var targetEnded = false
    private var targetIsDeaf = false
    private var hasShutTarget = false
    private var hasShutClient = false
    private var clientHungUp = false
    /// When the client gets the next bytes, if they dribble.
    private var nextDrop: MonotonicDeadline?

    /// - Parameter early: Bytes that the client sent before the tunnel was open.
    init(_ stream: SocketStream, to target: Upstream, early: [UInt8], meter: TrafficMeter, behaviour: ProxyBehaviour) {
        self.stream = stream
        self.target = target
        self.meter = meter
        client = ClientSide(stream)
        dribble = behaviour.dribble
        toTarget = early[...]
    }

    /// Runs until the tunnel ends.
    func run() throws(ConnectionEnd) -> Never {
        do throws(ConnectionEnd) {
            try pass()
        } catch {
            // The proxy passes a reset on to the other side.
            if error == .clientReset { target.armReset() }
            throw error
        }
    }

    private func pass() throws(ConnectionEnd) -> Never {
        // TLS may have decrypted the first bytes of the client already.
        try take(client.receiveBuffered())
        while true {
            try moveToTarget()
            try moveToClient()
            try actIfDue()
            try endSides()
            try wait()
        }
    }

    // MARK: - Both directions

    private func take(_ received: (bytes: [UInt8], isEnd: Bool)) {
        if !targetIsDeaf { toTarget += received.bytes }
        if received.isEnd { clientEnded = true }
    }

    private func moveToTarget() throws(ConnectionEnd) {
        let room = meter.room(for: toTarget.count, direction: .toTarget)
        if room > 0 {
            do throws(Upstream.Lost) {
                let count = try target.sendNow(toTarget.prefix(room))
                toTarget = toTarget.dropFirst(count)
                meter.note(count, direction: .toTarget)
            } catch {
                // The target may still send.
                targetIsDeaf = true
                toTarget = []
            }
        }
    }

    private func moveToClient() throws(ConnectionEnd) {
        if client.outgoing.isEmpty, !fromTarget.isEmpty, nextDrop?.pollTimeout ?? 0 == 0 {
            let wanted = min(fromTarget.count, dribble?.byteCount ?? 16 * 1024)
            let room = meter.room(for: wanted, direction: .toClient)
            try client.queue(fromTarget.prefix(room))
            fromTarget = fromTarget.dropFirst(room)
            meter.note(room, direction: .toClient)
            nextDrop = dribble.map { MonotonicDeadline(after: $0.interval) }
        }
        try client.sendNow()
    }

    /// Cuts once the client has got the bytes before the cut.
    private func actIfDue() throws(ConnectionEnd) {
        switch client.outgoing.isEmpty ? meter.dueAction : nil {
        case nil: return
        case .stall: try stream.waitForHangUp()
        case .close: throw .close
        case .reset:
            target.armReset()
            throw .reset
        }
    }

    private func endSides() throws(ConnectionEnd) {
        if clientEnded, toTarget.isEmpty, !hasShutTarget {
            hasShutTarget = true
            target.shutDownWriting()
        }
        if targetEnded, fromTarget.isEmpty, client.outgoing.isEmpty, !hasShutClient {
            hasShutClient = true
            stream.shutDownWriting()
        }
        guard hasShutClient, hasShutTarget || targetIsDeaf else { return }
        throw clientEnded ? .clientClosed : .close
    }

    // MARK: - Waiting

    private func wait() throws(ConnectionEnd) {
        try stream.checkRunning()
        var both = [pollfd(), pollfd()]
        both[0].events = clientEvents
        both[0].fd = clientHungUp && both[0].events == 0 ? -1 : stream.descriptor
        both[1].events = targetEvents
        both[1].fd = both[1].events == 0 ? -1 : target.descriptor
        let isHeld = client.outgoing.isEmpty && !fromTarget.isEmpty
        if isHeld, nextDrop == nil { return }
        guard poll(&both, 2, isHeld ? nextDrop?.pollTimeout ?? -1 : -1) >= 0 || errno == EINTR else {
            throw .clientReset
        }
        try stream.checkRunning()
        try look(at: both[0])
        try lookAtTarget(both[1])
    }

    private var clientEvents: Int16 {
        let wantsMore = !clientEnded && toTarget.count < Self.limit
        return (wantsMore ? Int16(POLLIN) : 0) | (client.outgoing.isEmpty ? 0 : Int16(POLLOUT))
    }

    private var targetEvents: Int16 {
        let wantsMore = !targetEnded && fromTarget.count < Self.limit
        let hasMore = !targetIsDeaf && meter.room(for: toTarget.count, direction: .toTarget) > 0
        return (wantsMore ? Int16(POLLIN) : 0) | (hasMore ? Int16(POLLOUT) : 0)
    }

    private func look(at client: pollfd) throws(ConnectionEnd) {
        if client.revents & Int16(POLLIN) != 0, client.events & Int16(POLLIN) != 0 {
            try take(self.client.receiveNow())
        } else if client.revents & Int16(POLLERR) != 0 {
            throw .clientReset
        } else if client.revents & Int16(POLLHUP) != 0 {
            clientHungUp = true
        }
    }

    private func lookAtTarget(_ result: pollfd) throws(ConnectionEnd) {
        guard result.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0, !targetEnded else { return }
        do throws(Upstream.Lost) {
            guard let bytes = try target.receiveNow() else { return }
            fromTarget += bytes
            targetEnded = bytes.isEmpty
        } catch {
            throw .reset
        }
    }
}
