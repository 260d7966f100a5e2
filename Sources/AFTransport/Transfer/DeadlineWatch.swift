package import AFLoop

/// Something that has a deadline.
package protocol DeadlineClient: AnyObject {
    var deadline: LoopInstant { get }
    func deadlinePassed()
    /// Ends without a word.
    func cancel()
}

/// Watches the deadlines of all tasks of a session with one timer.
///
/// Nearly every request is over long before its deadline, so coming and going must cost nothing: no timer is armed or
/// cancelled for it. The price is a walk over all of them when the earliest deadline is due. Walks are at least
/// `patience` apart; a deadline may be noticed that much late, and never early.
package final class DeadlineWatch: TimerTarget {
    private static let patience = LoopInterval(.milliseconds(10))

    private let loop: EventLoop
    @exclusivity(unchecked) private var clients: ContiguousArray<(any DeadlineClient)?> = []
    @exclusivity(unchecked) private var freePlaces: ContiguousArray<Int> = []
    @exclusivity(unchecked) private var timer: TimerID?
    @exclusivity(unchecked) private var due = LoopInstant.distantFuture

    package init(loop: EventLoop) {
        self.loop = loop
    }

    /// Returns the place under which the client is removed again.
    package func add(_ client: any DeadlineClient) -> Int {
        guard let place = freePlaces.popLast() else {
            clients.append(client)
            return clients.count - 1
        }
        clients[place] = client
        return place
    }

    package func remove(at place: Int) {
        clients[place] = nil
        freePlaces.append(place)
    }

    /// A watched client has this deadline now. Only an earlier one matters; the walk finds those that have moved on.
    package func deadlineChanged(to deadline: LoopInstant) {
        if deadline < due { arm(at: deadline) }
    }

    /// The numbers of tasks that have connections to the host.
    func holders(at host: HostPool, atMost limit: Int) -> [Int] {
        Array(clients.lazy.compactMap { ($0 as? Transfer)?.holder(at: host) }.prefix(limit)).sorted()
    }

    private func stop() {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
        due = .distantFuture
    }

    /// The session is over: cancels what is still watched.
    package func shutDown() {
        for client in clients { client?.cancel() }
        stop()
    }

    private func arm(at deadline: LoopInstant) {
        stop()
        due = deadline
        timer = loop.startTimer(at: deadline, for: self)
    }

    package func timerFired(_ timer: TimerID) {
        self.timer = nil
        due = .distantFuture
        var next = LoopInstant.distantFuture
        for place in clients.indices {
            // The client before it may have ended it.
            guard let client = clients[place] else { continue }
            if client.deadline <= loop.now {
                client.deadlinePassed()
            } else {
                next = min(next, client.deadline)
            }
        }
        if next < due { arm(at: max(next, loop.now + DeadlineWatch.patience)) }
    }
}
