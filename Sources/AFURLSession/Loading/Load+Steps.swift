import AFLoop
import AFTransport
import AFWire
import Foundation

// What a load leaves to its steps, and to those who act on what the steps answer. `LoadSteps` has their order.

extension Load: LoadView {
    var delivered: DeliveredResponse {
        response.map { consumer.mayStartOver ? .revocable($0) : .taken($0) } ?? .nothing
    }

    // MARK: - Preparing a request

    func begin(_ draft: consuming RequestDraft) { RequestPreparer(self).begin(draft) }

    func prepare(_ draft: consuming RequestDraft, from entry: LoadSteps.Entry) {
        RequestPreparer(self).prepare(draft, from: entry)
    }

    /// A draft of the task's own request, or of one that its delegate or its consumer has put in place of it.
    func ownDraft(_ wire: OwnRequest) -> RequestDraft {
        var draft = RequestDraft(wire)
        draft.mayBeIntercepted =
            request.frozen?.terms.answer.hasInterceptors
            ?? handle?.originalRequest?.contents.interception.hasInterceptors == true
        return draft
    }

    /// Sends the task's request, or another in its place. The consumer gives up the present exchange.
    ///
    /// - Parameter origin: The request that the other one was made from.
    func restart(with other: WireRequest? = nil, madeFrom origin: URLRequest? = nil) {
        guard isLoading, take(.again) == .prepare, handle != nil else { return }
        memory?.stopWaiting()
        if transfer != nil || memory?.foreign != nil || other != nil, let origin = origin ?? ownRequest {
            let memory = memory(beginningWith: origin)
            leave(nil)
            leaveForeign(nil)
            memory.request = origin
            if other == nil {
                // Nothing holds any more that followed from where redirects led. Their number goes on.
                (memory.hasLeftOrigin, memory.hasDroppedBody) = (false, false)
                becomes(origin)
            }
        }
        prepare(ownDraft(other.map(OwnRequest.ready) ?? ownWire), from: .interceptors)
    }

    // MARK: - Judging an outcome

    /// The response is there, and no step has to judge it.
    ///
    /// - Returns: Whether to deliver it.
    func acceptResponse() -> Bool {
        take(.head) == .judge && take(.accepted) == .deliver
    }

    /// A response is there that a step may want.
    func judge(response outcome: ExchangeOutcome) {
        guard take(.head) == .judge else { return }
        OutcomeJudge(self).judge(outcome)
    }

    /// The exchange has failed, and a step may mend it.
    func judge(_ error: LoadError) {
        // The time of the task is over: no step needs to decide about its response any more.
        if state == .judging, error.isOutOfTime { return fail(error) }
        switch take(.failure) {
        case .keep:
            memory?.pending?.end = .failed(error)
            watchTime()
        case .mend:
            memory?.stopPreparing()
            OutcomeJudge(self).judge(.failure(failure(error)))
        default: break
        }
    }

    private func failure(_ error: LoadError) -> ExchangeFailure {
        ExchangeFailure(error: error) { [weak self] in
            error.foreign ?? self?.urlError(error) ?? URLError(.cancelled)
        }
    }

    // MARK: - The end

    /// Gives the response to the cache.
    func store() {
        guard writer != nil || memory?.foreign != nil else { return completeStored() }
        if let writer {
            trace?.note(.cacheStore)
            if let whole = consumer.collected { writer.receive(whole: whole) }
        }
        let taken: (any StorableResponse)? = writer.take()
        ResponseKeeper(self).keep(taken ?? memory?.foreign?.takeStorage())
    }

    func report(_ error: (any Error)?) { TaskReporter(self).report(error) }

    // MARK: - Waiting

    /// - Parameter begin: Gets the ticket of the wait. It refers to the load weakly: a delegate that never answers does
    ///   not keep the task alive.
    func wait(
        _ waiting: LoadMemory.Waiting,
        asking program: MissingAnswer?,
        time: WaitTime = .runs,
        begin: (UInt32) -> Void
    ) {
        guard let request = presentRequest else { return }
        memory(beginningWith: request).wait(waiting)
        if case .begins = time { restartTime(of: self.request) }
        let ticket = beginWait(asking: program)
        begin(ticket)
        if case .stands = time { return }
        if isWaiting(with: ticket), !hasDeadline { watchTime() }
    }

    /// Goes on with the first answer to a wait: at once, or when the task is resumed.
    func answered(_ ticket: UInt32, goOn: @escaping (Load) -> Void) {
        let answer = answer(ticket)
        if answer != .tooLate { memory?.missingAnswer = nil }
        switch answer {
        case .now: goOn(self)
        case .onResumption where memory?.postponed == nil:
            memory?.postponed = { [weak self] in self?.answered(ticket, goOn: goOn) }
        case .onResumption, .tooLate: break
        }
    }

    func goOnWithPostponed() { memory?.goOnWithPostponed() }

    /// Whether an exchange that is under way keeps the deadlines.
    private var hasDeadline: Bool { state != .mending && (memory?.foreign != nil || transfer != nil) }
}
