public import Glibc

// Public and inlinable because a request takes about ten locks: without
// specialization in the caller's module each costs 360 instructions instead of 60.
/// A value that any thread may use, one at a time.
///
/// Built on `pthread_mutex`: the thread sanitizer reports false races for `Synchronization.Mutex`, and under contention
/// this one is several times cheaper. Nothing is called out to while it is held.
public struct Lock<State>: @unchecked Sendable {
    @usableFromInline
    let storage: ManagedBuffer<pthread_mutex_t, State>

    /// Guards `state`.
    @inlinable
    public init(_ state: sending State) {
        storage = LockStorage<State>.make(state)
    }

    /// Runs `body` with the value, alone.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeMutablePointers { (mutex, state) throws(Failure) -> Result in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&state.pointee)
        }
    }

    /// Runs `body` with the value if no other thread has it; otherwise returns nil.
    @inlinable
    public func withLockIfFree<Result>(_ body: (inout State) -> Result) -> Result? {
        storage.withUnsafeMutablePointers { mutex, state in
            guard pthread_mutex_trylock(mutex) == 0 else { return nil }
            defer { pthread_mutex_unlock(mutex) }
            return body(&state.pointee)
        }
    }

    /// Replaces a part of the value. The former part is released after the lock: its deinit may run the program's code.
    @inlinable
    public func set<Part>(_ part: WritableKeyPath<State, Part>, _ value: Part) {
        var value = value
        withLock { swap(&$0[keyPath: part], &value) }
    }
}
