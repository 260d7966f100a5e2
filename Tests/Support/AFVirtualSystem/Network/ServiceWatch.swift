import AFLoop

/// Watches that the loop serves a channel as it promises to all: once in a turn, with one share of it, and in the next
/// turn when it asks. So no client waits for more than two shares of each other peer (Docs/Internals/Loop.md).
struct ServiceWatch {
    /// The last step may go beyond the share: a read, or a head.
    private static let longestStep = TurnShare.size

    private var served: UInt64?
    /// The turn in which the channel asked to go on.
    private var asked: UInt64?
    private var violations: [String] = []

    mutating func isAsked(in turn: UInt64) {
        if asked == nil { asked = turn }
    }

    mutating func begins(in turn: UInt64) {
        if served == turn { violations.append("a channel was served twice in turn \(turn)") }
        if let asked, turn > asked + 1 {
            violations.append("a channel asked in turn \(asked), and waited until \(turn)")
        }
        (served, asked) = (turn, nil)
    }

    mutating func ends(beyondShare overdraft: Int) {
        guard overdraft > ServiceWatch.longestStep else { return }
        violations.append("a channel had \(overdraft) bytes more than its share of a turn")
    }

    mutating func takeViolations() -> [String] {
        defer { violations = [] }
        return violations
    }
}
