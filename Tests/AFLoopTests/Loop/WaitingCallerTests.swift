import AFBase
import AFTestSupport
import Dispatch
import Foundation
import Testing

@testable import AFLoop

/// Threads that wait for what the loop does, and run it meanwhile.
@Suite("Callers that wait", .serialized)
struct WaitingCallerTests {
    /// The kernel's poller with a clock that stands, for a loop without timers.
    private final class StandingClock: Poller {
        private let kernel = EpollPoller()
        private let time: Lock<LoopInstant>

        init(_ time: Lock<LoopInstant>) {
            self.time = time
        }

        var now: LoopInstant { time.withLock { $0 } }
        var waker: any Waker { kernel.waker }

        func add(_ descriptor: Int32, token: PollToken) throws(SystemCallError) {
            try kernel.add(descriptor, token: token)
        }

        func remove(_ descriptor: Int32) { kernel.remove(descriptor) }

        func poll(until deadline: LoopInstant?, into ready: inout [ReadyEvent]) {
            kernel.poll(until: deadline == nil ? nil : kernel.now, into: &ready)
        }
    }

    /// A loop with a thread of its own.
    private final class ServedLoop: Sendable {
        let loop: EventLoop
        let thread = Lock<UInt>(0)
        private let isStopped = Lock(false)
        private let hasEnded = DispatchSemaphore(value: 0)

        init(poller: sending any Poller = EpollPoller()) {
            loop = EventLoop(poller: poller)
            let isServing = DispatchSemaphore(value: 0)
            Thread.detachNewThread { [self] in
                thread.withLock { $0 = currentThread() }
                isServing.signal()
                loop.serve { isStopped.withLock { $0 } }
                hasEnded.signal()
            }
            isServing.wait()
        }

        /// Waits for a job, as a caller does that waits for a request.
        ///
        /// - Returns: The thread on which it ran.
        func call(_ job: @escaping @Sendable () -> Void = {}) -> UInt {
            let place = Lock<UInt?>(nil)
            let isOver = DispatchSemaphore(value: 0)
            loop.runWhileWaiting {
                loop.enqueue { [loop] in
                    job()
                    place.withLock { $0 = currentThread() }
                    loop.wake(isOver)
                }
            } until: {
                place.withLock { $0 != nil }
            }
            isOver.wait()
            return place.withLock { $0 ?? 0 }
        }

        /// Calls until the loop's own thread has stepped aside.
        func callUntilLent() -> Bool {
            (1...1_000).contains { _ in call() == currentThread() }
        }

        /// Lends the loop to this thread for `attempt`, which says on which thread the loop ran for it, and what it found.
        /// On a slow machine the loop's own thread may come back before it begins: then it tries once more.
        func lentOnce(_ attempt: () -> (own: UInt, others: UInt)) -> (own: UInt, others: UInt)? {
            for _ in 1...100 where callUntilLent() {
                let places = attempt()
                if places.own == currentThread() { return places }
            }
            return nil
        }

        func stop() -> Bool {
            loop.enqueue { [isStopped] in isStopped.withLock { $0 = true } }
            defer { loop.retire() }
            return hasEnded.wait(timeout: .now() + 10) == .success
        }
    }

    private let served = ServedLoop()
    private var loop: EventLoop { served.loop }
    private var ownThread: UInt { served.thread.withLock { $0 } }

    @Test func `the first caller leaves the loop to its thread, and a later one runs it`() {
        #expect(served.call() == ownThread)
        #expect(served.callUntilLent())
        #expect(!loop.isOnLoop)
        #expect(served.stop())
    }

    @Test func `a job of others runs on the loop's own thread, soon, though that has stepped aside`() async throws {
        #expect(served.callUntilLent())
        let place = Watched<UInt?>(nil)
        loop.enqueue { place.change { $0 = currentThread() } }
        #expect(try await place.wait { $0 != nil } == ownThread)
        #expect(served.stop())
    }

    @Test func `a caller that runs the loop gives it back when others enqueue, and runs no job of theirs`() {
        let places = served.lentOnce {
            let (own, others) = (Lock<UInt>(0), Lock<UInt>(0))
            let isOver = DispatchSemaphore(value: 0)
            loop.runWhileWaiting {
                loop.enqueue { [loop] in
                    own.withLock { $0 = currentThread() }
                    Thread.detachNewThread {
                        loop.enqueue {
                            others.withLock { $0 = currentThread() }
                            isOver.signal()
                        }
                    }
                }
            } until: {
                false
            }
            isOver.wait()
            return (own.withLock { $0 }, others.withLock { $0 })
        }
        #expect(places?.others == ownThread)
        #expect(served.stop())
    }

    @Test func `after that the loop's own thread keeps it for a while`() {
        let time = Lock(LoopInstant(nanoseconds: 0))
        let served = ServedLoop(poller: StandingClock(time))
        let loop = served.loop
        #expect(served.callUntilLent())
        let isOver = DispatchSemaphore(value: 0)
        loop.runWhileWaiting {
            loop.enqueue { [loop] in Thread.detachNewThread { loop.enqueue { isOver.signal() } } }
        } until: {
            false
        }
        isOver.wait()
        #expect(!(1...500).contains { _ in served.call() == currentThread() })
        time.withLock { $0 = LoopInstant(nanoseconds: 100_000_000) }
        #expect(served.callUntilLent())
        #expect(served.stop())
    }

    @Test func `while a task is under way no caller runs the loop`() {
        _ = served.call { [loop] in loop.taskBegan() }
        #expect(Set((1...500).map { _ in served.call() }) == [ownThread])
        _ = served.call { [loop] in loop.taskEnded() }
        #expect(served.callUntilLent())
        #expect(served.stop())
    }

    @Test func `while an observer watches the loop no caller runs it`() {
        _ = served.call { [loop] in loop.add(LoopObserver(activities: .entry) { _ in }) }
        #expect(Set((1...500).map { _ in served.call() }) == [ownThread])
        #expect(served.stop())
    }

    /// A timer that fires on the loop.
    private final class Alarm: TimerTarget {
        let fired = Watched<UInt?>(nil)
        private let action: @Sendable () -> Void

        init(action: @escaping @Sendable () -> Void = {}) {
            self.action = action
        }

        func timerFired(_ timer: TimerID) {
            fired.change { $0 = currentThread() }
            action()
        }
    }

    @Test func `a caller that runs the loop gives it back when a timer of others begins a task`() async throws {
        let rest = Alarm()
        let places = served.lentOnce { [loop] in
            let own = Lock<UInt>(0)
            let last = LoopBound(joined: rest, on: loop)
            let alarm = Alarm {
                loop.taskBegan()
                loop.taskBegan()
                _ = loop.startTimer(at: loop.now + Duration.milliseconds(1), for: last.value)
            }
            let bound = LoopBound(joined: alarm, on: loop)
            loop.runWhileWaiting {
                loop.enqueue {
                    own.withLock { $0 = currentThread() }
                    _ = loop.startTimer(at: loop.now + Duration.milliseconds(5), for: bound.value)
                }
            } until: {
                false
            }
            return (own.withLock { $0 }, alarm.fired.value ?? 0)
        }
        #expect(places?.others == currentThread())
        #expect(try await rest.fired.wait { $0 != nil } == ownThread)
        #expect(served.stop())
    }

    @Test func `a caller that runs the loop waits for what its request waits for`() {
        let places = served.lentOnce {
            let alarm = Alarm()
            let bound = LoopBound(joined: alarm, on: loop)
            let own = Lock<UInt>(0)
            loop.runWhileWaiting {
                loop.enqueue { [loop] in
                    own.withLock { $0 = currentThread() }
                    _ = loop.startTimer(at: loop.now + Duration.milliseconds(20), for: bound.value)
                }
            } until: {
                alarm.fired.value != nil
            }
            return (own.withLock { $0 }, alarm.fired.value ?? 0)
        }
        #expect(places?.others == currentThread())
        #expect(served.stop())
    }

    @Test func `a timer fires though no caller comes any more`() async throws {
        let alarm = Alarm()
        let bound = LoopBound(joined: alarm, on: loop)
        _ = served.call { [loop] in _ = loop.startTimer(at: loop.now + Duration.milliseconds(30), for: bound.value) }
        _ = served.callUntilLent()
        #expect(try await alarm.fired.wait { $0 != nil } == ownThread)
        #expect(served.stop())
    }

    /// State that only the loop may touch.
    private final class Tally {
        var count = 0
        var isInside = false
        var overlaps = 0
    }

    @Test func `of many callers and others one thread at a time runs the loop, and each job once`() {
        let tally = LoopBound(joined: Tally(), on: loop)
        @Sendable func job() {
            let tally = tally.value
            if tally.isInside { tally.overlaps += 1 }
            tally.isInside = true
            tally.count += 1
            tally.isInside = false
        }
        let threads = DispatchGroup()
        let lent = Lock(0)
        let others = DispatchGroup()
        for number in 0..<4 {
            threads.enter()
            Thread.detachNewThread { [served] in
                for round in 0..<2_000 {
                    if served.call(job) == currentThread() { lent.withLock { $0 += 1 } }
                    // Sometimes one of them is alone for a while.
                    if number > 0, round % 500 == 499 { usleep(150_000) }
                }
                threads.leave()
            }
        }
        others.enter()
        Thread.detachNewThread { [loop] in
            for _ in 0..<200 {
                loop.enqueue { job() }
                usleep(3_000)
            }
            others.leave()
        }
        threads.wait()
        others.wait()
        let total = Lock((count: 0, overlaps: 0))
        _ = served.call { total.withLock { $0 = (tally.value.count, tally.value.overlaps) } }
        #expect(total.withLock { $0.count } == 4 * 2_000 + 200)
        #expect(total.withLock { $0.overlaps } == 0)
        #expect(lent.withLock { $0 } > 0)
        #expect(served.stop())
    }
}

extension LoopBound {
    /// For a value that only the loop will use, made before it runs.
    fileprivate init(joined value: Value, on loop: EventLoop) {
        self = LoopBound<Void>((), on: loop).joined { _ in value }
    }
}
