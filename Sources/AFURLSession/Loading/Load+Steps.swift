import AFLoop
import AFTransport
import AFWire
import Foundation

// How a load obeys its steps: `LoadSteps` has their order.

extension Load {
    // MARK: - Preparing a request

    /// Lets the steps prepare a request, then sends it.
    func prepare(_ draft: RequestDraft, from entry: LoadSteps.Entry) {
        prepare(draft, from: session.steps.place(of: entry))
    }

    private func prepare(_ draft: RequestDraft, from place: Int) {
        var draft = draft
        let steps = session.steps.preparing
        for place in place..<steps.count {
            let preparation = steps[place].prepare(&draft, of: self)
            if case .goOn = preparation { continue }
            return obey(preparation, draft: draft, next: place + 1)
        }
        guard take(.prepared) == .wait else { return }
        RequestSender(self).send(draft)
    }

    private func obey(_ preparation: Preparation, draft: RequestDraft, next place: Int) {
        switch preparation {
        case .goOn: prepare(draft, from: place)
        case .goOnAt(let entry): prepare(draft, from: entry)
        case .later(let program, let isTimed, let begin):
            wait(.preparing(draft, next: place), asking: program, isTimed: isTimed) { ticket in
                begin { [weak self] answer in self?.answered(ticket) { load in load.goOn(answer) } }
            }
        case .taken:
            draft.body?.close()
            _ = take(.prepared)
        case .leftToConsumer: _ = take(.accepted)
        case .answer(let stored): answer(with: stored)
        case .fail(let error):
            draft.body?.close()
            if case .rejected = error, let cause = draft.history?.cause { present(cause) }
            fail(error)
        }
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
        prepare(RequestDraft(other.map(OwnRequest.ready) ?? ownWire), from: .interceptors)
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
        judge(outcome, from: 0)
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
            judge(.failure(error), from: 0)
        default: break
        }
    }

    private func judge(_ outcome: ExchangeOutcome, from place: Int) {
        let steps = session.steps.judging
        for place in place..<steps.count {
            let verdict = steps[place].judge(outcome, of: self)
            if case .pass = verdict { continue }
            return obey(verdict, on: outcome, next: place + 1)
        }
        conclude(outcome)
    }

    private func obey(_ verdict: Verdict, on outcome: ExchangeOutcome, next place: Int) {
        switch verdict {
        case .pass: judge(outcome, from: place)
        case .later(let program, let isTimed, let begin):
            hold(outcome)
            wait(.judging(outcome, next: place), asking: program, isTimed: isTimed) { ticket in
                begin { [weak self] answer in self?.answered(ticket) { load in load.goOn(answer) } }
            }
        case .send(let draft, let entry):
            guard take(.again) == .prepare else { return }
            prepare(draft, from: entry)
        case .answer(let stored):
            guard take(.again) == .prepare else { return }
            answer(with: stored)
        case .fail(let error, let response):
            if let response { present(response) }
            fail(error)
        }
    }

    /// Keeps what arrives of a response while a step waits.
    private func hold(_ outcome: ExchangeOutcome) {
        switch outcome {
        case .response(let pending):
            guard let request = presentRequest else { return }
            memory(beginningWith: request).pending = pending
            pending.transfer?.keepsBody = true
            pending.transfer?.pause(.undecided)
        case .foreignResponse(_, let foreign): foreign.pause(.undecided)
        case .failure, .foreignRedirect: break
        }
    }

    /// No step wants the outcome: it is the task's.
    private func conclude(_ outcome: ExchangeOutcome) {
        if case .failure(let error) = outcome { return fail(error) }
        guard take(.accepted) == .deliver else { return }
        switch outcome {
        case .response(let pending): deliver(pending)
        case .foreignResponse(let response, let foreign):
            deliver(asItIs: response, expecting: response.expectedContentLength)
            foreign.unpause(.undecided)
        case .foreignRedirect(_, let response, let foreign):
            foreign.stop()
            deliver(asItIs: response, expecting: 0)
            finishReceiving()
        case .failure: break
        }
    }

    // MARK: - Waiting

    /// - Parameter begin: Gets the ticket of the wait. It refers to the load weakly: a delegate that never answers does
    ///   not keep the task alive.
    private func wait(
        _ waiting: LoadMemory.Waiting,
        asking program: MissingAnswer?,
        isTimed: Bool,
        begin: (UInt32) -> Void
    ) {
        guard let request = presentRequest else { return }
        memory(beginningWith: request).wait(waiting)
        let ticket = beginWait(asking: program)
        begin(ticket)
        if isTimed, isWaiting(with: ticket), !hasDeadline { watchTime() }
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

    private func goOn(_ answer: (inout RequestDraft, Load) -> Preparation) {
        guard case .preparing(var draft, let place) = memory?.takeWaiting() else { return }
        let preparation = answer(&draft, self)
        obey(preparation, draft: draft, next: place)
    }

    private func goOn(_ answer: (Load, ExchangeOutcome) -> Verdict) {
        guard case .judging(let outcome, let place) = memory?.takeWaiting() else { return }
        obey(answer(self, outcome), on: outcome, next: place)
    }

    func goOnWithPostponed() { memory?.goOnWithPostponed() }

    /// Whether an exchange that is under way keeps the deadlines.
    private var hasDeadline: Bool { state != .mending && (memory?.foreign != nil || transfer != nil) }
}
