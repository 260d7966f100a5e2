import AFBase
import Foundation
import Glibc

/// Tells caches that memory is scarce.
///
/// ``system`` listens to the kernel: to its measure of the time that is lost waiting for memory (PSI), of the machine
/// and of the process's control group, and to the events of the group that hits its limit. If the kernel offers
/// neither, or denies access, it stays silent; call ``announce()`` if your program knows that memory is scarce.
///
/// Safe to use from any thread.
public final class MemoryPressure: Sendable {
    private struct State: Sendable {
        var observers: [UUID: @Sendable () -> Void] = [:]
        var isWatching: Bool
    }

    /// The pressure that the kernel reports. From the first observer on, a thread waits for the reports.
    public static let system = MemoryPressure(isWatching: false)

    private let state: Lock<State>

    /// An object that only ``announce()`` triggers.
    public convenience init() {
        self.init(isWatching: true)
    }

    private init(isWatching: Bool) {
        state = Lock(State(isWatching: isWatching))
    }

    /// Tells all observers, on the calling thread.
    public func announce() {
        let observers = state.withLock { Array($0.observers.values) }
        for observer in observers { observer() }
    }

    /// Calls `body` whenever memory is scarce, on any thread, until the observation is released or cancelled.
    public func observe(_ body: @escaping @Sendable () -> Void) -> Observation {
        let key = UUID()
        let isFirst = state.withLock { state in
            state.observers[key] = body
            defer { state.isWatching = true }
            return !state.isWatching
        }
        if isFirst { MemoryWatch.start { [weak self] in self?.announce() } }
        return Observation { [weak self] in
            // Release the closure after the lock: its deinit may run the program's code.
            _ = self?.state.withLock { $0.observers.removeValue(forKey: key) }
        }
    }

    /// Ends when it is released.
    public final class Observation: Sendable {
        private let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit {
            end()
        }

        /// Ends it now. A call that has begun may still arrive.
        public func cancel() {
            end()
        }
    }
}
