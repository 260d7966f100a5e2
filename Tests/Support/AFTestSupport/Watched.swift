import AFBase
import Dispatch

/// A value that any thread may change, and that a test can wait for.
package final class Watched<State: Sendable>: Sendable {
    /// What was waited for did not come about.
    package struct TimedOut: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Waiter {
        let isMet: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct Box {
        var state: State
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    private let box: Lock<Box>

    package init(_ state: State) {
        box = Lock(Box(state: state))
    }

    package var value: State { box.withLock { $0.state } }

    @discardableResult
    package func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, met) = box.withLock { box -> (Result, [Waiter]) in
            let result = body(&box.state)
            let met = box.waiters.filter { $0.value.isMet(box.state) }
            for number in met.keys { box.waiters[number] = nil }
            return (result, Array(met.values))
        }
        for waiter in met { waiter.continuation.resume(returning: true) }
        return result
    }

    /// Suspends until the condition holds, a minute at most: tests that compute much may hold up all threads of Swift tasks.
    @discardableResult
    package func wait(
        _ what: String = "a change",
        seconds: Int = 60,
        until isMet: @escaping @Sendable (State) -> Bool
    ) async throws -> State {
        let isThere = await withCheckedContinuation { continuation in
            let waiting = box.withLock { box -> Int? in
                guard !isMet(box.state) else { return nil }
                box.nextWaiter += 1
                box.waiters[box.nextWaiter] = Waiter(isMet: isMet, continuation: continuation)
                return box.nextWaiter
            }
            guard let waiting else { return continuation.resume(returning: true) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in
                let late = self?.box.withLock { $0.waiters.removeValue(forKey: waiting) }
                late?.continuation.resume(returning: false)
            }
        }
        guard isThere else { throw TimedOut(description: "waited in vain for \(what); there is \(value)") }
        return value
    }
}
