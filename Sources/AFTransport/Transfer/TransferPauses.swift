/// What keeps the transfer from going on. Reading stops, and so the peer.
package struct TransferPauses: OptionSet {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The task is suspended.
    package static let suspended = TransferPauses(rawValue: 1)
    /// The delegate has not answered yet.
    package static let unanswered = TransferPauses(rawValue: 2)
    /// The consumer is behind.
    package static let backPressure = TransferPauses(rawValue: 4)
    /// The session has not decided yet whether the task gets this response.
    package static let undecided = TransferPauses(rawValue: 8)
    /// What was received is not decoded yet.
    package static let undecoded = TransferPauses(rawValue: 16)

    /// The session has not decided about the response, and has no room for more of its body.
    package static let full = TransferPauses(rawValue: 64)

    /// The session has received all that its rate limit allows for now.
    package static let share = TransferPauses(rawValue: 32)

    /// The pauses in which the task cannot end, though all may have arrived.
    package static let open: TransferPauses = [.unanswered, .undecided, .undecoded]
}
