import AFLoop
import AFTransport
import AFWire
import Foundation

/// The loop's side of a stream task: connects, does the operations in order, and reports the result of each exactly
/// once. `StreamMachine` says where the stream stands, and what it does next.
final class StreamConnector: TaskConsumer {
    private(set) var machine = StreamMachine()
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
    /// Why each direction was given up.
    private var (readFailure, writeFailure): (LoadError?, LoadError?) = (nil, nil)
    /// The error that the task ended with.
    private var ending: (any Error)?

    /// Tells the machine what happens.
    ///
    /// - Returns: What the connector has to do.
    @discardableResult
    func take(_ event: StreamMachine.Event) -> StreamMachine.Action {
        let former = machine.state
        let action = machine.handle(event)
        if action == .impossible { load?.fail(.fault(StreamMachine.objection(to: event, in: former))) }
        return action
    }

    // MARK: - From the task

    /// A body that has arrived in full, but that the caller has not read to its end, keeps the task from completing.
    var isHolding: Bool { machine.state.phase == .body && machine.state.reading == .open }
    /// The program reads as much of the body as it likes, so the cache would not get the whole.
    var caching: ResponseCaching { .never }
    var endsSilently: Bool { machine.state.phase == .captured }

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
        let session = load.session
        // Asked first: the machine knows of no connection any more once it is told.
        let lost = machine.hasConnection ? connection : nil
        let action = take(.completed)
        ending = error
        for clock in clocks { clock.stop() }
        patience = nil
        attempt?.cancel()
        handshake?.cancel()
        channel?.close()
        if let lost { session.events?.post(.connectionClosed, connection: lost) }
        (attempt, handshake, channel, secured) = (nil, nil, nil, nil)
        let (reads, writes) = (schedule.takeReads(), schedule.takeWrites())
        for read in reads { finish(read, isAtEnd: false, error: ending ?? closedError(.reading), in: session) }
        for write in writes { finish(write, error: ending ?? closedError(.writing), in: session) }
        self.load = nil
        return action == .end && load.tellEnd()
    }

    // MARK: - Operations

    func add(_ read: StreamRead, in session: SessionCore) {
        guard take(.readAsked) == .queue else {
            return finish(read, isAtEnd: false, error: reason(.reading), in: session)
        }
        schedule.add(incoming: .read(read))
        read.clock = clock(of: read.interval, in: session) { [weak self, weak read] in
            if let read { self?.endOverdue(read) }
        }
        proceed()
    }

    func add(_ write: StreamWrite, in session: SessionCore) {
        guard take(.writeAsked) == .queue else { return finish(write, error: reason(.writing), in: session) }
        schedule.add(outgoing: .write(write))
        write.clock = clock(of: write.interval, in: session) { [weak self, weak write] in
            if let write { self?.endOverdue(write) }
        }
        proceed()
    }

    func closeReading() { ask(.closeReadAsked) { $0.add(incoming: .close) } }
    func closeWriting() { ask(.closeWriteAsked) { $0.add(outgoing: .close) } }
    func secure() { ask(.changeAsked) { $0.add(change: .secured) } }
    func capture() { ask(.changeAsked) { $0.add(change: .captured) } }

    private func ask(_ event: StreamMachine.Event, add: (inout StreamSchedule<StreamRead, StreamWrite>) -> Void) {
        guard take(event) == .queue else { return }
        add(&schedule)
        proceed()
    }

    /// Why the stream takes no more operations.
    private func reason(_ direction: StreamFailure.Direction) -> any Error {
        if let ending { return ending }
        let failure = direction == .reading ? readFailure : writeFailure
        if let failure, let load { return load.urlError(failure) }
        return closedError(direction)
    }

    private func closedError(_ direction: StreamFailure.Direction) -> any Error {
        let error = LoadError.stream(.closed(direction))
        return load?.urlError(error) ?? error.urlError(for: nil)
    }

    // MARK: - Completing operations

    func finish(_ read: StreamRead, isAtEnd: Bool, error: (any Error)?, in session: SessionCore) {
        read.clock?.stop()
        read.clock = nil
        let data = error != nil && read.data.isEmpty ? nil : read.data
        let handler = read.handler
        (read.isAwaited ? session.resumptions : session.outbox).post(.block { handler(data, isAtEnd, error) })
    }

    func finish(_ write: StreamWrite, error: (any Error)?, in session: SessionCore) {
        write.clock?.stop()
        write.clock = nil
        let handler = write.handler
        (write.isAwaited ? session.resumptions : session.outbox).post(.block { handler(error) })
    }

    /// Completes all reads with an error: no more will come, or a caller could misread what comes after a gap.
    func failReads(_ error: LoadError, of load: Load) {
        for read in schedule.takeReads() { finish(read, isAtEnd: false, error: load.urlError(error), in: load.session) }
    }

    func failWrites(_ error: LoadError, of load: Load) {
        for write in schedule.takeWrites() { finish(write, error: load.urlError(error), in: load.session) }
    }

    /// Why a direction was given up; nil if neither was.
    var failure: LoadError? { readFailure ?? writeFailure }

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
    private func clock(of interval: LoopInterval?, in session: SessionCore, over: @escaping () -> Void)
        -> PausableTimer?
    {
        guard let interval else { return nil }
        let clock = PausableTimer(after: interval, on: session.loop, over: over)
        if let load, !load.isSuspended { clock.start() }
        return clock
    }

    private func endOverdue(_ read: StreamRead) {
        guard let load, let interval = read.interval, take(.readOverdue) == .failReading else { return }
        let error = late(.receivingBody, after: interval)
        readFailure = error
        failReads(error, of: load)
        proceed()
    }

    private func endOverdue(_ write: StreamWrite) {
        guard let load, let interval = write.interval, take(.writeOverdue) == .failWriting else { return }
        let error = late(.sending, after: interval)
        writeFailure = error
        failWrites(error, of: load)
        proceed()
    }

    private func late(_ phase: TransferPhase, after interval: LoopInterval) -> LoadError {
        .transfer(.timedOut(attempt?.phase ?? phase, .nanoseconds(interval.nanoseconds)))
    }

    /// Limits how long the present change of the connection may take.
    func startPatience(_ interval: LoopInterval, over: @escaping () -> Void) {
        guard let load else { return }
        stopPatience()
        patience = clock(of: interval, in: load.session, over: over)
    }

    func stopPatience() {
        patience?.stop()
        patience = nil
    }

    // MARK: - Connecting

    private func connect(to endpoint: Endpoint, for load: Load) {
        guard take(.start) == .connect else { return }
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
        _ event: StreamMachine.Event,
        with channel: any ByteChannel,
        of load: Load,
        secured: TLSChannel? = nil,
        key: ConnectionKey? = nil,
        number: Int? = nil
    ) {
        self.load = load
        guard take(event) == .use else { return }
        self.secured = secured
        self.key = key
        connection = number
        use(channel)
        load.watchTime()
        for clock in clocks { clock.start() }
    }

    func use(_ channel: any ByteChannel) {
        stopPatience()
        self.channel = channel
        channel.handler = self
    }
}

extension StreamConnector: ConnectionAttemptClient {
    /// Not if the task is to be secured before anything else.
    var serverMaySpeakFirst: Bool { schedule.nextChange != .secured }

    func attemptSucceeded(_ attempt: ConnectionAttempt, channel: any ByteChannel) {
        self.attempt = nil
        // The task may have ended meanwhile: the channel is ours to close.
        guard take(.connected) == .use else { return channel.close() }
        use(channel)
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
}

extension SessionCore {
    /// The connection of a stream task: by the same route as requests over https, but without TLS.
    func streamKey(to endpoint: Endpoint) throws(LoadError) -> ConnectionKey {
        var key = try connectionKey(for: endpoint, judgedBy: nil).secured(by: nil)
        key.follow(settings.link.terms)
        return key
    }
}
