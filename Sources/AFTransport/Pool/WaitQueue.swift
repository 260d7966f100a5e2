import AFBase

/// Something that waits in a `WaitQueue`: an object, or a value that stands for one. It carries its own ticket.
package protocol QueuedWaiter {
    var ticket: WaitTicket { get nonmutating set }
    /// Whether it may be sent before the requests in front of it are answered.
    var mayBePipelined: Bool { get }
}

/// A waiter's claim.
package struct WaitTicket {
    fileprivate var place: HeapPlace?

    package var isWaiting: Bool { place != nil }
}

/// Requests waiting for a connection, by priority and then in order of arrival.
///
/// To add, move, remove or take one is logarithmic in their number, and to see the first is constant. `first(where:)`
/// looks at those in front of the one that fits.
///
/// As with `Heap`, only the methods ask what a waiter is.
package struct WaitQueue<Waiter> {
    /// The highest priority has the smallest key.
    private var waiters = Heap<Float, Waiter>()
}

extension WaitQueue where Waiter: QueuedWaiter {
    package var count: Int { waiters.count }
    package var isEmpty: Bool { waiters.isEmpty }

    package mutating func add(_ waiter: Waiter, priority: Float) {
        waiter.ticket = WaitTicket(place: waiters.add(waiter, -priority))
    }

    /// Moves a waiter to another priority; among equals it keeps its place.
    package mutating func reprioritize(_ waiter: Waiter, priority: Float) {
        if let place = waiter.ticket.place { waiters.move(place, to: -priority) }
    }

    package mutating func remove(_ waiter: Waiter) {
        guard let place = waiter.ticket.place else { return }
        waiters.remove(place)
        waiter.ticket = WaitTicket()
    }

    package var first: Waiter? { waiters.first }

    /// The first of those that fit, in the order in which they are served.
    package func first(where fits: (Waiter) -> Bool) -> Waiter? { waiters.first(where: fits) }

    /// Whether a waiter is one of those that are served next.
    func isAmongFirst(_ limit: Int, waiter: Waiter) -> Bool {
        waiter.ticket.place.map { waiters.isAmongFirst(limit, $0) } ?? false
    }

    package mutating func popFirst() -> Waiter? {
        let waiter = waiters.popFirst()
        waiter?.ticket = WaitTicket()
        return waiter
    }
}
