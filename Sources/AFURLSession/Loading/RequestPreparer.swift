import AFBase
import AFTransport
import AFWire
import Foundation

/// Lets the steps prepare a request of a load, and does what they say. `LoadSteps` has their order.
struct RequestPreparer {
    private let load: Load

    init(_ load: Load) {
        self.load = load
    }

    /// The time of the task begins, and the consumer does what it has to do first: a download that resumes asks for the
    /// rest. Then the steps prepare the request.
    func begin(_ draft: consuming RequestDraft) {
        if let request = draft.history?.replacement {
            load.memory(beginningWith: request).replacement = request
            load.becomes(request)
            draft.wire = load.ownWire
        }
        load.restartTime(of: draft.wire)
        switch load.consumer.prepare(for: load) {
        case .nothing: prepare(draft, from: .interceptors)
        // It calls `restart`, which begins with another draft.
        case .later: load.wait(.preparing(draft, next: 0), asking: nil) { _ in }
        case .loadsItself: _ = load.take(.accepted)
        }
    }

    /// Lets the steps prepare a request, then sends it.
    func prepare(_ draft: consuming RequestDraft, from entry: LoadSteps.Entry) {
        prepare(draft, from: load.session.steps.place(of: entry))
    }

    private func prepare(_ draft: consuming RequestDraft, from place: Int) {
        let steps = load.session.steps.preparing
        for place in place..<steps.count {
            let preparation = steps[place].prepare(&draft, of: load)
            if case .goOn = preparation { continue }
            return obey(preparation, draft: draft, next: place + 1)
        }
        guard load.take(.prepared) == .wait else { return }
        (load.cacheTicket, load.cookieEpoch) = (draft.cacheTicket, draft.cookieEpoch)
        RequestSender(load).send(draft)
    }

    private func obey(_ preparation: Preparation, draft: consuming RequestDraft, next place: Int) {
        switch preparation {
        case .goOn: prepare(draft, from: place)
        case .goOnWith(let request, let isAnew):
            load.becomes(request)
            if isAnew { load.countBodyAnew(of: draft.wire) }
            prepare(draft, from: place)
        case .goOnAt(let entry): prepare(draft, from: entry)
        case .withFields:
            draft.add { load.addingStepFields(to: $0) }
            prepare(draft, from: place - 1)
        case .begin: begin(draft)
        case .later(let program, let time, let begin):
            wait(draft, next: place, asking: program, time: time, begin: begin)
        case .offered(let request, let begin):
            guard let present = load.presentRequest else { return }
            load.beginForeign(present)
            // Classes are asked about a task, so the request must be the task's current one.
            load.snapshot.withLock { $0.currentRequest = request }
            wait(draft, next: place, asking: nil, time: .runs, begin: begin)
        case .taken(let begin):
            draft.body?.close()
            if offered == nil, let present = load.presentRequest { load.beginForeign(present) }
            if !draft.keepsBody { load.memory?.hasDroppedBody = true }
            begin(load)
            _ = load.take(.prepared)
        case .send(let next, let body): send(next, body: body)
        case .answer(let stored): load.answer(with: stored)
        case .fail(let error):
            draft.body?.close()
            if case .rejected = error, let cause = draft.history?.cause { load.present(cause) }
            load.fail(error)
        }
    }

    // MARK: - Waiting

    private func wait(
        _ draft: RequestDraft,
        next place: Int,
        asking program: MissingAnswer?,
        time: WaitTime,
        begin: (@escaping Preparation.Reply) -> Void
    ) {
        load.wait(.preparing(draft, next: place), asking: program, time: time) { ticket in
            begin { [weak load] answer in
                load?.answered(ticket) { load in RequestPreparer(load).goOn(answer) }
            }
        }
    }

    private func goOn(_ answer: (inout RequestDraft, any LoadView) -> Preparation) {
        guard case .preparing(var draft, let place) = load.memory?.takeWaiting() else { return }
        let preparation = answer(&draft, load)
        if case .taken = preparation {} else { withdrawOffer() }
        obey(preparation, draft: draft, next: place)
    }

    /// No class of the program loads the request.
    private func withdrawOffer() {
        guard let memory = load.memory, let foreign = offered else { return }
        foreign.stop()
        memory.foreign = nil
        load.becomes(memory.request)
    }

    /// What classes of the program are asked to load.
    private var offered: ForeignLoad? { load.memory?.foreign.flatMap { $0.isAsking ? $0 : nil } }

    // MARK: - Another request

    /// Sends a request in place of the present one, which the load leaves.
    ///
    /// - Parameters:
    ///   - body: The body that went with the former request, unless the request itself holds it.
    ///   - outcome: What the exchange has come to; nil if the load has left it.
    func send(_ next: NextRequest, body: (any BodySource)?, after outcome: ExchangeOutcome? = nil) {
        guard let memory = load.presentRequest.map(load.memory(beginningWith:)) else { return body?.close() ?? () }
        if let leavesOrigin = next.redirectLeavesOrigin {
            memory.redirects += 1
            memory.hasLeftOrigin = memory.hasLeftOrigin || leavesOrigin
            if case .response(let pending) = outcome {
                load.trace?.redirected(pending.response.statusCode, to: next.request.url)
                ResponseKeeper(load).keepRedirect(pending)
            }
        }
        guard memory.headBytes + (load.transfer?.times.responseHeadBytes ?? 0) <= LoadMemory.headBudget else {
            body?.close()
            return load.fail(.tooManyHeads)
        }
        let draft: RequestDraft
        do throws(RequestRejection) {
            draft = try load.draft(of: next, body: body, after: outcome?.response)
        } catch {
            body?.close()
            if let response = outcome?.response { load.present(response) }
            return load.fail(.rejected(error))
        }
        if let outcome {
            guard load.take(.again) == .prepare else { return draft.body?.close() ?? () }
            memory.refusal = next.refusal
            if next.isFirst { load.forgetTransfer() }
            load.leave(outcome)
        }
        if next.former != nil, !next.keepsBody { memory.hasDroppedBody = true }
        load.becomes(next.request)
        prepare(draft, from: next.entry)
    }

    /// Ends the present attempt, and begins the next one with what it needs of this one.
    func retry(after wait: Duration, leaving outcome: ExchangeOutcome) {
        guard let memory = load.memory, let interception = memory.interception else {
            return load.fail(.fault("another attempt without interceptors"))
        }
        guard load.take(.again) == .prepare else { return }
        load.trace?.retries(as: interception.attempt + 1, after: wait)
        var repetition = Interception.Repetition()
        let isForeign = memory.foreign != nil
        if !isForeign {
            repetition = .init(former: load.transfer?.request, body: load.transfer?.surrenderBody())
        }
        load.leave(outcome)
        // No class has answered about the target of a redirect: begin again where it came from.
        if isForeign, let unsent = memory.takeUnsent(), let former = unsent.history?.former,
            unsent.keepsBody || !former.wire.hasBody
        {
            memory.request = former.request
            repetition = .init(former: former.wire, body: unsent.body)
        }
        interception.begin(repetition, after: (outcome.response as? HTTPURLResponse)?.statusCode, waiting: wait)
        prepare(load.ownDraft(load.ownWire), from: .interceptors)
    }
}

extension LoadError {
    static var tooManyHeads: LoadError {
        .transfer(.wire(HTTP1Error(.limit(.taskHeadBytes), detail: "the heads of all responses are longer than 1 MiB")))
    }
}
