import Dispatch
public import Foundation

/// From the start to the end: each step is the answer of ``OperationMachine``, performed.
extension URLConnectionOperation {
    func begin() {
        let mayRun = super.isReady
        let isFlagged = super.isCancelled
        let (start, home, modes) = state.withLock { state in
            // Flagged by the base class alone, by a queue that cancels all.
            if isFlagged, !state.machine.isCancelled { _ = state.machine.cancel() }
            let start = state.machine.start(mayRun: mayRun)
            if case .connect = start { announceStart() }
            return (start, state.chooseHome(), state.runLoopModes)
        }
        switch start {
        case .nothing: break
        case .fail: home.perform { [self] in cancelConnection() }
        case .connect(let attempt):
            notify(of: .executing, after: .ready)
            home.perform(in: modes) { [self] in self.connect(attempt) }
        }
    }

    func halt() {
        let paused = state.withLock { state -> (OperationPhase, URLConnection?, OperationHome)? in
            guard let former = state.machine.pause() else { return nil }
            if state.machine.takeAnnouncement() { announceFinish() }
            defer { state.connection = nil }
            return (former, state.connection, state.chooseHome())
        }
        guard let (former, connection, home) = paused else { return }
        notify(of: .paused, after: former)
        guard former == .executing else { return }
        home.perform { [self] in
            connection?.cancel()
            willContinue()
        }
    }

    func goOn() {
        let (resume, home, modes) = state.withLock { state in
            let resume = state.machine.resume()
            if case .connect = resume { announceStart() }
            return (resume, state.chooseHome(), state.runLoopModes)
        }
        switch resume {
        case .nothing: break
        case .wait: notify(of: .ready, after: .paused)
        case .connect(let attempt):
            notify(of: .executing, after: .paused)
            home.perform(in: modes) { [self] in self.connect(attempt) }
        }
    }

    func giveUp() {
        let (cancel, home) = state.withLock { state in (state.machine.cancel(), state.chooseHome()) }
        guard cancel != .nothing else { return }
        super.cancel()
        switch cancel {
        case .nothing, .flag: break
        case .wait: notify(of: .ready, after: .paused)
        case .fail: home.perform { [self] in cancelConnection() }
        }
    }

    /// Tells Foundation, which on Linux looks at an operation's state when it is told that it has changed, and never
    /// otherwise. Not under the lock: it asks for the state at once.
    private func notify(of phase: OperationPhase, after former: OperationPhase) {
        willChangeValue(forKey: phase.key)
        willChangeValue(forKey: former.key)
        didChangeValue(forKey: former.key)
        didChangeValue(forKey: phase.key)
    }

    /// The one way to the end.
    func finish(with error: (any Error)?) {
        let (sink, isOver) = state.withLock { ($0.sink, $0.machine.phase == .finished) }
        guard !isOver else { return }
        let data = error == nil ? sink?.data : nil
        let former = state.withLock { state -> (OperationPhase, URLConnection?)? in
            guard let former = state.machine.finish() else { return nil }
            state.error = error
            state.responseData = data
            // One of the user's is kept: he may want to look at it.
            if sink?.isMemory == true { state.sink = nil }
            if state.machine.takeAnnouncement() { announceFinish() }
            defer { state.connection = nil }
            return (former, state.connection)
        }
        // It was paused in this very moment.
        guard let (phase, connection) = former else { return }
        sink?.close()
        connection?.cancel()
        // Foundation will call the block on another thread, by when nobody else may hold the operation.
        if super.completionBlock != nil { set(\.keeper, self) }
        notify(of: .finished, after: phase)
    }

    /// What Foundation is given in the place of a completion block.
    func wrapped(_ block: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        { [weak self] in
            guard let self else { return }
            set(\.keeper, nil)
            // One of its own, or the operation would be held as long as any other has blocks to call.
            let group = completionGroup ?? DispatchGroup()
            MainQueue.complete(on: completionQueue, group: group, block)
            group.notify(queue: Self.tidyingQueue) { self.forgetCompletionBlock() }
        }
    }

    /// It often holds the operation.
    private func forgetCompletionBlock() {
        super.completionBlock = nil
    }

    /// In the order of what they tell: called under the lock, and returning at once.
    private func announceStart() {
        post(.networkingOperationDidStart)
    }

    private func announceFinish() {
        post(.networkingOperationDidFinish)
    }

    private func post(_ name: Notification.Name) {
        NotificationPost.main.post(name, self)
    }
}

extension Notification.Name {
    /// A ``URLConnectionOperation`` has begun, or goes on after a pause. The object is the operation.
    ///
    /// Posted on the main queue.
    public static let networkingOperationDidStart = Notification.Name("com.alamofire.networking.operation.start")

    /// A ``URLConnectionOperation`` that had begun has finished, or was paused. The object is the operation.
    ///
    /// Posted on the main queue, once for each ``networkingOperationDidStart``.
    public static let networkingOperationDidFinish = Notification.Name("com.alamofire.networking.operation.finish")
}
