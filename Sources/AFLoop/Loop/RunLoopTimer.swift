import AFBase
import CAFLinux

/// A timer in a run loop of Foundation's, which fires when code on any thread says so.
///
/// In the place of Foundation's `Timer`, which on Linux keeps itself for ever once it was made: 300 bytes and whatever
/// its block holds, for each.
package final class RunLoopTimer: Sendable {
    /// Which run loop it is for.
    package enum Place: Sendable {
        case current, main
    }

    private struct Blocks {
        var next: UInt = 1
        var blocks: [UInt: @Sendable () -> Void] = [:]
    }

    /// Of all timers, by number: a timer may fire just while another thread ends it.
    private static let shared = Lock(Blocks())

    private let timer: UInt
    private let number: UInt

    /// Puts a timer into modes of a run loop.
    ///
    /// Nil in a program without Core Foundation.
    ///
    /// - Parameter block: What to do when it fires, on the thread of the run loop.
    package init?(in place: Place, modes: [String], block: @escaping @Sendable () -> Void) {
        let number = RunLoopTimer.shared.withLock { shared in
            defer { shared.next += 1 }
            shared.blocks[shared.next] = block
            return shared.next
        }
        let timer = caf_run_loop_timer_make({ _, number in RunLoopTimer.fired(UInt(bitPattern: number)) }, number)
        guard timer != 0 else {
            RunLoopTimer.forget(number)
            return nil
        }
        (self.timer, self.number) = (timer, number)
        for mode in modes { caf_run_loop_timer_add(timer, place == .main, mode) }
    }

    deinit {
        invalidate()
        caf_run_loop_timer_release(timer)
    }

    /// Fires as soon as the loop runs in one of its modes. From any thread.
    package func fire() { caf_run_loop_timer_fire(timer) }

    /// Never fires again, and lets go of its block. From any thread; more than once is as good as once.
    package func invalidate() {
        caf_run_loop_timer_end(timer)
        RunLoopTimer.forget(number)
    }

    private static func fired(_ number: UInt) {
        shared.withLock { $0.blocks[number] }?()
    }

    private static func forget(_ number: UInt) {
        // What a block holds may do things when it is let go of.
        let block = shared.withLock { $0.blocks.removeValue(forKey: number) }
        withExtendedLifetime(block) {}
    }
}

/// The run loop of Foundation's that runs on this thread, if one does, has handled input: `run(mode:before:)` returns.
///
/// Timers do not do that by themselves, and nothing that does can be had from Foundation on Linux.
package func endRunLoopPass() {
    caf_end_run_loop_pass()
}
