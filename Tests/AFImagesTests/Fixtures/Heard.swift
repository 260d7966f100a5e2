import AFNetworking
import Dispatch
import Foundation

/// Collects what callbacks report, in order, for a test that waits for it.
final class Heard<Value: Sendable>: @unchecked Sendable {
    struct TimedOut: Error, CustomStringConvertible {
        let description: String
    }

    private let lock = NSLock()
    private var values: [Value] = []
    private var waiters: [UUID: (isMet: ([Value]) -> Bool, resume: (Bool) -> Void)] = [:]

    var all: [Value] { lock.withLock { values } }

    func say(_ value: Value) {
        let met = lock.withLock {
            values.append(value)
            let met = waiters.filter { $0.value.isMet(values) }
            for key in met.keys { waiters[key] = nil }
            return met.map(\.value.resume)
        }
        for resume in met { resume(true) }
    }

    /// Waits, a minute at most, for so many reports.
    @discardableResult
    func wait(for count: Int = 1, seconds: Int = 60) async throws -> [Value] {
        try await wait(seconds: seconds) { $0.count >= count }
    }

    @discardableResult
    func wait(seconds: Int = 60, until isMet: @escaping @Sendable ([Value]) -> Bool) async throws -> [Value] {
        let key = UUID()
        let isThere = await withCheckedContinuation { continuation in
            let isThere = lock.withLock {
                if isMet(values) { return true }
                waiters[key] = (isMet, { continuation.resume(returning: $0) })
                return false
            }
            if isThere { return continuation.resume(returning: true) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { [self] in
                let late = lock.withLock { waiters.removeValue(forKey: key) }
                late?.resume(false)
            }
        }
        guard isThere else { throw TimedOut(description: "waited in vain; there is \(all)") }
        return all
    }

    var first: Value {
        get async throws { try await wait()[0] }
    }
}

struct WaitedInVain: Error, CustomStringConvertible {
    let description: String
}

/// Returns when the condition holds; throws after a minute.
func eventually(
    _ what: String = "",
    isolation: isolated (any Actor)? = #isolation,
    _ condition: () -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
        guard ContinuousClock.now < end else { throw WaitedInVain(description: "waited in vain for \(what)") }
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// Returns when the main queue has run all enqueued blocks.
@MainActor func mainQueueSettled() async {
    // First what goes there by way of the network thread.
    await withCheckedContinuation { continuation in MainQueue.whenQuiet { continuation.resume() } }
    for _ in 0..<2 {
        await withCheckedContinuation { continuation in
            OperationQueue.main.addOperation { continuation.resume() }
        }
    }
}
