package import AFLoop

/// Time that passes only when told to, and what is going to happen when.
package final class VirtualClock {
    private struct Event {
        let time: LoopInstant
        /// Which of several events at one time comes first: the seed's choice.
        let order: UInt64
        let number: UInt64
        let body: () -> Void

        func isBefore(_ other: Event) -> Bool {
            if time != other.time { return time < other.time }
            return order == other.order ? number < other.number : order < other.order
        }
    }

    package private(set) var now = LoopInstant(nanoseconds: 1_000_000_000)
    private var heap: [Event] = []
    private var lastNumber: UInt64 = 0

    package init() {}

    /// When something will happen next.
    package var next: LoopInstant? { heap.first?.time }

    package func at(_ time: LoopInstant, order: UInt64 = 0, _ body: @escaping () -> Void) {
        lastNumber += 1
        heap.append(Event(time: max(time, now), order: order, number: lastNumber, body: body))
        var place = heap.count - 1
        while place > 0, heap[place].isBefore(heap[(place - 1) / 2]) {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    package func after(_ delay: Duration, order: UInt64 = 0, _ body: @escaping () -> Void) {
        at(now + delay, order: order, body)
    }

    package func advance(to time: LoopInstant) {
        now = max(now, time)
    }

    /// Lets everything happen that is due, also what comes due by that.
    package func runDue() {
        while let first = heap.first, first.time <= now {
            removeFirst()
            first.body()
        }
    }

    private func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(heap[place]) else { return }
            heap.swapAt(place, child)
            place = child
        }
    }
}
