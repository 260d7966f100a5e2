/// Something that waits in a `WaitQueue`: an object, or a value that stands for one. It carries its own ticket.
package protocol QueuedWaiter {
    var ticket: WaitTicket { get nonmutating set }
    /// Whether it may be sent before the requests in front of it are answered.
    var mayBePipelined: Bool { get }
}

/// A waiter's claim. Each change of place gets a new number, so entries that were left behind are recognised.
package struct WaitTicket {
    fileprivate var number: UInt64 = 0
    fileprivate var order: UInt64 = 0

    package var isWaiting: Bool { number != 0 }
}

/// Requests waiting for a connection, by priority and then in order of arrival.
///
/// One lane for each priority: nearly always there is one, and requests pass through
/// it without being compared. Leaving early is O(1): the entry stays behind and is
/// skipped when its turn comes, or swept out once such entries are the majority.
package struct WaitQueue<Waiter: QueuedWaiter> {
    private struct Entry {
        package let order: UInt64
        package let number: UInt64
        package let waiter: Waiter

        var isLive: Bool { waiter.ticket.number == number }
    }

    private struct Lane {
        package let priority: Float
        /// Those before `next` have been served; nothing of them is kept.
        package var entries: ContiguousArray<Entry?> = []
        package var next = 0

        package mutating func add(_ entry: Entry) {
            // Only a waiter that comes from another lane may have arrived before others.
            var index = entries.count
            while index > next, let before = entries[index - 1], before.order > entry.order { index -= 1 }
            entries.insert(entry, at: index)
        }

        package mutating func take() -> Entry? {
            guard next < entries.count else { return nil }
            defer { passNext() }
            return entries[next]
        }

        private mutating func passNext() {
            entries[next] = nil
            next += 1
            if next == entries.count {
                entries.removeAll(keepingCapacity: next <= 64)
                next = 0
            } else if next >= 64, next > entries.count / 2 {
                entries.removeFirst(next)
                next = 0
            }
        }

        var firstLive: Entry? { entries[next...].lazy.compactMap { $0 }.first(where: \.isLive) }

        package var live: some Sequence<Waiter> {
            entries[next...].lazy.compactMap { $0 }.filter(\.isLive).map(\.waiter)
        }

        package mutating func sweep() {
            entries.removeAll { !($0?.isLive ?? false) }
            next = 0
        }
    }

    private static var steps: Float { 256 }

    package private(set) var count = 0
    /// Highest priority first.
    private var lanes: ContiguousArray<Lane> = []
    private var lastNumber: UInt64 = 0
    /// Entries in the lanes, those left behind included.
    private var entryCount = 0

    package var isEmpty: Bool { count == 0 }

    package mutating func add(_ waiter: Waiter, priority: Float) {
        count += 1
        put(waiter, priority: priority, order: lastNumber)
    }

    /// Moves a waiter to another priority; among equals it keeps its place.
    package mutating func reprioritize(_ waiter: Waiter, _ priority: Float) {
        guard waiter.ticket.isWaiting else { return }
        put(waiter, priority: priority, order: waiter.ticket.order)
        sweepIfStale()
    }

    package mutating func remove(_ waiter: Waiter) {
        guard waiter.ticket.isWaiting else { return }
        waiter.ticket = WaitTicket()
        count -= 1
        sweepIfStale()
    }

    package var first: Waiter? {
        for lane in lanes {
            if let entry = lane.firstLive { return entry.waiter }
        }
        return nil
    }

    /// The first of those that fit, in the order in which they are served.
    package func first(where fits: (Waiter) -> Bool) -> Waiter? {
        for lane in lanes {
            if let waiter = lane.live.first(where: fits) { return waiter }
        }
        return nil
    }

    /// Whether a waiter is one of those that are served next.
    func isAmongFirst(_ limit: Int, _ waiter: Waiter) -> Bool {
        let next = lanes.lazy.flatMap { $0.live }.prefix(limit)
        return next.contains { $0.ticket.number == waiter.ticket.number }
    }

    package mutating func popFirst() -> Waiter? {
        while !lanes.isEmpty {
            guard let entry = lanes[0].take() else {
                // The last one stays, with the memory of its entries.
                guard lanes.count > 1 else { return nil }
                lanes.removeFirst()
                continue
            }
            entryCount -= 1
            guard entry.isLive else { continue }
            entry.waiter.ticket = WaitTicket()
            count -= 1
            sweepIfStale()
            return entry.waiter
        }
        return nil
    }

    private mutating func put(_ waiter: Waiter, priority: Float, order: UInt64) {
        lastNumber += 1
        entryCount += 1
        waiter.ticket = WaitTicket(number: lastNumber, order: order)
        lanes[lane(for: priority)].add(Entry(order: order, number: lastNumber, waiter: waiter))
    }

    /// Priorities that hardly differ share a lane, so that there are never many.
    private mutating func lane(for exactPriority: Float) -> Int {
        let priority = (exactPriority * WaitQueue.steps).rounded() / WaitQueue.steps
        let index = lanes.firstIndex { $0.priority <= priority } ?? lanes.count
        if index == lanes.count || lanes[index].priority != priority {
            lanes.insert(Lane(priority: priority), at: index)
        }
        return index
    }

    private mutating func sweepIfStale() {
        guard entryCount > count else { return }
        // Entries left behind hold their waiters, which may in turn hold this queue.
        guard count > 0 else {
            lanes.removeAll()
            entryCount = 0
            return
        }
        guard entryCount > 64, entryCount > 2 * count else { return }
        for index in lanes.indices { lanes[index].sweep() }
        lanes.removeAll { $0.entries.isEmpty }
        entryCount = count
    }
}
