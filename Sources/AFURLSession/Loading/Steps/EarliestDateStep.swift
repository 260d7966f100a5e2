import AFLoop
import Foundation

/// Holds a load back until the date its owner has set, and asks the delegate what to load then. Then the load begins.
final class EarliestDateStep: LoadStep {
    func prepare(_ draft: inout RequestDraft, of load: any LoadView) -> Preparation {
        if let date = draft.history?.date, let present = load.presentRequest {
            let seconds = date.timeIntervalSinceNow
            if seconds > 0 { return wait(seconds, memory: load.memory(beginningWith: present), load: load) }
        }
        return .begin
    }

    private func wait(_ seconds: TimeInterval, memory: LoadMemory, load: any LoadView) -> Preparation {
        .later(asking: nil, time: .stands) { reply in
            memory.delay = DelayTimer(after: LoopInterval(timeout: seconds), on: load.session.loop) { [self] in
                reply { [self] _, load in dateHasCome(load) }
            }
        }
    }

    private func dateHasCome(_ load: any LoadView) -> Preparation {
        load.memory?.delay = nil
        guard let (delegate, task) = load.taskDelegate, !load.session.isMissing(.willBeginDelayed, in: delegate),
            let request = load.presentRequest
        else { return .begin }
        return .later(asking: .delayed, time: .begins) { [self] reply in
            let loop = load.session.loop
            let bound = LoopBound(
                confined: { (disposition: URLSession.DelayedRequestDisposition, request: URLRequest?) in
                    reply { [self] draft, _ in answered(disposition, request: request, draft: &draft) }
                },
                on: loop
            )
            load.session.outbox.post(
                .block {
                    delegate.urlSession(
                        task.session,
                        task: task,
                        willBeginDelayedRequest: request,
                        completionHandler: { disposition, request in
                            loop.enqueue { bound.value(disposition, request) }
                        }
                    )
                }
            )
        }
    }

    private func answered(
        _ disposition: URLSession.DelayedRequestDisposition,
        request: URLRequest?,
        draft: inout RequestDraft
    ) -> Preparation {
        switch (disposition, request) {
        case (.cancel, _): return .fail(.cancelled)
        case (.useNewRequest, let request?): draft.history?.replacement = request
        case (.useNewRequest, nil), (.continueLoading, _): break
        }
        return .begin
    }
}

extension LoadMemory {
    /// The wait for the earliest date, or for another attempt.
    var delay: DelayTimer? {
        get { self[DelayTimer.self] }
        set { self[DelayTimer.self] = newValue }
    }
}
