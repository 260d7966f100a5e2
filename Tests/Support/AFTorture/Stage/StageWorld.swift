import AFBase
import AFLoop
import AFURLSession
import Dispatch
import Foundation

/// A world like the system's, with a loop and a thread of its own: whatever the engine opens for a scenario must be
/// closed again at its end.
final class StageWorld: Sendable {
    let world: World
    private let isStopped = Lock(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(seed: UInt64) {
        let loop = EventLoop(poller: EpollPoller())
        let numbers = Lock(seed | 1)
        world = World(
            loop: loop,
            opener: SocketOpener(),
            resolver: LoopBound(GetaddrinfoResolver(loop: loop), on: loop),
            random: {
                numbers.withLock { number in
                    number ^= number << 13
                    number ^= number >> 7
                    number ^= number << 17
                    return number
                }
            }
        )
        Thread.detachNewThread { [isStopped, hasEnded] in
            Thread.current.threadDictionary[Self.mark] = true
            loop.run(in: .default) { isStopped.withLock { $0 } }
            hasEnded.signal()
        }
    }

    private static let mark = "AFTorture.loop"

    /// This is the thread of a stage's loop, on which no program is called back.
    static var isOnLoop: Bool { Thread.current.threadDictionary[mark] != nil }

    /// What is still in the loop when nothing is left to be done; nil if nothing is.
    func excess() async -> String? {
        for _ in 1..<500 {
            if await rest() == nil { return nil }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return await rest()
    }

    private func rest() async -> String? {
        let loop = world.loop
        return await withCheckedContinuation { continuation in
            loop.enqueue {
                let (timers, channels) = (loop.armedTimers, loop.registeredChannels)
                continuation.resume(returning: timers + channels == 0 ? nil : "\(timers) timers, \(channels) channels")
            }
        }
    }

    /// Ends its thread. False if that hangs.
    func stop() async -> Bool {
        world.loop.enqueue { [isStopped] in isStopped.withLock { $0 = true } }
        defer { world.loop.retire() }
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [hasEnded] in
                continuation.resume(returning: hasEnded.wait(timeout: .now() + 20) == .success)
            }
        }
    }
}

/// Waits for what others do in their own time.
package enum Patience {
    package static func until(_ condition: () -> Bool, seconds: Int = 20) async -> Bool {
        for round in 0..<(seconds * 1000) {
            if condition() { return true }
            if round < 20 { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(1)) }
        }
        return condition()
    }
}
