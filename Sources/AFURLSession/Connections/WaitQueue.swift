/// Something that waits in a `WaitQueue`; it carries its own ticket.
protocol QueuedWaiter: AnyObject {
    var ticket: WaitTicket { get set }
}

/// A waiter's claim. Each change of place gets a new number, so entries that were
/// left behind in the heap are recognised.
struct WaitTicket {
    fileprivate var number: UInt64 = 0
    fileprivate var order: UInt64 = 0

    var isWaiting: Bool { number != 0 }
}

/// Requests waiting for a connection, by priority and then in order of arrival.
///
/// Leaving early is O(1): the entry stays behind and is skipped when its turn
/// comes, or swept out once such entries are the majority.
struct WaitQueue<Waiter: QueuedWaiter> {
    private struct Entry {
        let priority: Float
        let order: UInt64
        let number: UInt64
        let waiter: Waiter

        var isLive: Bool { waiter.ticket.number == number }

        func isBefore(_ other: Entry) -> Bool {
            priority == other.priority ? order < other.order : priority > other.priority
        }
    }

    private(set) var count = 0
    private var heap: ContiguousArray<Entry> = []
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { count == 0 }

    mutating func add(_ waiter: Waiter, priority: Float) {
        count += 1
        push(waiter, priority: priority, order: lastNumber)
    }

    /// Moves a waiter to another priority; among equals it keeps its place.
    mutating func reprioritize(_ waiter: Waiter, _ priority: Float) {
        guard waiter.ticket.isWaiting else { return }
        push(waiter, priority: priority, order: waiter.ticket.order)
        sweepIfStale()
    }

    mutating func remove(_ waiter: Waiter) {
        guard waiter.ticket.isWaiting else { return }
        waiter.ticket = WaitTicket()
        count -= 1
        sweepIfStale()
    }

    var first: Waiter? {
        // Entries left behind may stand before it.
        heap.lazy.filter(\.isLive).min { $0.isBefore($1) }?.waiter
    }

    mutating func popFirst() -> Waiter? {
        while let entry = popEntry() {
            guard entry.isLive else { continue }
            entry.waiter.ticket = WaitTicket()
            count -= 1
            sweepIfStale()
            return entry.waiter
        }
        return nil
    }

    private mutating func push(_ waiter: Waiter, priority: Float, order: UInt64) {
        lastNumber += 1
        waiter.ticket = WaitTicket(number: lastNumber, order: order)
        heap.append(Entry(priority: priority, order: order, number: lastNumber, waiter: waiter))
        siftUp(from: heap.count - 1)
    }

    private mutating func sweepIfStale() {
        guard count > 0 else {
            // Entries left behind hold their waiters, which may in turn hold this queue.
            return heap.removeAll(keepingCapacity: heap.count <= 64)
        }
        guard heap.count > 64, heap.count > 2 * count else { return }
        // Sorted is a valid heap.
        heap = ContiguousArray(heap.filter(\.isLive).sorted { $0.isBefore($1) })
    }

    // MARK: - Heap

    private mutating func popEntry() -> Entry? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty { siftDown(last) }
        return first
    }

    private mutating func siftUp(from start: Int) {
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard heap[position].isBefore(heap[parent]) else { return }
            heap.swapAt(position, parent)
            position = parent
        }
    }

    private mutating func siftDown(_ entry: Entry) {
        var position = 0
        heap[0] = entry
        while true {
            var child = 2 * position + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(heap[position]) else { return }
            heap.swapAt(position, child)
            position = child
        }
    }
}
