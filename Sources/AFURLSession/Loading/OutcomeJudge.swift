import Foundation

/// Lets the steps judge what an exchange of a load has come to, and does what they say. `LoadSteps` has their order.
struct OutcomeJudge {
    private let load: Load

    init(_ load: Load) {
        self.load = load
    }

    func judge(_ outcome: ExchangeOutcome) {
        judge(outcome, from: 0)
    }

    private func judge(_ outcome: ExchangeOutcome, from place: Int) {
        let steps = load.session.steps.judging
        for place in place..<steps.count {
            let verdict = steps[place].judge(outcome, of: load)
            if case .pass = verdict { continue }
            return obey(verdict, on: outcome, next: place + 1)
        }
        conclude(outcome)
    }

    private func obey(_ verdict: Verdict, on outcome: ExchangeOutcome, next place: Int) {
        switch verdict {
        case .pass: judge(outcome, from: place)
        case .later(let program, let time, let begin):
            hold(outcome)
            load.wait(.judging(outcome, next: place), asking: program, time: time) { ticket in
                begin { [weak load] answer in
                    load?.answered(ticket) { load in OutcomeJudge(load).goOn(answer) }
                }
            }
        case .send(let next):
            RequestPreparer(load).send(next, body: load.transfer?.surrenderBody(), after: outcome)
        case .retry(let wait): RequestPreparer(load).retry(after: wait, leaving: outcome)
        case .answer(let stored):
            guard load.take(.again) == .prepare else { return }
            load.leave(outcome)
            load.answer(with: stored)
        case .fail(let error, let response):
            if let response { load.present(response) }
            load.fail(error)
        }
    }

    private func goOn(_ answer: (any LoadView, ExchangeOutcome) -> Verdict) {
        guard case .judging(let outcome, let place) = load.memory?.takeWaiting() else { return }
        obey(answer(load, outcome), on: outcome, next: place)
    }

    /// Keeps what arrives of a response while a step waits.
    private func hold(_ outcome: ExchangeOutcome) {
        switch outcome {
        case .response(let pending):
            guard let request = load.presentRequest else { return }
            load.memory(beginningWith: request).pending = pending
            pending.transfer?.keepsBody = true
            pending.transfer?.pause(.undecided)
        case .foreignResponse(_, let foreign): foreign.pause(.undecided)
        case .failure, .foreignRedirect: break
        }
    }

    /// No step wants the outcome: it is the task's.
    private func conclude(_ outcome: ExchangeOutcome) {
        if case .failure(let failure) = outcome { return load.fail(failure.error) }
        guard load.take(.accepted) == .deliver else { return }
        switch outcome {
        case .response(let pending): load.deliver(pending)
        case .foreignResponse(let response, let foreign):
            load.deliver(asItIs: response, expecting: response.expectedContentLength)
            foreign.unpause(.undecided)
        case .foreignRedirect(_, let response, let foreign):
            foreign.stop()
            load.startConsumerOver()
            load.deliver(asItIs: response, expecting: 0)
            load.finishReceiving()
        case .failure: break
        }
    }
}
