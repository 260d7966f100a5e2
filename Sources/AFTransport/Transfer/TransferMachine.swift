/// Decides where one request stands on its way to a response. The transfer tells it what happens, and does what it says.
///
/// ```
/// idle ── ready ──▶ waiting ── began ──▶ exchanging ── finished ──▶ over
/// idle ── prepare ──▶ preparing ── ready ──▶ waiting
/// waiting ── sentAhead ──▶ following ── itsTurn ──▶ exchanging
/// following ── lostTurn ──▶ waiting
///
/// exchanging ── rewind ──▶ preparing
/// exchanging, preparing ── again ──▶ redialing ── began ──▶ exchanging
/// preparing, redialing, exchanging ── rulesChanged ──▶ waiting
/// waiting, redialing ── suspended ──▶ aside ── resumed ──▶ waiting
/// all but over ── left, ended ──▶ over
/// ```
///
/// A suspended transfer goes to `aside` in place of `waiting` and `redialing`. One that something holds up when it has
/// finished goes to `arrived` in place of `over`.
///
/// Pauses lie across the states: each says what keeps the transfer from going on, and which of its clocks run.
struct TransferMachine {
    enum State: UInt8, CaseIterable {
        /// Nothing was asked of it yet.
        case idle
        /// Its body is being opened, or begins again.
        case preparing
        /// It waits for a connection in the queue of its host.
        case waiting
        /// Its task was suspended while it waited: others go before it until the task is resumed.
        case aside
        /// A connection is being made for it alone, in place of one that was dead.
        case redialing
        /// Pipelined: the server answers other requests first.
        case following
        /// A connection sends it, and receives its response.
        case exchanging
        /// The response has arrived in full, and something holds up the task.
        case arrived
        case over
    }

    enum Event: UInt8, CaseIterable {
        /// The client opens its body.
        case prepare
        /// It can be sent.
        case ready
        /// A connection begins to send it.
        case began
        /// A connection sends it behind others.
        case sentAhead
        /// The next response on its connection is its own.
        case itsTurn
        /// Its connection ended, or it left it, before its turn came.
        case lostTurn
        /// Its connection is gone, and it may be sent once more: its body begins again.
        case rewind
        /// Its connection is gone, its body is ready, and it may be sent once more.
        case again
        /// The rules are over under which it waited, or had its connection.
        case rulesChanged
        case suspended
        case resumed
        case finished
        /// It has failed, or its connection has another owner: the transfer has nothing any more.
        case ended
        /// Nothing of it is wanted any more.
        case left
    }

    enum Action: Equatable {
        case nothing
        /// Ask the pool for a connection. The time in the queue begins.
        case join
        /// Let others go first. The time in the queue begins.
        case joinAside
        /// Ask the pool for a connection again.
        case rejoin
        /// Take it out of the queue.
        case withdraw
        /// Let the body begin again.
        case rewindBody
        /// Ask for a connection of its own.
        case redial
        /// Give up the connection that is being made.
        case cancelDial
        /// Give up the connection, which may still get some of the response.
        case abandon
        /// Tell the pool that it has no connection, and waits for none.
        case leavePlace
        /// No order of events leads here: `objection` says why. The transfer fails with an error that names both.
        case impossible
    }

    /// Which of its clocks run.
    enum Clocks {
        case none
        /// That of the whole task.
        case task
        /// That of the task, and that of silence.
        case all
    }

    private(set) var state = State.idle
    private(set) var pauses: TransferPauses = []
    /// Its body has nothing to send now.
    var isBodyAwaited = false
    private var hasBeenRepeated = false
    /// It was pipelined once: not a second time, since it may have been to blame for the end of the first connection.
    private var hasFollowed = false

    // MARK: - Events

    @inline(__always)
    mutating func handle(_ event: Event) -> Action {
        switch event {
        case .rewind, .again: hasBeenRepeated = true
        case .lostTurn: hasFollowed = true
        default: break
        }
        let (action, next) = table(event)
        state = next
        return action
    }

    @inline(__always)
    private func table(_ event: Event) -> (Action, State) {
        switch (state, event) {
        case (.idle, .prepare): (.nothing, .preparing)
        case (.idle, .ready), (.preparing, .ready): join
        case (.waiting, .began), (.redialing, .began): (.nothing, .exchanging)
        case (.waiting, .sentAhead): (.nothing, .following)
        case (.following, .itsTurn): (.nothing, .exchanging)
        case (.following, .lostTurn): join
        case (.exchanging, .rewind): (.rewindBody, .preparing)
        // A suspended task gets no connection of its own: it waits like any other.
        case (.exchanging, .again), (.preparing, .again): isSuspended ? join : (.redial, .redialing)
        case (.waiting, .rulesChanged), (.redialing, .rulesChanged), (.exchanging, .rulesChanged),
            (.preparing, .rulesChanged):
            join
        case (.exchanging, .finished): (.nothing, pauses.isDisjoint(with: .open) ? .over : .arrived)
        case (.waiting, .suspended): (.withdraw, .aside)
        case (.redialing, .suspended): (.cancelDial, .aside)
        case (.aside, .resumed): (.rejoin, .waiting)
        case (_, .suspended), (_, .resumed): (.nothing, state)
        case (_, .left): (leaving, .over)
        case (_, .ended): (state == .preparing ? .leavePlace : .nothing, .over)
        // The client's body was ready, or began again, too late.
        case (.over, _): (.nothing, .over)
        case (.idle, _), (.preparing, _), (.waiting, _), (.aside, _), (.redialing, _), (.following, _),
            (.exchanging, _), (.arrived, _):
            (.impossible, state)
        }
    }

    private var join: (Action, State) { isSuspended ? (.joinAside, .aside) : (.join, .waiting) }

    private var leaving: Action {
        switch state {
        case .idle, .aside, .arrived, .over: .nothing
        case .preparing: .leavePlace
        case .waiting: .withdraw
        case .redialing: .cancelDial
        case .following, .exchanging: .abandon
        }
    }

    /// Why an event is impossible in a state.
    static func objection(to event: Event, in state: State) -> String { "\(event) while \(state): \(reason(event))" }

    private static func reason(_ event: Event) -> String {
        switch event {
        case .prepare: "a transfer begins once"
        case .ready: "it waits for no body"
        case .began, .sentAhead: "it is in no queue"
        case .itsTurn, .lostTurn: "it follows no other request"
        case .rewind, .again: "it has lost no connection"
        case .rulesChanged: "it is in no queue, and has no connection"
        case .finished: "it has no connection"
        case .suspended, .resumed, .ended, .left: "it may come at any time"
        }
    }

    // MARK: - What keeps it from going on

    var isSuspended: Bool { pauses.contains(.suspended) }

    /// - Returns: Whether it is new.
    mutating func pause(_ reason: TransferPauses) -> Bool { pauses.insert(reason).inserted }

    /// - Returns: Whether it was one.
    mutating func unpause(_ reason: TransferPauses) -> Bool { pauses.remove(reason) != nil }

    /// No client waits any more: nothing holds up what is still to be read.
    mutating func forgetPauses() {
        pauses = []
    }

    /// Its former connection waited for the body, or for a share of the rate limit; the next one asks for its own.
    mutating func beginAnew() {
        pauses.remove(.share)
        isBodyAwaited = false
    }

    /// Which clocks run. A peer is not late while the transfer keeps it waiting.
    var clocks: Clocks {
        if isSuspended { return .none }
        switch state {
        case .preparing, .arrived, .over: return .task
        case .waiting: return .all
        case .idle, .aside, .redialing, .following, .exchanging:
            return pauses.isEmpty && !isBodyAwaited ? .all : .task
        }
    }

    // MARK: - What it may do

    /// Whether it may still be sent once more by itself.
    var mayBeRepeated: Bool { !hasBeenRepeated }
    var mayFollow: Bool { !hasBeenRepeated && !hasFollowed }
}
