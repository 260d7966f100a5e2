/// Decides what a load does next. The load tells it what happens, and does what it says.
///
/// ```
/// new ── start ──▶ preparing ── prepared ──▶ exchanging ── head ──▶ judging ── accepted ──▶ delivering
/// delivering ── done ──▶ storing ── stored ──▶ completed
/// delivering ── held ──▶ holding ── released ──▶ storing
/// holding ── handedOver ──▶ delivering
///
/// preparing, delivering ── head ──▶ judging
/// preparing ── accepted ──▶ delivering
/// preparing, exchanging, delivering, holding ── failure ──▶ mending
/// exchanging, judging, mending, delivering, holding ── again ──▶ preparing
/// all but saving, completed ── fail ──▶ saving ── saved ──▶ completed
/// ```
///
/// Suspension and waits lie across the states. A *wait* has a ticket: only the answer with the ticket of the present
/// wait counts. What changes the state ends the wait, so each wait gets one answer at most, and an answer that comes
/// too late does nothing.
struct LoadMachine {
    enum State: UInt8, CaseIterable {
        /// The task was not resumed yet.
        case new
        /// The steps prepare a request, or wait for an answer about it.
        case preparing
        /// The request is on its way, or a source of the session loads it. No response has arrived.
        case exchanging
        /// The steps judge a response, or wait for an answer about it. The load keeps what else arrives of it.
        case judging
        /// The steps judge a failure, or wait for an answer about it.
        case mending
        /// The response is the task's: the body goes to the consumer.
        case delivering
        /// The body has arrived in full, and the consumer holds the task.
        case holding
        /// The task has its response in full, and so may the cache: the delegate may have to say so first.
        case storing
        /// The load has failed, and the consumer saves what it can.
        case saving
        case completed
    }

    enum Event: UInt8, CaseIterable {
        /// The task is resumed for the first time.
        case start
        /// The steps have prepared the request.
        case prepared
        /// The head of a response is there: from the network, from a source of the session, or from the cache.
        case head
        /// No step wants the response.
        case accepted
        /// A part of the body is there.
        case part
        /// The body has ended.
        case end
        /// The exchange has failed, in a way that a step may mend.
        case failure
        /// A step, or the consumer, wants a request to be sent in place of the present one.
        case again
        /// The consumer has the body, and holds the task.
        case held
        /// The consumer has the body, and is done.
        case done
        /// The consumer, which held the task, is done.
        case released
        /// The cache has what it may have of the response.
        case stored
        /// Another consumer takes over, which has not got the body yet.
        case handedOver
        /// The load fails, in a way that no step mends.
        case fail
        /// The consumer has saved what it could, or saves nothing.
        case saved
    }

    enum Action: Equatable {
        /// Let the steps prepare a request.
        case prepare
        /// Wait for the response.
        case wait
        /// Let the steps judge the response.
        case judge
        /// Keep this with the response that the steps judge.
        case keep
        /// Let the steps judge the failure.
        case mend
        /// Give this to the consumer.
        case deliver
        /// Leave the task to its consumer.
        case hold
        /// Give the cache what it may have.
        case store
        /// Ask the consumer what it saves.
        case save
        /// Tell the consumer, which saves, of one more failure.
        case hurry
        /// Complete the task.
        case complete
        /// The event comes too late to matter.
        case nothing
        /// No order of events leads here: `objection` says why. The load ends with an error that names both.
        case impossible
    }

    private(set) var state = State.new
    /// Whether the owner has suspended the task, as far as the loop has heard.
    private(set) var isSuspended = false
    private var isWaiting = false
    private var ticket: UInt32 = 0

    // Each caller knows its event: inlined, the table becomes one look at the state.
    @inline(__always)
    mutating func handle(_ event: Event) -> Action {
        let (action, next) = LoadMachine.table(state, event: event)
        if next != state || event == .again || event == .head { isWaiting = false }
        state = next
        return action
    }

    /// What the load does at an event in a state, and the state that follows. The whole table.
    @inline(__always)
    private static func table(_ state: State, event: Event) -> (Action, State) {
        switch (state, event) {
        case (.new, .start): (.prepare, .preparing)
        case (.new, .fail): (.save, .saving)

        case (.preparing, .prepared): (.wait, .exchanging)
        // The cache answers, or the consumer loads by itself.
        case (.preparing, .head): (.judge, .judging)
        case (.preparing, .accepted): (.deliver, .delivering)

        case (.exchanging, .head): (.judge, .judging)

        case (.judging, .accepted): (.deliver, .delivering)
        case (.judging, .part), (.judging, .end), (.judging, .failure): (.keep, .judging)

        case (.delivering, .part), (.delivering, .end): (.deliver, .delivering)
        case (.delivering, .held): (.hold, .holding)
        case (.delivering, .done): (.store, .storing)

        // A class of the program redirects after its response.
        case (.delivering, .head): (.judge, .judging)

        // A class of the program that is asked about the request takes too long: `preparing`.
        case (.preparing, .failure), (.exchanging, .failure), (.delivering, .failure), (.holding, .failure):
            (.mend, .mending)

        case (.holding, .released): (.store, .storing)
        case (.holding, .handedOver): (.deliver, .delivering)

        case (.storing, _): storing(event)
        case (.saving, _): saving(event)
        case (.completed, _): (.nothing, .completed)

        case (.preparing, .again), (.exchanging, .again), (.judging, .again), (.mending, .again), (.delivering, .again),
            (.holding, .again):
            (.prepare, .preparing)
        case (.preparing, .fail), (.exchanging, .fail), (.judging, .fail), (.mending, .fail), (.delivering, .fail),
            (.holding, .fail):
            (.save, .saving)

        // The consumer may end twice: a stream task closes both its directions.
        case (.delivering, .released), (.delivering, .handedOver), (.holding, .end): (.nothing, state)
        // The exchange is over for the load, and a decoder or a consumer still hands on what it has.
        case (.preparing, .part), (.preparing, .end), (.exchanging, .part), (.exchanging, .end), (.mending, .part),
            (.mending, .end), (.holding, .part), (.mending, .failure), (.preparing, .released),
            (.preparing, .handedOver):
            (.nothing, state)
        case (.new, .prepared), (.new, .head), (.new, .accepted), (.new, .part), (.new, .end), (.new, .failure),
            (.new, .again), (.new, .held), (.new, .done), (.new, .released), (.new, .stored), (.new, .handedOver),
            (.new, .saved),
            (.preparing, .start), (.preparing, .held), (.preparing, .done), (.preparing, .stored),
            (.preparing, .saved),
            (.exchanging, .start), (.exchanging, .prepared), (.exchanging, .accepted), (.exchanging, .held),
            (.exchanging, .done), (.exchanging, .released), (.exchanging, .stored), (.exchanging, .handedOver),
            (.exchanging, .saved),
            (.judging, .start), (.judging, .prepared), (.judging, .head), (.judging, .held), (.judging, .done),
            (.judging, .released), (.judging, .stored), (.judging, .handedOver), (.judging, .saved),
            (.mending, .start), (.mending, .prepared), (.mending, .head), (.mending, .accepted), (.mending, .held),
            (.mending, .done), (.mending, .released), (.mending, .stored), (.mending, .handedOver),
            (.mending, .saved),
            (.delivering, .start), (.delivering, .prepared), (.delivering, .accepted), (.delivering, .stored),
            (.delivering, .saved),
            (.holding, .start), (.holding, .prepared), (.holding, .head), (.holding, .accepted), (.holding, .held),
            (.holding, .done), (.holding, .stored), (.holding, .saved):
            (.impossible, state)
        }
    }

    // In functions of their own: a table of all states in one is too much for the compiler.

    @inline(__always)
    private static func storing(_ event: Event) -> (Action, State) {
        switch event {
        case .stored: (.complete, .completed)
        case .fail: (.save, .saving)
        // The consumer may end twice, and a decoder hands on what it has.
        case .released, .part, .end, .failure: (.nothing, .storing)
        case .start, .prepared, .head, .accepted, .again, .held, .done, .handedOver, .saved: (.impossible, .storing)
        }
    }

    @inline(__always)
    private static func saving(_ event: Event) -> (Action, State) {
        switch event {
        case .fail: (.hurry, .saving)
        case .saved: (.complete, .completed)
        case .start, .prepared, .head, .accepted, .part, .end, .failure, .again, .held, .done, .released, .stored,
            .handedOver:
            (.nothing, .saving)
        }
    }

    /// Why an event is impossible in a state.
    static func objection(to event: Event, in state: State) -> String {
        "\(event) while \(state): \(reason(event, state: state))"
    }

    private static func reason(_ event: Event, state: State) -> String {
        if state == .new { return "what was never resumed has nothing that could say this" }
        switch event {
        case .start: return "a task starts once"
        case .prepared: return "no request is being prepared"
        case .head: return "the response before it is not done with"
        case .accepted: return "no response is being judged"
        case .held, .done, .released, .handedOver:
            let isPast = state == .holding || state == .storing
            return isPast ? "the consumer has said so before" : "the consumer has no response"
        case .stored: return "the cache was given nothing"
        case .saved: return "nothing has failed"
        case .again: return "the task has its response in full"
        case .part, .end, .failure, .fail: return "it may come at any time"
        }
    }

    /// Whether the load goes on: nothing has failed it, and its body has not arrived in full.
    var isLoading: Bool {
        switch state {
        case .preparing, .exchanging, .judging, .mending, .delivering: true
        case .new, .holding, .storing, .saving, .completed: false
        }
    }

    /// Whether the load waits for its consumer, or for the delegate's word about the cache. Its body has arrived in full.
    var isHeld: Bool { state == .holding || state == .storing }

    // MARK: - Suspension

    /// - Returns: Whether the load has something to pause.
    mutating func suspend() -> Bool {
        isSuspended = true
        return isLoading || isHeld
    }

    /// - Returns: Whether the load has something to go on with.
    mutating func resume() -> Bool {
        isSuspended = false
        return isLoading || isHeld
    }

    // MARK: - Waits

    enum Answer {
        /// Act on it.
        case now
        /// Act on it when the task is resumed.
        case onResumption
        case tooLate
    }

    /// A step begins to wait for an answer.
    ///
    /// - Returns: The ticket to give with the answer.
    mutating func beginWait() -> UInt32 {
        ticket &+= 1
        isWaiting = true
        return ticket
    }

    func isWaiting(with ticket: UInt32) -> Bool { isWaiting && ticket == self.ticket }

    /// The answer to a wait has come. It ends the wait, unless the task is suspended: then the load asks again when it
    /// is resumed.
    mutating func answer(_ ticket: UInt32) -> Answer {
        guard isWaiting(with: ticket) else { return .tooLate }
        guard !isSuspended else { return .onResumption }
        isWaiting = false
        return .now
    }
}
