package import AFLoop

/// Something that has a deadline.
protocol DeadlineClient: AnyObject {
    var deadline: LoopInstant { get }
    func deadlinePassed()
    /// The number of its task, if it has a connection to this host.
    func holder(at host: HostPool) -> Int?
    /// Ends without a word.
    func cancel()
}

/// Watches the deadlines of all transfers of a session with one timer.
///
/// Nearly every request is over long before its deadline, so coming and going must cost nothing: no timer is armed or
/// cancelled for it. The price is a walk over all transfers when the earliest deadline is due. Walks are at least
/// `patience` apart; a deadline may be noticed that much late, and never early.
package final class DeadlineWatch: TimerTarget {
    private static let patience = LoopInterval(.milliseconds(10))

    private let loop: EventLoop
    @exclusivity(unchecked) private var transfers: ContiguousArray<(any DeadlineClient)?> = []
    @exclusivity(unchecked) private var freePlaces: ContiguousArray<Int> = []
    @exclusivity(unchecked) private var timer: TimerID?
    @exclusivity(unchecked) private var due = LoopInstant.distantFuture

    package init(loop: EventLoop) {
        self.loop = loop
    }

    /// Returns the place under which the transfer is removed again.
    func add(_ transfer: any DeadlineClient) -> Int {
        guard let place = freePlaces.popLast() else {
            transfers.append(transfer)
            return transfers.count - 1
        }
        transfers[place] = transfer
        return place
    }

    func remove(at place: Int) {
        transfers[place] = nil
        freePlaces.append(place)
    }

    /// A watched transfer has this deadline now. Only an earlier one matters; the walk finds those that have moved on.
    func deadlineChanged(to deadline: LoopInstant) {
        if deadline < due { arm(at: deadline) }
    }

    /// The numbers of tasks that have connections to the host.
    func holders(at host: HostPool, atMost limit: Int) -> [Int] {
        Array(transfers.lazy.compactMap { $0?.holder(at: host) }.prefix(limit)).sorted()
    }

    private func stop() {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
        due = .distantFuture
    }

    /// The session is over: cancels the transfers that are still watched.
    package func shutDown() {
        for transfer in transfers { transfer?.cancel() }
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
        for place in transfers.indices {
            // The transfer before it may have ended it.
            guard let transfer = transfers[place] else { continue }
            if transfer.deadline <= loop.now {
                transfer.deadlinePassed()
            } else {
                next = min(next, transfer.deadline)
            }
        }
        if next < due { arm(at: max(next, loop.now + DeadlineWatch.patience)) }
    }
}
