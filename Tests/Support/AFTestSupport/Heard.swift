/// What callbacks report, in order, for a test that waits for it.
package final class Heard<Value: Sendable>: Sendable {
    private let values = Watched<[Value]>([])

    package init() {}

    package var all: [Value] { values.value }

    package var first: Value {
        get async throws { try await wait()[0] }
    }

    package func add(_ value: Value) {
        values.change { $0.append(value) }
    }

    package func removeAll() {
        values.change { $0.removeAll() }
    }

    /// Waits, a minute at most, for so many reports.
    @discardableResult
    package func wait(for count: Int = 1, seconds: Int = 60) async throws -> [Value] {
        try await wait(seconds: seconds) { $0.count >= count }
    }

    @discardableResult
    package func wait(seconds: Int = 60, until isMet: @escaping @Sendable ([Value]) -> Bool) async throws -> [Value] {
        try await values.wait("reports", seconds: seconds, until: isMet)
    }
}
