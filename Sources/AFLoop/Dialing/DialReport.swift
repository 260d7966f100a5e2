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
