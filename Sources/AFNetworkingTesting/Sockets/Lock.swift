import Glibc

/// A value behind a mutex, with a condition variable for its changes.
///
/// Built on pthreads because thread sanitizer misreads `Synchronization.Mutex`. Unchecked, because the compiler cannot
/// see that every access holds the mutex. The pointers never leave this file.
final class Lock<State: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // A change of the wall clock must not change how long a wait takes.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Reads the state.
    func read<Result, Failure: Error>(_ body: (State) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(state)
    }

    /// Changes the state and wakes all waits.
    func change<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Calls `body` now and after every change until it returns a value. Nil if the time runs out.
    func wait<Result>(atMost timeout: Duration? = nil, until body: (inout State) -> Result?) -> Result? {
        let deadline = timeout.map { MonotonicDeadline(after: $0) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            guard let deadline else {
                pthread_cond_wait(changed, mutex)
                continue
            }
            var moment = deadline.moment
            if pthread_cond_timedwait(changed, mutex, &moment) == ETIMEDOUT {
                return body(&state)
            }
        }
    }
}
