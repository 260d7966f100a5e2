import AFBase
import Foundation
import Testing

@testable import AFLoop

@Suite("Timers in run loops of Foundation's")
struct RunLoopTimerTests {
    /// Runs `body` on a thread of its own.
    private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    @Test(arguments: ["kCFRunLoopDefaultMode", "kCFRunLoopCommonModes", "com.example.modal"])
    func `a sleeping loop wakes up when its timer is fired from another thread`(mode: String) async {
        let fired = Lock(0)
        let passes = await onThread {
            let timer = RunLoopTimer(in: .current, modes: [mode]) {
                fired.withLock { $0 += 1 }
                endRunLoopPass()
            }
            Thread.detachNewThread { timer?.fire() }
            let late = Date(timeIntervalSinceNow: 50)
            let running: RunLoop.Mode = mode == "kCFRunLoopCommonModes" ? .default : RunLoop.Mode(mode)
            var passes = 0
            while fired.withLock({ $0 }) == 0, Date() < late {
                _ = RunLoop.current.run(mode: running, before: late)
                passes += 1
            }
            timer?.invalidate()
            return passes
        }

        #expect(fired.withLock { $0 } == 1 && passes >= 1)
    }

    @Test func `a timer fires as often as it is told to, and never by itself`() async {
        let fired = Lock(0)
        await onThread {
            let timer = RunLoopTimer(in: .current, modes: ["kCFRunLoopDefaultMode"]) { fired.withLock { $0 += 1 } }
            for _ in 1...5 {
                timer?.fire()
                RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.01))
            }
            RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.01))
        }

        #expect(fired.withLock { $0 } == 5)
    }

    @Test func `an ended timer does not fire, and releases its block and its loop`() async {
        final class Held: Sendable {}
        let fired = Lock(0)
        let (isHeld, isLetGo, endsAtOnce) = await onThread {
            weak var held: Held?
            var timer: RunLoopTimer?
            do {
                let object = Held()
                held = object
                timer = RunLoopTimer(in: .current, modes: ["kCFRunLoopDefaultMode"]) {
                    withExtendedLifetime(object) { fired.withLock { $0 += 1 } }
                }
            }
            let isHeld = held != nil
            timer?.invalidate()
            timer?.invalidate()
            timer?.fire()
            // With nothing to wait for, a loop does not run.
            let endsAtOnce = !RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 50))
            return (isHeld, held == nil, endsAtOnce)
        }

        #expect(isHeld && isLetGo && endsAtOnce)
        #expect(fired.withLock { $0 } == 0)
    }

    @Test func `a timer of the main loop keeps no other one running`() async {
        let ran = await onThread {
            let timer = RunLoopTimer(in: .main, modes: ["kCFRunLoopDefaultMode", "com.example.modal"]) {}
            defer { timer?.invalidate() }
            return RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 50))
        }

        #expect(!ran)
    }

    @Test func `the last reference ends it`() async {
        let fired = Lock(0)
        await onThread {
            for _ in 1...3 {
                RunLoopTimer(in: .current, modes: ["kCFRunLoopDefaultMode"]) { fired.withLock { $0 += 1 } }?.fire()
            }
            RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.01))
        }

        #expect(fired.withLock { $0 } == 0)
    }
}
