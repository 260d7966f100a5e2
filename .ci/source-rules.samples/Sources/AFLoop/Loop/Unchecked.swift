import Synchronization

final class Counter: @unchecked  // expect: unchecked
    Sendable
{
    nonisolated(unsafe) static var shared = 0  // expect: unchecked
    let guarded = Mutex(0)  // expect: synchronization-mutex
    let counter = Atomic<Int>(0)
    unowned let owner: Counter  // expect: unowned
    unowned(unsafe) let other: Counter  // expect: unowned
    weak var third: Counter?
}
