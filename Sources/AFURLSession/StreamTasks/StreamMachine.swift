/// Decides where a stream stands. The connector tells it what happens, and does what it says.
///
/// ```
/// idle ── start ──▶ connecting ── connected ──▶ clear ── secureDue ──▶ securing ── handshakeDone ──▶ secured
/// idle ── tookConnection ──▶ clear
/// idle ── tookSecured ──▶ secured
/// idle ── tookBody ──▶ body
/// clear, secured ── captureDue ──▶ captured
/// idle, connecting, clear, securing, secured, body, captured ── completed ──▶ over
///
/// open ── closeReadDue ──▶ dropping ── inputEnded ──▶ ended
/// open ── inputEnded ──▶ ended
/// open ── closeWriteDue ──▶ closed
/// open ── readOverdue, writeOverdue ──▶ failed
/// ```
///
/// The phase is that of the connection. Each direction has a state of its own, and neither changes the other's.
struct StreamMachine {
    enum Phase: UInt8, CaseIterable {
        /// The task was not resumed yet. Its operations wait.
        case idle
        case connecting
        /// Bytes move, without TLS.
        case clear
        /// The handshake has the connection, and no bytes of the program move.
        case securing
        /// Bytes move over TLS.
        case secured
        /// The bytes are the body of a data task's response. Nothing can be written.
        case body
        /// The program has the connection, as two streams.
        case captured
        case over
    }

    enum Reading: UInt8, CaseIterable {
        case open
        /// The program has closed it: what still arrives is dropped.
        case dropping
        /// The peer has ended it.
        case ended
        /// A read was given up.
        case failed
    }

    enum Writing: UInt8, CaseIterable {
        case open
        case closed
        /// A write was given up.
        case failed
    }

    struct State: Equatable {
        var phase = Phase.idle
        var reading = Reading.open
        var writing = Writing.open
    }

    enum Event: UInt8, CaseIterable {
        /// The task is resumed for the first time.
        case start
        /// The connection of a data task is the stream's now, without TLS.
        case tookConnection
        /// The connection of a data task is the stream's now, with TLS.
        case tookSecured
        /// The body of a data task is the stream's now.
        case tookBody
        case connected
        case handshakeDone
        /// The program asks for a read.
        case readAsked
        case writeAsked
        case closeReadAsked
        case closeWriteAsked
        /// The program asks for TLS, or for the streams.
        case changeAsked
        /// All operations before it are done.
        case closeReadDue
        case closeWriteDue
        case secureDue
        case captureDue
        /// The peer sends no more bytes, and all that it has sent were read.
        case inputEnded
        /// A read has taken too long.
        case readOverdue
        case writeOverdue
        case completed
    }

    enum Action: Equatable {
        case connect
        /// Go on with the operations, on this connection.
        case use
        /// Do it when its turn comes.
        case queue
        /// Tell its caller that it comes too late.
        case refuse
        /// Fail the reads that wait, and tell the delegate.
        case closeReading
        /// End the direction to the peer, fail the writes that wait, and tell the delegate.
        case closeWriting
        /// Complete the reads that wait, and tell the delegate.
        case endReading
        case failReading
        case failWriting
        case startTLS
        /// Go on: the connection has TLS.
        case skip
        /// Fail the task: a handshake needs both directions.
        case refuseTLS
        case capture
        /// Fail the task: it has no connection to give away, or one with a gap that would pass for an end.
        case refuseCapture
        /// Fail all that waits, and close the connection.
        case end
        /// Fail all that waits. The delegate has the streams, and hears of nothing else.
        case endSilently
        case nothing
        /// No order of events leads here: `objection` says why. The task fails with an error that names both.
        case impossible
    }

    private(set) var state: State

    init(_ state: State = State()) {
        self.state = state
    }

    mutating func handle(_ event: Event) -> Action {
        let (action, next) = table(event)
        state = next
        return action
    }

    private func table(_ event: Event) -> (Action, State) {
        switch (state.phase, event) {
        case (.over, .readAsked), (.over, .writeAsked), (.captured, .readAsked), (.captured, .writeAsked):
            (.refuse, state)
        case (.over, _), (.captured, .closeReadAsked), (.captured, .closeWriteAsked), (.captured, .changeAsked):
            (.nothing, state)

        case (.idle, .start): (.connect, to(phase: .connecting))
        case (.idle, .tookConnection), (.connecting, .connected): (.use, to(phase: .clear))
        case (.idle, .tookSecured), (.securing, .handshakeDone): (.use, to(phase: .secured))
        case (.idle, .tookBody): (.use, State(phase: .body, reading: .open, writing: .closed))

        case (.clear, .secureDue):
            state.reading == .open && state.writing == .open ? (.startTLS, to(phase: .securing)) : (.refuseTLS, state)
        case (.secured, .secureDue): (.skip, state)
        case (.body, .secureDue): (.refuseTLS, state)
        case (.clear, .captureDue), (.secured, .captureDue):
            state.reading == .failed || state.writing == .failed
                ? (.refuseCapture, state) : (.capture, to(phase: .captured))
        case (.body, .captureDue): (.refuseCapture, state)

        case (.captured, .completed): (.endSilently, to(phase: .over))
        case (_, .completed): (.end, to(phase: .over))

        case (_, .changeAsked): (.queue, state)
        case (_, .readAsked), (_, .closeReadAsked), (_, .closeReadDue), (_, .inputEnded), (_, .readOverdue):
            incoming(event)
        case (_, .writeAsked), (_, .closeWriteAsked), (_, .closeWriteDue), (_, .writeOverdue): outgoing(event)

        case (_, .start), (_, .tookConnection), (_, .tookSecured), (_, .tookBody), (_, .connected),
            (_, .handshakeDone), (_, .secureDue), (_, .captureDue):
            (.impossible, state)
        }
    }

    private func incoming(_ event: Event) -> (Action, State) {
        switch (event, state.reading) {
        case (.readAsked, let reading): (reading == .open ? .queue : .refuse, state)
        case (.closeReadAsked, let reading): (reading == .open ? .queue : .nothing, state)
        case (.closeReadDue, .open) where moves: (.closeReading, to(reading: .dropping))
        case (.inputEnded, .open) where moves: (.endReading, to(reading: .ended))
        case (.inputEnded, .dropping) where moves: (.nothing, to(reading: .ended))
        case (.readOverdue, .open) where isUnderWay: (.failReading, to(reading: .failed))
        default: (.impossible, state)
        }
    }

    private func outgoing(_ event: Event) -> (Action, State) {
        switch (event, state.writing) {
        case (.writeAsked, let writing): (writing == .open ? .queue : .refuse, state)
        case (.closeWriteAsked, let writing): (writing == .open ? .queue : .nothing, state)
        case (.closeWriteDue, .open) where moves: (.closeWriting, to(writing: .closed))
        case (.writeOverdue, .open) where isUnderWay: (.failWriting, to(writing: .failed))
        default: (.impossible, state)
        }
    }

    private func to(phase: Phase) -> State {
        State(phase: phase, reading: state.reading, writing: state.writing)
    }

    private func to(reading: Reading) -> State {
        State(phase: state.phase, reading: reading, writing: state.writing)
    }

    private func to(writing: Writing) -> State {
        State(phase: state.phase, reading: state.reading, writing: writing)
    }

    // MARK: - What it may do

    /// Whether bytes of the program move.
    var moves: Bool { state.phase == .clear || state.phase == .secured || state.phase == .body }

    /// Whether the task has begun, and has not given its connection away: times run.
    private var isUnderWay: Bool { moves || state.phase == .connecting || state.phase == .securing }

    /// Whether the task has a connection of its own to close.
    var hasConnection: Bool { state.phase == .clear || state.phase == .securing || state.phase == .secured }

    /// Whether neither direction takes any more operations.
    var isClosed: Bool { state.reading != .open && state.writing != .open }

    // MARK: - Why not

    /// Why an event is impossible in a state.
    static func objection(to event: Event, in state: State) -> String {
        "\(event) while \(state.phase), reading \(state.reading), writing \(state.writing): \(reason(event, in: state))"
    }

    private static func reason(_ event: Event, in state: State) -> String {
        switch event {
        case .start, .tookConnection, .tookSecured, .tookBody: return "a task gets one connection"
        case .connected: return "no connection is being made"
        case .handshakeDone: return "no handshake is under way"
        case .closeReadDue, .closeWriteDue, .secureDue, .captureDue, .inputEnded, .readOverdue, .writeOverdue: break
        case .readAsked, .writeAsked, .closeReadAsked, .closeWriteAsked, .changeAsked, .completed:
            return "it may come at any time"
        }
        switch state.phase {
        case .idle: return "what was never resumed has no connection that could say this"
        case .captured: return "the program has the streams"
        case .connecting where event != .readOverdue && event != .writeOverdue: return "there is no connection yet"
        case .securing where event != .readOverdue && event != .writeOverdue: return "the handshake has the connection"
        case .connecting, .securing, .clear, .secured, .body, .over: return "its direction has been closed before"
        }
    }
}
