import AFLoop
import Dispatch
import Foundation

/// The way from the network thread to where a delegate is called.
protocol ConnectionPost: Sendable {
    /// Has the bell rung there, once or more, at a time when nothing of the connection's is running. From any thread.
    func wake()
    /// It will not be needed any more.
    func close()
}

/// Tells a connection that it is where it is scheduled, and may call its delegate.
struct DeliveryBell: Sendable {
    weak let core: ConnectionCore?
    /// Of the schedule it belongs to: there may be another by now.
    let schedule: Int

    func ring() {
        core?.deliver(for: schedule)
    }
}

/// To the network thread itself.
struct NetworkPost: ConnectionPost {
    let world: World
    let modes: LoopModes
    let bell: DeliveryBell

    func wake() {
        // Without the thread there is no other than the caller's.
        guard world.unavailability() == nil else { return bell.ring() }
        world.loop.enqueue(in: modes) { [bell] in bell.ring() }
    }

    func close() {}
}

/// To a queue.
struct QueuePost: ConnectionPost {
    let queue: OperationQueue
    let bell: DeliveryBell

    func wake() {
        queue.addOperation(CallbackOperation(block: { [bell] in bell.ring() }))
    }

    func close() {}
}

// Unchecked: a run loop and a timer of Foundation's may be used from another thread as far as it is done here. Their
// Core Foundation locks itself, and setting a timer's date wakes the loop that waits for it.
/// To a run loop of Foundation's.
///
/// The one thing that wakes a sleeping run loop on Linux is a timer whose date is moved from another thread. Each
/// connection has one, in its modes; so a loop with a connection also has something to wait for. The main loop is served
/// through the main queue where that can be: in a program with an `async` main nobody runs the loop.
final class RunLoopPost: ConnectionPost, @unchecked Sendable {
    private enum Clapper {
        case own(RunLoopTimer)
        /// For the loop of another thread, which only Foundation can reach.
        case foundation(Timer)
    }

    /// Longer than any process lives.
    private static let never: TimeInterval = 1e9

    let runLoop: RunLoop
    let modes: [RunLoop.Mode]
    private let bell: DeliveryBell
    private let clapper: Clapper
    private let usesMainQueue: Bool

    init(_ runLoop: RunLoop, _ modes: [RunLoop.Mode], _ bell: DeliveryBell) {
        self.runLoop = runLoop
        self.modes = modes
        self.bell = bell
        let isCommon = modes.contains { $0 == .default || $0 == .common }
        usesMainQueue = isCommon && runLoop === RunLoop.main
        clapper = RunLoopPost.clapper(in: runLoop, modes) {
            bell.ring()
            // As input does, and timers do not: `run(mode:before:)` returns.
            endRunLoopPass()
        }
    }

    private static func clapper(
        in runLoop: RunLoop,
        _ modes: [RunLoop.Mode],
        _ block: @escaping @Sendable () -> Void
    ) -> Clapper {
        let place: RunLoopTimer.Place? =
            runLoop === RunLoop.main ? .main : runLoop === RunLoop.current ? .current : nil
        if let place, let timer = RunLoopTimer(in: place, modes: modes.map(\.rawValue), block) { return .own(timer) }
        let timer = Timer(fire: Date(timeIntervalSinceNow: never), interval: never, repeats: true) { _ in block() }
        for mode in modes { runLoop.add(timer, forMode: mode) }
        return .foundation(timer)
    }

    func wake() {
        if usesMainQueue { return DispatchQueue.main.async { [bell] in bell.ring() } }
        switch clapper {
        case .own(let timer): timer.fire()
        case .foundation(let timer): timer.fireDate = Date()
        }
    }

    func close() {
        switch clapper {
        case .own(let timer): timer.invalidate()
        case .foundation(let timer): timer.invalidate()
        }
    }
}
