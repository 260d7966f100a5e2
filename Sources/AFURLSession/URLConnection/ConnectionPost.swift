import AFLoop
import Dispatch
import Foundation

/// Reaches, from the network thread, the place where a connection calls its delegate.
protocol ConnectionPost: Sendable {
    /// Rings the bell there, once or more, at a time when no code of the connection runs. From any thread.
    func wake()
    /// The connection needs it no longer.
    func close()
}

/// Tells a connection that this is the place where it is scheduled, and that it may call its delegate.
struct DeliveryBell: Sendable {
    weak let core: ConnectionCore?
    /// The number of its schedule: the connection may have another by now.
    let schedule: Int

    func ring() {
        core?.deliver(for: schedule)
    }
}

/// Calls the delegate on the network thread.
struct NetworkPost: ConnectionPost {
    let world: World
    let modes: LoopModes
    let bell: DeliveryBell

    func wake() {
        // Without a network thread there is only the caller's.
        guard world.unavailability() == nil else { return bell.ring() }
        world.loop.enqueue(in: modes) { [bell] in bell.ring() }
    }

    func close() {}
}

/// Calls the delegate on a queue.
struct QueuePost: ConnectionPost {
    let queue: OperationQueue
    let bell: DeliveryBell

    func wake() {
        queue.addOperation(CallbackOperation(block: { [bell] in bell.ring() }))
    }

    func close() {}
}

// Unchecked: another thread may use Foundation's run loops and timers in the few ways used here. Their Core Foundation
// locks itself, and setting a timer's date wakes the loop that waits for it.
/// Calls the delegate on a run loop of Foundation's.
///
/// Only one thing wakes a sleeping run loop on Linux: another thread moves the date of a timer. Each connection has one
/// timer, in its modes; so a loop with a connection also has something to wait for. For the main loop it uses the main
/// queue where it can: a program with an `async` main does not run the loop.
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
            // Makes `run(mode:before:)` return, as input does and timers do not.
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
