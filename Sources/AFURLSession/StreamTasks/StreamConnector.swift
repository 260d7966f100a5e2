import AFLoop
import AFTransport
import AFWire
import Foundation

/// The loop's side of a stream task: connects, does the operations in order, and reports the result of each exactly
/// once.
///
/// ```
/// idle ──▶ connecting ──▶ open ──▶ over
///                         │  ▲
///                         ▼  │
///                        securing
/// ```
final class StreamConnector: TaskConsumer {
    /// The state of one direction.
    enum Side {
        case open
        /// Closed in order: the peer has ended it, or the caller has closed it.
        case closed
        case failed(LoadError)

        var isOpen: Bool { if case .open = self { true } else { false } }
        var failure: LoadError? { if case .failed(let error) = self { error } else { nil } }
    }

    var schedule = StreamSchedule<StreamRead, StreamWrite>()
    /// The task's load, as long as the task runs.
    private(set) var load: Load?
    var channel: (any ByteChannel)?
    /// The TLS channel, if the session has checked the server: the channel itself, or the one beneath it.
    var secured: TLSChannel?
    /// The address, route and TLS rules of the connection.
    var key: ConnectionKey?
    var handshake: Handshake?
    private var attempt: ConnectionAttempt?
    /// The number of the connection in its session.
    var connection: Int?
    /// Limits how long connecting or the handshake takes.
    private var patience: PausableTimer?
    var incoming = Side.open
    var outgoing = Side.open
    /// Whether the connector drops what arrives.
    var drops = false
    /// Whether the program has the streams: they go on without the task.
    private(set) var isCaptured = false
    /// The error that the task ended with.
    private var ending: (any Error)?
    private var isOver = false

    // MARK: - From the task

    /// A body that has arrived in full, but that the caller has not read to its end, keeps the task from completing.
    var isHolding: Bool { channel is BodyChannel && incoming.isOpen }
    /// The program reads as much of the body as it likes, so the cache would not get the whole.
    var caching: ResponseCaching { .never }
    var endsSilently: Bool { isCaptured }

    func prepare(for load: Load) -> ConsumerPreparation {
        self.load = load
        for clock in clocks { clock.start() }
        do throws(RequestRejection) {
            connect(to: try load.request.get().endpoint, for: load)
        } catch {
            load.fail(.rejected(error))
        }
        return .loadsItself
    }

    func suspended(_ isSuspended: Bool, of load: Load) {
        if isSuspended {
            for clock in clocks { clock.stop() }
        } else {
            for clock in clocks { clock.start() }
            proceed()
        }
    }

    /// The data task's delegate has already got the response.
    func receivedResponse(_ response: URLResponse, of load: Load) {}

    func receivedBody(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        (channel as? BodyChannel)?.append(bytes)
        proceed()
    }

    func receivedEnd(of load: Load) {
        // The task calls this again when it ends by itself.
        guard let body = channel as? BodyChannel, !body.hasEnded else { return }
        body.end()
        proceed()
    }

    func completed(_ error: (any Error)?, of load: Load) -> Bool {
        isOver = true
        ending = error
        for clock in clocks { clock.stop() }
        patience = nil
        attempt?.cancel()
        handshake?.cancel()
        if !isCaptured {
            channel?.close()
            noteClosed(load.session)
        }
        (attempt, handshake, channel, secured) = (nil, nil, nil, nil)
        let session = load.session
        let (reads, writes) = (schedule.takeReads(), schedule.takeWrites())
        for read in reads { finish(read, false, ending ?? closedError(.reading), in: session) }
        for write in writes { finish(write, ending ?? closedError(.writing), in: session) }
        self.load = nil
        return !isCaptured && load.tellEnd()
    }

    private func noteClosed(_ session: SessionCore) {
        guard channel != nil || handshake != nil, let connection else { return }
        session.events?.post(.connectionClosed, connection: connection)
    }

    // MARK: - Operations

    func add(_ read: StreamRead, in session: SessionCore) {
        guard !isOver, incoming.isOpen else { return finish(read, false, reason(.reading), in: session) }
        schedule.add(incoming: .read(read))
        read.clock = clock(of: read.interval, in: session) { [weak self, weak read] in
            if let read { self?.endOverdue(read) }
        }
        proceed()
    }

    func add(_ write: StreamWrite, in session: SessionCore) {
        guard !isOver, outgoing.isOpen else { return finish(write, reason(.writing), in: session) }
        schedule.add(outgoing: .write(write))
        write.clock = clock(of: write.interval, in: session) { [weak self, weak write] in
            if let write { self?.endOverdue(write) }
        }
        proceed()
    }

    func closeReading(in session: SessionCore) {
        guard !isOver, incoming.isOpen else { return }
        schedule.add(incoming: .close)
        proceed()
    }

    func closeWriting(in session: SessionCore) {
        guard !isOver, outgoing.isOpen else { return }
        schedule.add(outgoing: .close)
        proceed()
    }

    func secure(in session: SessionCore) {
        guard !isOver else { return }
        schedule.add(change: .secured)
        proceed()
    }

    func capture(in session: SessionCore) {
        guard !isOver else { return }
        schedule.add(change: .captured)
        proceed()
    }

    /// Why the stream takes no more operations.
    private func reason(_ direction: StreamFailure.Direction) -> any Error {
        if let ending { return ending }
        let side = direction == .reading ? incoming : outgoing
        if let failure = side.failure, let load { return load.urlError(failure) }
        return closedError(direction)
    }

    private func closedError(_ direction: StreamFailure.Direction) -> any Error {
        let error = LoadError.stream(.closed(direction))
        return load?.urlError(error) ?? error.urlError(for: nil)
    }

    // MARK: - Completing operations

    func finish(_ read: StreamRead, _ isAtEnd: Bool, _ error: (any Error)?, in session: SessionCore) {
        read.clock?.stop()
        read.clock = nil
        let data = error != nil && read.data.isEmpty ? nil : read.data
        let handler = read.handler
        (read.isAwaited ? session.resumptions : session.outbox).post(.block { handler(data, isAtEnd, error) })
    }

    func finish(_ write: StreamWrite, _ error: (any Error)?, in session: SessionCore) {
        write.clock?.stop()
        write.clock = nil
        let handler = write.handler
        (write.isAwaited ? session.resumptions : session.outbox).post(.block { handler(error) })
    }

    /// Tells the delegate, if it hears about streams.
    func tell(_ call: @escaping @Sendable (any URLSessionStreamDelegate, URLSessionStreamTask) -> Void) {
        guard let (delegate, task) = streamDelegate, let load else { return }
        load.session.outbox.post(.block { call(delegate, task) })
    }

    /// As `dataDelegate`, for streams.
    var streamDelegate: (delegate: any URLSessionStreamDelegate, task: URLSessionStreamTask)? {
        guard let load, let task = load.handle as? URLSessionStreamTask else { return nil }
        let own = load.listener(as: (any URLSessionStreamDelegate).self)
        return (own ?? load.session.delegate as? any URLSessionStreamDelegate).map { ($0, task) }
    }

    // MARK: - Time

    private var clocks: [PausableTimer] {
        let (reads, writes) = schedule.everything
        return (reads.map(\.clock) + writes.map(\.clock) + [patience]).compactMap { $0 }
    }

    /// A clock that runs from now on, if the task does.
    private func clock(of interval: LoopInterval?, in session: SessionCore, _ over: @escaping () -> Void)
        -> PausableTimer?
    {
        guard let interval else { return nil }
        let clock = PausableTimer(interval, on: session.loop, over: over)
        if let load, !load.isSuspended { clock.start() }
        return clock
    }

    private func endOverdue(_ read: StreamRead) {
        guard let load, let interval = read.interval else { return }
        let late = TransferError.timedOut(attempt?.phase ?? .receivingBody, .nanoseconds(interval.nanoseconds))
        fail(reading: .transfer(late), of: load)
    }

    private func endOverdue(_ write: StreamWrite) {
        guard let load, let interval = write.interval else { return }
        let late = TransferError.timedOut(attempt?.phase ?? .sending, .nanoseconds(interval.nanoseconds))
        let error = LoadError.transfer(late)
        outgoing = .failed(error)
        for write in schedule.takeWrites() { finish(write, load.urlError(error), in: load.session) }
        proceed()
    }

    /// Fails this read and all others: a caller could misread bytes that come after a gap.
    private func fail(reading error: LoadError, of load: Load) {
        incoming = .failed(error)
        for read in schedule.takeReads() { finish(read, false, load.urlError(error), in: load.session) }
        proceed()
    }

    /// Limits how long the present change of the connection may take.
    func startPatience(_ interval: LoopInterval, _ over: @escaping () -> Void) {
        guard let load else { return }
        stopPatience()
        patience = clock(of: interval, in: load.session, over)
    }

    func stopPatience() {
        patience?.stop()
        patience = nil
    }

    // MARK: - Connecting

    private func connect(to endpoint: Endpoint, for load: Load) {
        let session = load.session
        load.watchTime()
        do throws(LoadError) {
            let key = try session.streamKey(to: endpoint)
            guard let target = session.pool.rules.target(for: key) else { throw .transfer(.impossibleSocketPath) }
            self.key = key
            let number = session.pool.nextNumber()
            let attempt = ConnectionAttempt(
                to: key,
                under: session.pool.rules,
                number: number,
                platform: session.world.platform,
                observer: session.events,
                client: self
            )
            self.attempt = attempt
            connection = number
            startPatience(session.requestTimeout) { [weak self, weak load] in
                let phase = self?.attempt?.phase ?? .connecting
                load?.fail(.transfer(.timedOut(phase, .nanoseconds(session.requestTimeout.nanoseconds))))
            }
            attempt.start(target)
        } catch {
            load.fail(error)
        }
    }

    /// Takes the place of a data task, with the bytes that its connection still has.
    func take(
        _ channel: any ByteChannel,
        of load: Load,
        secured: TLSChannel? = nil,
        key: ConnectionKey? = nil,
        number: Int? = nil
    ) {
        self.load = load
        self.channel = channel
        self.secured = secured
        self.key = key
        connection = number
        channel.handler = self
        load.watchTime()
        for clock in clocks { clock.start() }
    }

    /// Gives the connection away: the streams have it from now on.
    func letGo() {
        isCaptured = true
        channel = nil
    }
}

extension StreamConnector: ConnectionAttemptClient {
    func attemptSucceeded(_ attempt: ConnectionAttempt, channel: any ByteChannel) {
        self.attempt = nil
        stopPatience()
        self.channel = channel
        channel.handler = self
        // No pool watches this connection.
        channel.probePeer()
        proceed()
    }

    func attemptFailed(_ attempt: ConnectionAttempt, error: TransferError) {
        self.attempt = nil
        load?.fail(.transfer(error))
    }

    /// The task may still secure the stream, before its first byte.
    func depart(_ attempt: ConnectionAttempt) throws(Refusal) -> Permit {
        guard let load, let key else { throw .ended }
        return try Departure.ask(isSuspended: false, isForbidden: false)
            .clear(hasItsRules: load.session.pool.hasPresentRules(key))
    }

    func isAwaited(_ attempt: ConnectionAttempt) -> Bool { true }

    func hasAskerLeft(_ attempt: ConnectionAttempt) -> Bool { false }

    /// Before the connection is made only a proxy's TLS can need a decision, and its rules ask no delegate.
    func handshakeDelegate(for attempt: ConnectionAttempt) -> (any HandshakeDelegate)? { nil }
}

extension SessionCore {
    /// The connection of a stream task: by the same route as requests over https, but without TLS.
    func streamKey(to endpoint: Endpoint) throws(LoadError) -> ConnectionKey {
        var key = try connectionKey(for: endpoint, judgedBy: nil).secured(by: nil)
        key.follow(settings.limits.link.terms)
        return key
    }
}
