/// One address of a dial, and how connecting to it ended.
package struct DialAttempt: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case connected
        case failed(SystemCallError)
        /// Another address won, or the caller cancelled the dial.
        case abandoned
        /// It had not answered when its time, or that of the whole dial, was over.
        case unanswered
        /// It may not be connected to, and was not.
        case forbidden
        /// The way to it is by a cellular network, which may not be used.
        case cellular
    }

    package let address: SocketAddress
    package let outcome: Outcome

    package init(address: SocketAddress, outcome: Outcome) {
        self.address = address
        self.outcome = outcome
    }
}
