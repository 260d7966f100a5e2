package import AFLoop
import AFTestSupport
import Glibc

/// One connection, from the first SYN to the last close, with everything both ends
/// may hold against each other.
///
/// Bytes travel in segments that arrive in order, after the link's latency. Our
/// writes wait in a send buffer until the server has read them; the server's wait
/// until there is room in our receive buffer.
package final class VirtualConnection {
    package enum State: Sendable, Equatable {
        case connecting
        case open
        /// It never came to be.
        case refused(Int32)
        case over
    }

    // MARK: Constants
    package let number: Int
    package let address: SocketAddress
    package let localAddress: SocketAddress?
    package let host: String
    package let link: LinkConditions
    package let openedAt: LoopInstant
    let network: VirtualNetwork
    let descriptor: Int32

    // MARK: What happened
    package private(set) var state = State.connecting
    /// Everything the server's kernel acknowledged, in order.
    package private(set) var received: [UInt8] = []
    package private(set) var receivedCount = 0
    package private(set) var sentCount = 0
    package private(set) var clientClosedAt: LoopInstant?
    package private(set) var serverClosedAt: LoopInstant?
    /// The server reset it, or closed it while we were still sending.
    package private(set) var wasReset = false
    /// For the server to note: every request it received has been answered in full.
    package var isAnswered = false {
        didSet { if isAnswered { strikeWhenIdle() } }
    }
    /// For the server to note: what it said rules out another request.
    package var isRetired = false
    /// How often a new request was begun with something from the server unread.
    package private(set) var writesOverUnread = 0

    // MARK: From the server to us
    private var outgoing = ByteQueue()
    private var closesAfterOutgoing = false
    private var inFlight = 0
    private var lastArrival: LoopInstant
    private var arrived = ByteQueue()
    private var hasEnded = false
    private var error: Int32?
    private var isBroken = false
    var faults: Faults { network.ready.faults }
    /// Which faults may come next.
    var phase = FaultPhase.idle
    /// Nothing passes any more.
    var isDeaf = false
    var isMute = false

    // MARK: From us to the server
    private var upstream = 0
    private var lastDelivery: LoopInstant
    private var unread: [ArraySlice<UInt8>] = []
    private var owesWritable = false
    private var serverReads = true
    private var serverIsGone = false
    private var clientIsGone = false
    private var clientHasEnded = false

    private(set) var program: (any ServerProgram)?
    /// What the server's words go through on their way out.
    package var layer: (any ServerLayer)?
    private var random: SeededGenerator
    /// Among what happens on several connections at one time, the seed chooses what
    /// comes first. On one connection it stays in its order.
    private let order: UInt64

    init(
        _ number: Int,
        to address: SocketAddress,
        host: String,
        link: LinkConditions,
        descriptor: Int32,
        network: VirtualNetwork,
        random: SeededGenerator
    ) {
        self.number = number
        self.address = address
        self.host = host
        self.link = link
        self.descriptor = descriptor
        self.network = network
        var random = random
        order = random.next()
        self.random = random
        openedAt = network.clock.now
        lastArrival = openedAt
        lastDelivery = openedAt
        localAddress = SocketAddress(ipv4: "10.0.0.1", port: UInt16(truncatingIfNeeded: 40_000 + number))
    }

    package var isOver: Bool { clientIsGone }
    /// The server still has something to say, or may have.
    package var isServerOpen: Bool { state == .open && !serverIsGone }

    // MARK: - Connecting

    func established(by program: any ServerProgram) {
        guard !clientIsGone else { return }
        state = .open
        self.program = program
        signal(.writable)
        program.connected(ServerEnd(self))
    }

    func refused(_ code: Int32) {
        guard !clientIsGone else { return }
        state = .refused(code)
        error = code
        isBroken = true
        signal([.readable, .writable, .hangup])
    }

    func takeError() -> Int32? {
        defer { error = nil }
        return error
    }

    // MARK: - Our calls

    var hasMoreForClient: Bool { !arrived.isEmpty }

    func report(_ violation: String) { network.report("#\(number): \(violation)") }

    func clientReads(into buffer: UnsafeMutableRawBufferPointer) -> ChannelRead {
        if !arrived.isEmpty, faults.strikes(.readWouldBlock, or: random.chance(link.readEAGAIN)) {
            // The edge for what is there comes a little later.
            soon { $0.signal(.readable) }
            return .wouldBlock
        }
        if !isBroken, !hasEnded, let code = faults.readError {
            givesUp()
            return .failed(SystemCallError(.recv, code: code))
        }
        if !isBroken, !hasEnded, faults.strikes(.readEndsEarly) {
            givesUp()
            return .end
        }
        let cap = faults.capRead(min(buffer.count, random.pick(link.readCap)), of: arrived.count)
        let count = arrived.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<cap]))
        if count > 0 {
            network.trace("#\(number) read \(count)")
            pump()
            return .bytes(count)
        }
        if let code = takeError() { return .failed(SystemCallError(.recv, code: code)) }
        return hasEnded || isBroken ? .end : .wouldBlock
    }

    func clientWrites(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> ChannelWrite {
        if let code = takeError() { return .failed(SystemCallError(.send, code: code)) }
        guard !isBroken else { return .failed(SystemCallError(.send, code: EPIPE)) }
        if let code = faults.writeError {
            givesUp()
            return .failed(SystemCallError(.send, code: code))
        }
        if faults.strikes(.writeWithoutBuffers, or: random.chance(link.writeENOBUFS)) {
            return .failed(SystemCallError(.send, code: ENOBUFS))
        }
        if faults.strikes(.writeWouldBlock, or: random.chance(link.writeEAGAIN)) {
            soon { $0.signal(.writable) }
            return .wouldBlock
        }
        let wanted = first.count + second.count
        let room = min(link.sendCapacity - upstream, faults.capWrite(random.pick(link.writeCap), of: wanted))
        let count = max(0, min(room, wanted))
        if count < wanted { owesWritable = true }
        guard count > 0 else { return .wouldBlock }
        if isAnswered, !arrived.isEmpty || hasEnded, upstream == 0 { writesOverUnread += 1 }
        var bytes = Array(first.prefix(count))
        if bytes.count < count { bytes.append(contentsOf: second.prefix(count - bytes.count)) }
        network.trace("#\(number) wrote \(count)")
        upstream += count
        deliver(bytes[...])
        // Room was left by a capped write: the kernel would say so.
        if count < wanted, upstream < link.sendCapacity { soon { $0.roomAppeared() } }
        return .bytes(count)
    }

    /// Our own system gives it up, whatever is still under way.
    private func givesUp() {
        isBroken = true
        outgoing.removeAll()
        arrived.removeAll()
        network.trace("#\(number) given up")
        toServer { $0.clientEnded(reset: true) }
    }

    /// Nothing more comes from us, but we go on reading.
    func clientEndsWriting() {
        guard !clientIsGone, state == .open else { return }
        toServer { connection in
            guard !connection.serverIsGone else { return }
            connection.network.trace("#\(connection.number) server saw half a close")
            connection.program?.outputEnded(ServerEnd(connection))
        }
    }

    func clientCloses() {
        guard !clientIsGone else { return }
        clientIsGone = true
        clientClosedAt = network.clock.now
        network.closed(descriptor, number)
        let resets = !arrived.isEmpty
        if state == .open { toServer { $0.clientEnded(reset: resets) } }
        if state == .connecting { state = .over }
        outgoing.removeAll()
        arrived.removeAll()
    }

    // MARK: - To the server

    private func deliver(_ bytes: ArraySlice<UInt8>) {
        toServer { $0.serverReceives(bytes) }
    }

    private func toServer(_ body: @escaping (VirtualConnection) -> Void) {
        lastDelivery = max(lastDelivery, network.clock.now + .nanoseconds(random.pick(link.latency)))
        network.clock.at(lastDelivery, order: order) { [self] in if !isDeaf { body(self) } }
    }

    private func serverReceives(_ bytes: ArraySlice<UInt8>) {
        guard !serverIsGone else { return broken(ECONNRESET) }
        strikeLink()
        guard !isDeaf else { return }
        if let cut = cutInRequest() { return cutOff(cut) }
        guard serverReads else { return unread.append(bytes) }
        consume(bytes)
    }

    private func consume(_ bytes: ArraySlice<UInt8>) {
        receivedCount += bytes.count
        if network.recordsBytes { received.append(contentsOf: bytes) }
        upstream -= bytes.count
        roomAppeared()
        program?.received(bytes, ServerEnd(self))
    }

    private func roomAppeared() {
        guard owesWritable, upstream < link.sendCapacity else { return }
        owesWritable = false
        signal(.writable)
    }

    private func clientEnded(reset: Bool) {
        guard !clientHasEnded else { return }
        clientHasEnded = true
        network.trace("#\(number) server saw \(reset ? "reset" : "end")")
        if !serverIsGone { program?.inputEnded(ServerEnd(self), reset: reset) }
        serverIsGone = true
        program = nil
        state = .over
    }

    // MARK: - The server's calls

    func serverSends(_ bytes: some Collection<UInt8>) {
        guard !serverIsGone, !closesAfterOutgoing else { return }
        outgoing.append(bytes)
        pump()
    }

    /// A device on the way, or the server's own machine, ends the connection.
    package func cutOff(_ cut: FaultCut) {
        outgoing.removeAll()
        guard cut == .end, unread.isEmpty else { return serverResets() }
        closesAfterOutgoing = true
        serverClosedAt = serverClosedAt ?? network.clock.now
        serverIsGone = true
        program = nil
        pump()
    }

    /// Nothing arrives at either end before so many nanoseconds have passed; then all of it does.
    package func hold(_ nanoseconds: Int) {
        lastArrival = max(lastArrival, network.clock.now + .nanoseconds(nanoseconds))
        lastDelivery = max(lastDelivery, network.clock.now + .nanoseconds(nanoseconds))
    }

    func serverSends(_ byte: UInt8, count: Int) {
        guard !serverIsGone, !closesAfterOutgoing else { return }
        outgoing.append(byte, count: count)
        pump()
    }

    func serverEnds(reading: Bool) {
        guard !serverIsGone, !closesAfterOutgoing else { return }
        closesAfterOutgoing = true
        serverClosedAt = network.clock.now
        if !reading {
            serverIsGone = true
            program = nil
            // As a kernel does when a socket is closed with data unread.
            if !unread.isEmpty { return serverResets() }
        }
        pump()
    }

    func serverResets() {
        guard !wasReset else { return }
        serverIsGone = true
        program = nil
        wasReset = true
        serverClosedAt = serverClosedAt ?? network.clock.now
        outgoing.removeAll()
        network.clock.at(arrivalTime(), order: order) { [self] in broken(ECONNRESET) }
    }

    func serverStopsReading() {
        serverReads = false
    }

    func serverStartsReading() {
        serverReads = true
        let waiting = unread
        unread = []
        for bytes in waiting { serverIsGone ? broken(ECONNRESET) : consume(bytes) }
    }

    func after(_ delay: Duration, _ body: @escaping (ServerEnd) -> Void) {
        network.clock.after(delay, order: random.next()) { [self] in
            if !serverIsGone { body(ServerEnd(self)) }
        }
    }

    func serverDraws(_ range: ClosedRange<Int>) -> Int { random.pick(range) }

    // MARK: - To us

    private func arrivalTime() -> LoopInstant {
        lastArrival = max(lastArrival, network.clock.now + .nanoseconds(random.pick(link.latency)))
        return lastArrival
    }

    /// Sends as much as our receive buffer has room for.
    private func pump() {
        guard !clientIsGone else { return }
        while !outgoing.isEmpty {
            let window = link.receiveCapacity - inFlight - arrived.count
            guard window > 0 else { return }
            let cut = cutInAnswer()
            let most = cut == nil ? faults.split(random.pick(link.segment)) : faults.draw(.resetInHead, 0...20)
            let segment = outgoing.take(min(window, most))
            inFlight += segment.count
            if let late = faults.lateArrival { hold(late) }
            network.clock.at(arrivalTime(), order: order) { [self] in segmentArrives(segment) }
            if let cut { return cutOff(cut) }
        }
        guard closesAfterOutgoing, !hasEnded, !isFinishing else { return }
        isFinishing = true
        network.clock.at(arrivalTime(), order: order) { [self] in endArrives() }
    }

    private var isFinishing = false

    private func segmentArrives(_ segment: ByteQueue) {
        inFlight -= segment.count
        guard !clientIsGone, !isBroken, !isMute else { return }
        sentCount += segment.count
        arrived.append(segment)
        signal(.readable)
    }

    private func endArrives() {
        guard !clientIsGone, !isBroken, !isMute else { return }
        hasEnded = true
        network.trace("#\(number) end arrives")
        signal([.readable, .hangup])
    }

    private func broken(_ code: Int32) {
        guard !clientIsGone, !isBroken, !isMute else { return }
        isBroken = true
        wasReset = true
        error = code
        network.trace("#\(number) reset arrives")
        signal([.readable, .writable, .hangup])
    }

    private func signal(_ readiness: Readiness) {
        guard !clientIsGone else { return }
        network.ready.signal(descriptor, readiness)
        if faults.strikes(.readySpurious, or: random.chance(link.spuriousReadiness)) {
            network.clock.after(.nanoseconds(random.pick(0...1_000_000))) { [self] in
                if !clientIsGone, state == .open { network.ready.signal(descriptor, [.readable, .writable]) }
            }
        }
    }

    /// For a test that wants an edge with nothing behind it.
    package func signalSpuriously(_ readiness: Readiness) {
        if !clientIsGone { network.ready.signal(descriptor, readiness) }
    }

    private func soon(_ body: @escaping (VirtualConnection) -> Void) {
        network.clock.after(.nanoseconds(random.pick(1...100_000))) { [self] in
            if !clientIsGone { body(self) }
        }
    }
}
