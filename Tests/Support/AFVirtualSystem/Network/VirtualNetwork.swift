package import AFLoop
package import AFTestSupport
import Glibc

/// The network as far as a session can see it: addresses that answer or do not,
/// servers behind them, and a record of every connection.
package final class VirtualNetwork {
    /// What becomes of an attempt to connect.
    package enum Reachability: Sendable {
        case accepts
        /// Answers with this error.
        case refuses(Int32 = ECONNREFUSED, after: Duration = .zero)
        /// Swallows the SYN.
        case neverAnswers
        /// The `connect` call itself fails.
        case failsAtOnce(Int32)
        /// Accepts, after this long.
        case acceptsAfter(Duration)
    }

    private struct Listener {
        let host: String
        let makeProgram: () -> any ServerProgram
    }

    let clock: VirtualClock
    let ready: ReadyList
    var faults: Faults { ready.faults }
    private let random: SeededGenerator
    private var listeners: [SocketAddress: Listener] = [:]
    private var reachability: [SocketAddress: Reachability] = [:]
    private var hostLinks: [String: LinkConditions] = [:]

    package private(set) var ledger = DescriptorLedger()
    package private(set) var connections: [VirtualConnection] = []
    /// How each of them was to be made.
    package private(set) var options: [SocketOptions] = []
    /// Addresses to which the way is by a cellular network.
    package var cellular: Set<SocketAddress> = []
    /// What servers and scripts found wrong.
    package private(set) var violations: [String] = []
    package var link = LinkConditions.perfect
    /// Off for bodies too large to keep.
    package var recordsBytes = true
    /// The errors with which the next sockets fail to be made.
    package var failsNextSockets: [Int32] = []
    package var tracer: ((String) -> Void)?

    package init(clock: VirtualClock, ready: ReadyList, random: SeededGenerator) {
        self.clock = clock
        self.ready = ready
        self.random = random
    }

    // MARK: - Setting up

    package func listen(_ address: SocketAddress, host: String, _ makeProgram: @escaping () -> any ServerProgram) {
        listeners[address] = Listener(host: host, makeProgram: makeProgram)
    }

    package func set(_ reachability: Reachability, for address: SocketAddress) {
        self.reachability[address] = reachability
    }

    package func setLink(_ link: LinkConditions, for host: String) {
        hostLinks[host] = link
    }

    // MARK: - Looking

    /// Connections know their network, which knows them.
    func forgetEverything() {
        connections = []
        listeners = [:]
    }

    package var openConnections: [VirtualConnection] { connections.filter { !$0.isOver } }

    package func report(_ violation: String) {
        violations.append(violation)
    }

    func trace(_ line: @autoclosure () -> String) {
        if let tracer { tracer(line()) }
    }

    // MARK: - Connections

    func open(
        _ address: SocketAddress,
        _ options: SocketOptions,
        on loop: EventLoop
    ) throws(SystemCallError) -> any ByteChannel {
        if options.link.avoidsCellular, cellular.contains(address) { throw SystemCallError(.route, code: ENETUNREACH) }
        if !failsNextSockets.isEmpty { throw SystemCallError(.socket, code: failsNextSockets.removeFirst()) }
        if let code = socketFault() { throw SystemCallError(code == EMFILE ? .socket : .connect, code: code) }
        let usual = reachability[address] ?? (listeners[address] == nil ? .refuses() : .accepts)
        let reachability = dialFault() ?? usual
        if case .failsAtOnce(let code) = reachability { throw SystemCallError(.connect, code: code) }
        let descriptor = ledger.take()
        let host = listeners[address]?.host ?? address.description
        let connection = VirtualConnection(
            connections.count,
            to: address,
            host: host,
            link: hostLinks[host] ?? link,
            descriptor: descriptor,
            network: self,
            random: random.fork(connections.count)
        )
        trace("#\(connection.number) connects to \(address) as \(descriptor)")
        do throws(SystemCallError) {
            let channel = try VirtualChannel(connection, descriptor, on: loop)
            connections.append(connection)
            self.options.append(options)
            connect(connection, reachability)
            return channel
        } catch {
            ledger.release(descriptor)
            throw error
        }
    }

    private func socketFault() -> Int32? {
        if faults.strikes(.dialUnwatched) { ready.failsNextAdd = ENOSPC }
        if faults.strikes(.dialWithoutDescriptor) { return EMFILE }
        if faults.strikes(.dialWithoutPort) { return EADDRNOTAVAIL }
        return faults.strikes(.dialFailsAtOnce) ? ENETUNREACH : nil
    }

    private func dialFault() -> Reachability? {
        func late(_ point: FaultPoint, _ milliseconds: ClosedRange<Int>) -> Duration {
            .nanoseconds(faults.delay(point, milliseconds: milliseconds))
        }
        if faults.strikes(.dialRefused) { return .refuses() }
        if faults.strikes(.dialRefusedLate) { return .refuses(after: late(.dialRefusedLate, 1...3000)) }
        if faults.strikes(.dialUnreachable) { return .refuses(EHOSTUNREACH, after: late(.dialUnreachable, 1...3000)) }
        if faults.strikes(.dialTimedOut) { return .refuses(ETIMEDOUT, after: .seconds(20)) }
        if faults.strikes(.dialUnanswered) { return .neverAnswers }
        if faults.strikes(.dialSlow) { return .acceptsAfter(late(.dialSlow, 1...1500)) }
        if faults.strikes(.dialVerySlow) { return .acceptsAfter(late(.dialVerySlow, 10_000...90_000)) }
        return nil
    }

    private func connect(_ connection: VirtualConnection, _ reachability: Reachability) {
        // A SYN and its answer: there and back.
        let trip = Duration.nanoseconds(connection.link.latency.upperBound + connection.link.latency.lowerBound)
        switch reachability {
        case .accepts: accept(connection, after: trip)
        case .acceptsAfter(let delay): accept(connection, after: delay)
        case .refuses(let code, let delay): clock.after(trip + delay) { connection.refused(code) }
        case .neverAnswers, .failsAtOnce: break
        }
    }

    private func accept(_ connection: VirtualConnection, after delay: Duration) {
        clock.after(delay) { [self] in
            guard let listener = listeners[connection.address] else { return connection.refused(ECONNREFUSED) }
            connection.established(by: listener.makeProgram())
            connection.strikeWhenEstablished()
        }
    }

    func closed(_ descriptor: Int32, _ number: Int) {
        trace("#\(number) closed")
        ledger.release(descriptor)
    }
}

/// Opens virtual connections.
struct VirtualOpener: ChannelOpener {
    let network: ThreadBound<VirtualNetwork>

    func open(
        _ address: SocketAddress,
        options: SocketOptions,
        on loop: EventLoop
    ) throws(SystemCallError) -> any ByteChannel {
        try network.value.open(address, options, on: loop)
    }
}
