import AFLoop
import AFWire
import Foundation

/// Holds a task back until the date its owner has set. Confined to the loop.
final class DelayedStart: TimerTarget {
    private weak var core: TaskCore?
    private let loop: EventLoop
    private var timer: TimerID?

    init(of core: TaskCore, for interval: LoopInterval) {
        self.core = core
        loop = core.session.loop
        timer = loop.startTimer(at: loop.now + interval, in: .all, for: self)
    }

    func stop() {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        core?.dateHasCome()
    }
}

extension TaskCore {
    /// True if the task may not begin yet.
    func waits(for date: Date?) -> Bool {
        guard let date, let present = presentRequest else { return false }
        let seconds = date.timeIntervalSinceNow
        guard seconds > 0 else { return false }
        course(beginningWith: present).delay = DelayedStart(of: self, for: LoopInterval(timeout: seconds))
        return true
    }

    fileprivate func dateHasCome() {
        postponeIfSuspended { [self] in
            guard isLoading else { return }
            guard !asksAboutDelayed() else { return }
            course?.delay = nil
            beginLoading()
        }
    }

    /// False if there is no delegate to ask.
    private func asksAboutDelayed() -> Bool {
        guard let (delegate, task) = taskDelegate, !session.isMissing(.willBeginDelayed, in: delegate),
            let request = presentRequest
        else { return false }
        // The task's time runs from here on, as it does during a load.
        restartTime()
        startClock()
        let loop = session.loop
        // Weak: a delegate that never answers does not keep the task alive.
        let answer: (URLSession.DelayedRequestDisposition, URLRequest?) -> Void = { [weak self] disposition, request in
            self?.answered(disposition, request)
        }
        let bound = LoopBound(confined: answer, on: loop)
        session.outbox.post(
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
        return true
    }

    /// Only the first answer counts: after it the task does not wait any more.
    private func answered(_ disposition: URLSession.DelayedRequestDisposition, _ request: URLRequest?) {
        guard isLoading, let course, course.delay != nil else { return }
        course.delay = nil
        postponeIfSuspended { [self] in
            guard isLoading else { return }
            stopClock()
            switch (disposition, request) {
            case (.cancel, _): fail(.cancelled)
            case (.useNewRequest, let request?): beginLoading(request)
            case (.useNewRequest, nil), (.continueLoading, _): beginLoading()
            }
        }
    }

    /// Sends the request that the delegate wants in place of the task's. A download that resumes keeps its own.
    private func beginLoading(_ request: URLRequest) {
        guard let task, !consumer.prepares(for: self) else { return }
        do throws(RequestRejection) {
            let frozen = try body.freeze(request, in: task.session)
            becomes(request)
            load(frozen, madeFrom: request)
        } catch {
            fail(.rejected(error))
        }
    }
}
