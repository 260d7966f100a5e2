import AFTestSupport
import Testing

@testable import AFLoop

private final class Target: TimerTarget {
    var fired: [TimerID] = []

    func timerFired(_ timer: TimerID) { fired.append(timer) }
}

private func at(_ nanoseconds: Int64) -> LoopInstant { LoopInstant(nanoseconds: nanoseconds) }

struct TimerHeapTests {
    private let target = Target()

    private func due(_ heap: inout TimerHeap, _ now: Int64) -> [TimerID] {
        var due: [TimerHeap.Due] = []
        heap.collectDue(at: at(now), into: &due)
        return due.map(\.timer)
    }

    @Test func `timers come due by deadline and then in the order of arming`() {
        var heap = TimerHeap()
        let timers = [30, 10, 20, 10, 30].map { heap.arm(at: at($0), modes: .all, for: target) }

        #expect(heap.earliestDeadline == at(10))
        #expect(due(&heap, 9).isEmpty)
        #expect(due(&heap, 30) == [1, 3, 2, 0, 4].map { timers[$0] })
    }

    @Test func `a cancelled timer is gone, and its stale name means no other`() {
        var heap = TimerHeap()
        let first = heap.arm(at: at(1), modes: .all, for: target)
        #expect(heap.cancel(first) == true)
        #expect(heap.cancel(first) == false)
        let second = heap.arm(at: at(1), modes: .all, for: target)

        #expect(heap.cancel(first) == false)
        #expect(!heap.isArmed(first) && heap.isArmed(second))
        #expect(heap.count == 1)
    }

    @Test func `a timer that was collected can still be cancelled or put back in its place`() {
        var heap = TimerHeap()
        _ = heap.arm(at: at(5), modes: .all, for: target)
        let early = heap.arm(at: at(1), modes: .all, for: target)
        var due: [TimerHeap.Due] = []
        heap.collectDue(at: at(1), into: &due)

        heap.putBack(due[0])
        #expect(heap.earliestDeadline == at(1))
        heap.collectDue(at: at(1), into: &due)
        #expect(heap.cancel(early) == true)
        heap.putBack(due[1])

        #expect(heap.count == 1 && heap.earliestDeadline == at(5))
    }

    @Test func `T-RES-18 a hundred thousand timers armed and cancelled at random stay in order`() {
        var random = SeededGenerator(seed: 18)
        var heap = TimerHeap()
        var armed: [TimerID: Int64] = [:]
        var order: [TimerID] = []
        for _ in 0..<100_000 {
            let deadline = Int64.random(in: 0..<1_000_000, using: &random)
            let timer = heap.arm(at: at(deadline), modes: .all, for: target)
            armed[timer] = deadline
            order.append(timer)
            if Bool.random(using: &random), let victim = order.randomElement(using: &random) {
                #expect(heap.cancel(victim) == (armed.removeValue(forKey: victim) != nil))
            }
        }
        #expect(heap.count == armed.count)

        let deadlines = due(&heap, 1_000_000).compactMap { armed[$0] }
        #expect(deadlines.count == armed.count && deadlines == deadlines.sorted())
    }

    @Test(arguments: [
        Duration.seconds(Int64.max), .seconds(1 << 60), .nanoseconds(Int64.max), .zero, .seconds(-(1 << 62)),
    ])
    func `T-RES-18 far deadlines saturate`(interval: Duration) {
        for start in [Int64.min, -1, 0, 1, .max] {
            let moved = at(start) + interval
            #expect(interval >= .zero ? moved >= at(start) : moved <= at(start))
            _ = moved.duration(to: at(.min))
            _ = at(.min).duration(to: moved)
        }
        #expect((at(1) + .seconds(Int64.max)) == .distantFuture)
    }
}
