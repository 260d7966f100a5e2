import Glibc

/// Carries a value of the virtual world through types that must be `Sendable`.
///
/// All of a virtual world lives on the thread that made it; opening checks that.
// Unchecked: the check is at run time, in `value`.
package struct ThreadBound<Value>: @unchecked Sendable {
    private let thread = pthread_self()
    private let stored: Value

    package init(_ value: Value) {
        stored = value
    }

    package var value: Value {
        precondition(pthread_self() == thread, "the virtual world was entered from another thread")
        return stored
    }
}
