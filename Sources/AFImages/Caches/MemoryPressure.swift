import Foundation

/// Tells caches that memory is scarce.
///
/// ``system`` listens to the kernel: to its measure of the time that is lost waiting for memory (PSI), of the machine
/// and of the process's control group, and to the events of the group that hits its limit. Where the kernel tells
/// nothing of the kind, or not to us, it stays silent; call ``announce()`` if your program knows better.
///
/// Safe to use from any thread.
public final class MemoryPressure: Sendable {
    private struct State: Sendable {
        var observers: [UUID: @Sendable () -> Void] = [:]
        var isWatching: Bool
    }

    /// What the kernel says. It is asked from the first observer on, by a thread that waits for the answer.
    public static let system = MemoryPressure(isWatching: false)

    private let state: Lock<State>

    /// Says nothing by itself; only ``announce()`` does.
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

    /// Calls `body` whenever memory is scarce, on any thread, until the observation goes away or is cancelled.
    public func observe(_ body: @escaping @Sendable () -> Void) -> Observation {
        let key = UUID()
        let isFirst = state.withLock { state in
            state.observers[key] = body
            defer { state.isWatching = true }
            return !state.isWatching
        }
        if isFirst { MemoryWatch.start { [weak self] in self?.announce() } }
        return Observation { [weak self] in
            // The closure goes away after the lock: it holds what is the observer's.
            _ = self?.state.withLock { $0.observers.removeValue(forKey: key) }
        }
    }

    /// Ends with its last reference.
    public final class Observation: Sendable {
        private let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit {
            end()
        }

        /// Ends it now. A call that is under way may still arrive.
        public func cancel() {
            end()
        }
    }
}
