/// One way in which one kind of call can fail.
package struct Fault: Sendable, Hashable {
    package enum Effect: Sendable, Hashable {
        /// The call is not made and answers this.
        case answers(Int)
        /// The call moves no more than so many bytes.
        case moves(Int)
    }

    /// The call as it is known: `recv`, `SSL_read`.
    package let call: String
    /// Its number where it comes from.
    package let number: Int32
    package let effect: Effect
    /// The effect in a word: `ECONNRESET`, `short-1`.
    package let word: String
    /// A program must not notice.
    package let isHidden: Bool
    /// Those who are let down may lose memory themselves, which is not ours then.
    package let mayLoseMemory: Bool

    package init(
        _ call: String,
        _ number: Int32,
        _ effect: Effect,
        _ word: String,
        isHidden: Bool = false,
        mayLoseMemory: Bool = false
    ) {
        self.call = call
        self.number = number
        self.effect = effect
        self.word = word
        self.isHidden = isHidden
        self.mayLoseMemory = mayLoseMemory
    }
}

/// One call that fails: the so many-th of its kind from the start of a scenario.
package struct FaultPoint: Sendable, Hashable, CustomStringConvertible {
    package let fault: Fault
    package let ordinal: Int

    package init(_ fault: Fault, ordinal: Int) {
        self.fault = fault
        self.ordinal = ordinal
    }

    /// As it is written on the command line.
    package var description: String { "\(fault.call):\(fault.word):\(ordinal)" }
}

/// Where faults come from.
package protocol FaultSource: Sendable {
    /// All it can do.
    var faults: [Fault] { get }
    /// Counts calls from now on, and lets none fail.
    func watch()
    /// From now on the so many-th call of its kind fails.
    func arm(_ point: FaultPoint)
    /// Lets nothing fail any more.
    func disarm()
    /// Calls of a kind since the last `watch()` or `arm(_:)`.
    func calls(of number: Int32) -> Int
    var hasFired: Bool { get }
    /// What was done wrong by those who were let down, since the process began: closing what is not open.
    var offences: Int { get }
    /// Blocks of memory that were taken and not given back.
    var heldBlocks: Int { get }
    /// Runs `body` on this thread without letting anything fail or counting it.
    func spare<Result>(_ body: () throws -> Result) rethrows -> Result
}
