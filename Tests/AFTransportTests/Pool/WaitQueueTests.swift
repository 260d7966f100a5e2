import AFFaults
import AFLoop

@testable import AFTransport

private final class Waiter: QueuedWaiter {
    var ticket = WaitTicket()
    let mayBePipelined = false
    let number: Int

    init(_ number: Int) {
        self.number = number
    }
}

/// The queue in its simplest form, to compare with.
private struct PlainQueue {
    var entries: [(waiter: Waiter, priority: Float, arrival: Int)] = []
    private var arrivals = 0

    mutating func add(_ waiter: Waiter, _ priority: Float) {
        entries.append((waiter, priority, arrivals))
        arrivals += 1
    }

    mutating func remove(_ waiter: Waiter) { entries.removeAll { $0.waiter === waiter } }

    mutating func reprioritize(_ waiter: Waiter, _ priority: Float) {
        for index in entries.indices where entries[index].waiter === waiter { entries[index].priority = priority }
    }

    mutating func popFirst() -> Waiter? {
        let first = entries.indices.min { left, right in
            let (left, right) = (entries[left], entries[right])
            return left.priority == right.priority ? left.arrival < right.arrival : left.priority > right.priority
        }
        return first.map { entries.remove(at: $0).waiter }
    }
}

struct WaitQueueTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a hundred thousand random operations do what a plain list does`(seed: UInt64) {
        var random = PoolDice(seed)
        var queue = WaitQueue<Waiter>()
        var plain = PlainQueue()
        let priorities: [Float] = [0, 0.25, 0.5, 0.75, 1]
        for number in 0..<33_334 {
            let some = plain.entries.randomElement(using: &random)?.waiter
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let waiter = Waiter(number)
                let priority = priorities[Int.random(in: 0..<5, using: &random)]
                queue.add(waiter, priority: priority)
                plain.add(waiter, priority)
            case 4..<6:
                if let some {
                    queue.remove(some)
                    plain.remove(some)
                }
            case 6..<7:
                let priority = priorities[Int.random(in: 0..<5, using: &random)]
                if let some {
                    queue.reprioritize(some, priority: priority)
                    plain.reprioritize(some, priority)
                }
            default:
                #expect(queue.popFirst()?.number == plain.popFirst()?.number)
            }
            #expect(queue.count == plain.entries.count)
        }
        while let waiter = plain.popFirst() { #expect(queue.popFirst() === waiter) }
        #expect(queue.isEmpty)
    }

    /// While a dial hangs, each that leaves asks whether the dial was for it.
    @Test(arguments: [true, false]) func `what it costs to leave does not grow with those who wait`(inOrder: Bool) {
        let growth = CPUTime.growth(from: 500, to: 16_000) { count in
            var queue = WaitQueue<Waiter>()
            let waiters = (0..<count).map(Waiter.init)
            for waiter in waiters { queue.add(waiter, priority: 0.5) }
            for waiter in inOrder ? Array(waiters[1...]) : waiters[1...].reversed() {
                _ = queue.isAmongFirst(6, waiter: waiter)
                queue.remove(waiter)
            }
            #expect(queue.first === waiters[0] && queue.count == 1)
        }
        #expect(growth < 8)
    }

    @Test func `what it costs to move to another priority does not grow with those who wait`() {
        let growth = CPUTime.growth(from: 500, to: 16_000) { count in
            var queue = WaitQueue<Waiter>()
            let waiters = (0..<count).map(Waiter.init)
            for waiter in waiters { queue.add(waiter, priority: 0.5) }
            for waiter in waiters.reversed() { queue.reprioritize(waiter, priority: 0.75) }
            #expect(waiters.allSatisfy { queue.popFirst() === $0 })
        }
        #expect(growth < 8)
    }

    @Test func `those among the first are those that are served first`() {
        var queue = WaitQueue<Waiter>()
        let waiters = (0..<20).map(Waiter.init)
        for waiter in waiters { queue.add(waiter, priority: Float(waiter.number % 4) / 4) }
        let order = waiters.sorted { ($1.number % 4, $0.number) < ($0.number % 4, $1.number) }

        for limit in 0...20 {
            #expect(waiters.filter { queue.isAmongFirst(limit, waiter: $0) }.count == limit)
            #expect(order.prefix(limit).allSatisfy { queue.isAmongFirst(limit, waiter: $0) })
        }
        #expect(!queue.isAmongFirst(20, waiter: Waiter(20)))
        #expect(queue.first { $0.number % 4 == 1 } === order[10])
    }

    @Test func `an empty queue keeps no waiter alive`() {
        var queue = WaitQueue<Waiter>()
        weak var left: Waiter?
        weak var served: Waiter?
        do {
            let (leaving, staying) = (Waiter(1), Waiter(2))
            (left, served) = (leaving, staying)
            queue.add(leaving, priority: 0.5)
            queue.add(staying, priority: 0.5)
            queue.reprioritize(staying, priority: 0.25)
            queue.reprioritize(staying, priority: 0.75)
            queue.remove(leaving)
            _ = queue.popFirst()
        }

        #expect(left == nil && served == nil)
    }

    @Test func `a waiter that is not queued can neither leave nor move`() {
        var queue = WaitQueue<Waiter>()
        let waiter = Waiter(1)

        queue.remove(waiter)
        queue.reprioritize(waiter, priority: 1)

        #expect(queue.isEmpty && queue.popFirst() == nil)
    }
}

/// Random numbers that are the same in every run.
struct PoolDice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
