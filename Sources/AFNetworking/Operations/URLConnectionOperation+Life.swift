import AFBase
import Dispatch
public import Foundation

/// Starts, pauses, resumes, cancels and finishes: each does what ``OperationMachine`` decides.
extension URLConnectionOperation {
    func begin() {
        let mayRun = super.isReady
        let isFlagged = super.isCancelled
        let (start, scheduler, modes) = state.withLock { state in
            // A queue that cancels all its operations flags the base class only.
            if isFlagged, !state.machine.isCancelled { _ = state.machine.cancel() }
            let start = state.machine.start(mayRun: mayRun)
            if case .connect = start { announceStart() }
            return (start, state.chooseScheduler(), state.runLoopModes)
        }
        switch start {
        case .nothing: break
        case .fail: scheduler.perform { [self] in cancelConnection() }
        case .connect(let attempt):
            notify(of: .executing, after: .ready)
            scheduler.perform(in: modes) { [self] in self.connect(attempt) }
        }
    }

    func halt() {
        let paused = state.withLock { state -> (OperationPhase, URLConnection?, ConnectionScheduler)? in
            guard let former = state.machine.pause() else { return nil }
            if state.machine.takeAnnouncement() { announceFinish() }
            state.rulesOfPart = state.trustRules ?? state.rulesOfPart
            defer { (state.connection, state.trustRules) = (nil, nil) }
            return (former, state.connection, state.chooseScheduler())
        }
        guard let (former, connection, scheduler) = paused else { return }
        notify(of: .paused, after: former)
        guard former == .executing else { return }
        // Not behind a write to the program's stream, which may block.
        connection?.cancel()
        scheduler.perform { [self] in willContinue() }
    }

    func goOn() {
        let (resume, scheduler, modes) = state.withLock { state in
            let resume = state.machine.resume()
            if case .connect = resume { announceStart() }
            return (resume, state.chooseScheduler(), state.runLoopModes)
        }
        switch resume {
        case .nothing: break
        case .wait: notify(of: .ready, after: .paused)
        case .connect(let attempt):
            notify(of: .executing, after: .paused)
            scheduler.perform(in: modes) { [self] in self.connect(attempt) }
        }
    }

    func giveUp() {
        let (cancel, scheduler) = state.withLock { state in (state.machine.cancel(), state.chooseScheduler()) }
        guard cancel != .nothing else { return }
        super.cancel()
        switch cancel {
        case .nothing, .flag: break
        case .wait: notify(of: .ready, after: .paused)
        case .fail:
            switch scheduler {
            case .networkThread: scheduler.perform { [self] in cancelConnection() }
            // The queue may be in a write to the program's stream that blocks: only the closing waits for that.
            case .queue: DispatchQueue.global().async { [self] in cancelConnection() }
            }
        }
    }

    /// Tells Foundation, which on Linux reads an operation's state only when it is told of a change. Called without the
    /// lock: Foundation reads the state at once.
    private func notify(of phase: OperationPhase, after former: OperationPhase) {
        willChangeValue(forKey: phase.key)
        willChangeValue(forKey: former.key)
        didChangeValue(forKey: former.key)
        didChangeValue(forKey: phase.key)
    }

    /// Ends the operation. Every end passes here.
    func finish(with error: (any Error)?) {
        let (sink, isOver) = state.withLock { ($0.sink, $0.machine.phase == .finished) }
        guard !isOver else { return }
        let data = error == nil ? sink?.data : nil
        let former = state.withLock { state -> (OperationPhase, URLConnection?)? in
            guard let former = state.machine.finish() else { return nil }
            state.error = error
            state.responseData = data
            // A stream of the program's is kept, for the program to read.
            if sink?.isMemory == true { state.sink = nil }
            if state.machine.takeAnnouncement() { announceFinish() }
            defer { (state.connection, state.trustRules) = (nil, nil) }
            return (former, state.connection)
        }
        // Another thread has paused it meanwhile.
        guard let (phase, connection) = former else { return }
        connection?.cancel()
        if let sink { closeSink(sink) }
        // Foundation calls the block later, on another thread: hold the operation until then.
        if super.completionBlock != nil { state.set(\.keeper, self) }
        notify(of: .finished, after: phase)
    }

    private func closeSink(_ sink: ResponseSink) {
        let (isCancelled, scheduler) = state.withLock { ($0.machine.isCancelled, $0.scheduler) }
        if isCancelled, case .queue? = scheduler { scheduler?.perform { sink.close() } } else { sink.close() }
    }

    /// The block that Foundation gets in the place of the program's completion block.
    func wrapped(_ block: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        { [weak self] in
            guard let self else { return }
            state.set(\.keeper, nil)
            let group = completionGroup
            MainQueue.completeWhenQuiet(on: completionQueue, group: group) {
                block()
                if group == nil { self.forgetCompletionBlock() }
            }
            group?.notify(queue: Self.tidyingQueue) { self.forgetCompletionBlock() }
        }
    }

    /// Releases the block, which often holds the operation.
    private func forgetCompletionBlock() {
        super.completionBlock = nil
    }

    /// Called under the lock, so that notifications come in the order of events; returns at once.
    private func announceStart() {
        RequestNotification.operationDidStart.post(object: self)
    }

    private func announceFinish() {
        RequestNotification.operationDidFinish.post(object: self)
    }
}

extension Notification.Name {
    /// A ``URLConnectionOperation`` has begun, or goes on after a pause. The object is the operation.
    ///
    /// Posted on the main queue, once the program has read one of these names.
    public static var networkingOperationDidStart: Notification.Name {
        RequestNotification.operationDidStart.nameForObservers
    }

    /// A ``URLConnectionOperation`` that had begun has finished, or was paused. The object is the operation.
    ///
    /// Posted as ``networkingOperationDidStart`` is, and once for each of these.
    public static var networkingOperationDidFinish: Notification.Name {
        RequestNotification.operationDidFinish.nameForObservers
    }
}
