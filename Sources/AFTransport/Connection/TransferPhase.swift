/// What a transfer was waiting for.
package enum TransferPhase: Sendable {
    /// There is no network.
    case offline
    /// The body is being opened, or the delegate is asked for it.
    case preparing
    case queued
    case resolving
    case connecting
    /// The way through a proxy is being made.
    case proxy
    case securing
    case sending
    case waitingForHead
    case receivingBody
}
