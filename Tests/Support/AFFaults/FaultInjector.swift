package import CAFLinux
import CAFTestSupport

/// Lets system calls of the package fail, one at a time.
///
/// There is one hook per process, so tests that use it run in a process of their own:
/// `#expect(processExitsWith: .success) { … }`.
package enum FaultInjector {
    /// What happens to one call.
    package enum Fault: Sendable, CustomStringConvertible {
        /// It fails with this `errno`.
        case fails(Int32)
        /// It is not made, and answers this.
        case answers(Int)
        /// It moves no more than so many bytes.
        case isShort(Int)

        package var description: String {
            switch self {
            case .fails(let code): "fails with errno \(code)"
            case .answers(let result): "answers \(result)"
            case .isShort(let count): "moves \(count) bytes"
            }
        }
    }

    /// Runs a scenario again and again, each time with the fault one call later, until
    /// it completes without the fault happening.
    ///
    /// - Returns: How often the fault happened.
    @discardableResult
    package static func enumerate(
        _ fault: Fault,
        of call: caf_call,
        limit: Int = 200,
        scenario: (_ ordinal: Int) async throws -> Void
    ) async rethrows -> Int {
        defer { caft_stop() }
        for ordinal in 1...limit {
            plan(fault, of: call, ordinal)
            try await scenario(ordinal)
            guard caft_fired() else { return ordinal - 1 }
        }
        return limit
    }

    /// Has the so many-th call of a kind from now on, the first being 1, fail.
    package static func plan(_ fault: Fault, of call: caf_call, _ ordinal: Int) {
        switch fault {
        case .fails(let code): caft_fail_call(Int32(call.rawValue), ordinal, -Int(code))
        case .answers(let result): caft_fail_call(Int32(call.rawValue), ordinal, result)
        case .isShort(let count): caft_shorten_call(Int32(call.rawValue), ordinal, count)
        }
    }

    /// What was planned has happened.
    package static var hasFired: Bool { caft_fired() }

    /// Lets nothing fail from now on, but goes on counting.
    package static func spare() { caft_spare() }

    /// Makes every socket block now and then, and move few bytes at a time.
    package static func disturb(percent: Int32, length: Int, seed: UInt64) {
        caft_disturb(percent, length, seed)
    }

    /// The next call of this kind fails with this `errno`.
    package static func failNext(_ call: caf_call, with code: Int32) {
        caft_fail_call(Int32(call.rawValue), 1, -Int(code))
    }

    /// Counts calls, and audits closes, without letting anything fail.
    package static func watch() {
        caft_watch()
    }

    /// Kills this process in front of the so many-th call of any kind.
    package static func die(atCall ordinal: Int) {
        caft_die_at_call(ordinal)
    }

    package static func stop() {
        caft_stop()
    }

    package static func calls(_ call: caf_call) -> Int { caft_calls(Int32(call.rawValue)) }

    /// How often a descriptor was closed that was not open.
    package static var badCloses: Int { caft_bad_closes() }
}

/// Lets name lookups wait and answer as the test says.
package enum LookupGate {
    package static func hold() { caft_hold_lookups(true) }
    package static func release() { caft_hold_lookups(false) }
    /// Lookups that wait at this moment.
    package static var held: Int { caft_held_lookups() }
    /// The most that ever waited at a time since `hold()`.
    package static var mostHeld: Int { caft_most_held_lookups() }
    /// Every lookup fails with this code.
    package static func answer(_ code: Int32) { caft_answer_lookups(Int(code)) }
    package static func answerAsTheSystemDoes() { caft_answer_lookups(1) }
}
