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

/// When a connection was resolved and connected, and every address tried.
package struct DialReport: Sendable {
    package var resolveStarted: LoopInstant?
    package var resolveEnded: LoopInstant?
    package var connectStarted: LoopInstant?
    package var connectEnded: LoopInstant?
    package var attempts: [DialAttempt] = []

    package init() {}
}

package enum DialFailure: Error, Sendable {
    case unresolved(ResolutionFailure)
    /// Every address failed, each as the report says.
    case unreachable
    /// No address answered in the time each of them had.
    case unanswered(Duration)
    /// No address may be connected to.
    case forbidden
}

/// Where to dial.
package enum DialTarget: Sendable, Hashable {
    case name(String, port: UInt16)
    /// One of these, the first ones preferred.
    case addresses([SocketAddress])

    package static func address(_ address: SocketAddress) -> DialTarget { .addresses([address]) }
}
