public import Glibc

/// The value and its mutex in one allocation.
@usableFromInline
final class LockStorage<State>: ManagedBuffer<pthread_mutex_t, State> {
    // The value is the element, because only an element can be moved in.
    @inlinable
    static func make(_ state: consuming State) -> ManagedBuffer<pthread_mutex_t, State> {
        let storage = LockStorage.create(minimumCapacity: 1) { _ in pthread_mutex_t() }
        _ = storage.withUnsafeMutablePointerToHeader { pthread_mutex_init($0, nil) }
        storage.withUnsafeMutablePointerToElements { $0 }.initialize(to: state)
        return storage
    }

    @inlinable
    deinit {
        withUnsafeMutablePointers { mutex, state in
            state.deinitialize(count: 1)
            pthread_mutex_destroy(mutex)
        }
    }
}
