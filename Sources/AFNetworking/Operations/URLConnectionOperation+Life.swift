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
            notify(of: .executing)
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
        notify(of: .paused)
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
        case .wait: notify(of: .ready)
        case .connect(let attempt):
            notify(of: .executing)
            scheduler.perform(in: modes) { [self] in self.connect(attempt) }
        }
    }

    func giveUp() {
        let (cancel, scheduler) = state.withLock { state in (state.machine.cancel(), state.chooseScheduler()) }
        guard cancel != .nothing else { return }
        super.cancel()
        switch cancel {
        case .nothing, .flag: break
        case .wait: notify(of: .ready)
        case .fail:
            switch scheduler {
            case .networkThread: scheduler.perform { [self] in cancelConnection() }
            // The queue may be in a write to the program's stream that blocks: only the closing waits for that.
            case .queue: DispatchQueue.global().async { [self] in cancelConnection() }
            }
        }
    }

    /// Tells Foundation, which on Linux reads an operation's state only when it is told of a change, and for which a paused
    /// operation is one that is not ready. Called without the lock: Foundation reads the state at once.
    private func notify(of phase: OperationPhase) {
        let key = (phase == .paused ? .ready : phase).key
        willChangeValue(forKey: key)
        didChangeValue(forKey: key)
    }

    /// Ends the operation. Every end passes here.
    func finish(with error: (any Error)?) {
        let (sink, isOver) = state.withLock { ($0.sink, $0.machine.phase == .finished) }
        guard !isOver else { return }
        let data = error == nil ? sink?.data : nil
        let (isNow, connection) = state.withLock { state -> (Bool, URLConnection?) in
            guard state.machine.finish() else { return (false, nil) }
            state.error = error
            state.responseData = data
            // A stream of the program's is kept, for the program to read.
            if sink?.isMemory == true { state.sink = nil }
            if state.machine.takeAnnouncement() { announceFinish() }
            defer { (state.connection, state.trustRules) = (nil, nil) }
            return (true, state.connection)
        }
        // Another thread has paused it meanwhile.
        guard isNow else { return }
        connection?.cancel()
        if let sink, sink.presentStream != nil { closeSink(sink) }
        notify(of: .finished)
        complete()
    }

    private func closeSink(_ sink: ResponseSink) {
        let (isCancelled, scheduler) = state.withLock { ($0.machine.isCancelled, $0.scheduler) }
        if isCancelled, case .queue? = scheduler { scheduler?.perform { sink.close() } } else { sink.close() }
    }

    /// Calls the completion block, once. Foundation would do so by way of one more thread.
    func complete() {
        var block: (@Sendable (URLConnectionOperation) -> Void)?
        state.withLock { swap(&block, &$0.completion) }
        if let block { enqueue(block) }
    }

    /// Calls a block where the completion block is called, and holds the operation until then.
    func enqueue(_ block: @escaping @Sendable (URLConnectionOperation) -> Void) {
        MainQueue.completeWhenQuiet(on: completionQueue, group: completionGroup) { [self] in block(self) }
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
