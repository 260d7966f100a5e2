import AFLoop
import Dispatch
import Foundation

// Unchecked: another thread may use Foundation's run loops and timers in the few ways used here. Their Core Foundation
// locks itself, and setting a timer's date wakes the loop that waits for it.
/// Calls the delegate on a run loop of Foundation's.
///
/// Only one thing wakes a sleeping run loop on Linux: another thread moves the date of a timer. Each connection has one
/// timer, in its modes; so a loop with a connection also has something to wait for. For the main loop it uses the main
/// queue where it can: a program with an `async` main does not run the loop.
final class RunLoopScheduler: @unchecked Sendable {
    private enum WakingTimer {
        case own(RunLoopTimer)
        /// For the loop of another thread, which only Foundation can reach.
        case foundation(Timer)
    }

    /// Longer than any process lives.
    private static let never: TimeInterval = 1e9

    let runLoop: RunLoop
    let modes: [RunLoop.Mode]
    private let schedule: Int
    private let timer: WakingTimer
    private let usesMainQueue: Bool

    init(runLoop: RunLoop, modes: [RunLoop.Mode], core: ConnectionCore, schedule: Int) {
        self.runLoop = runLoop
        self.modes = modes
        self.schedule = schedule
        let isCommon = modes.contains { $0 == .default || $0 == .common }
        usesMainQueue = isCommon && runLoop === RunLoop.main
        timer = RunLoopScheduler.timer(in: runLoop, modes: modes) { [weak core] in
            core?.deliver(for: schedule)
            // Makes `run(mode:before:)` return, as input does and timers do not.
            endRunLoopPass()
        }
    }

    private static func timer(
        in runLoop: RunLoop,
        modes: [RunLoop.Mode],
        block: @escaping @Sendable () -> Void
    ) -> WakingTimer {
        let place: RunLoopTimer.Place? =
            runLoop === RunLoop.main ? .main : runLoop === RunLoop.current ? .current : nil
        if let place, let timer = RunLoopTimer(in: place, modes: modes.map(\.rawValue), block: block) {
            return .own(timer)
        }
        let timer = Timer(fire: Date(timeIntervalSinceNow: never), interval: never, repeats: true) { _ in block() }
        for mode in modes { runLoop.add(timer, forMode: mode) }
        return .foundation(timer)
    }

    func wake(_ core: ConnectionCore) {
        if usesMainQueue { return DispatchQueue.main.async { [schedule] in core.deliver(for: schedule) } }
        switch timer {
        case .own(let timer): timer.fire()
        case .foundation(let timer): timer.fireDate = Date()
        }
    }

    func close() {
        switch timer {
        case .own(let timer): timer.invalidate()
        case .foundation(let timer): timer.invalidate()
        }
    }
}
