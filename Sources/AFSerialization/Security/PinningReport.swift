public import Foundation

/// A server whose chain is valid but has none of the pins that a rule asks for.
public struct PinningReport: Sendable, Hashable {
    /// The host of the URL.
    public let host: String
    /// The moment of the decision.
    public let date: Date
    /// The rule that was not met.
    public let rule: HostRule
    /// Whether the server was refused. False for a rule that only reports.
    public let isRefused: Bool
    /// The certificates as the server sent them, its own first.
    public let servedChain: [Certificate]
    /// The certificates that were proven, up to an authority: where a pin was looked for.
    public let verifiedChain: [Certificate]
    /// What the decision says: the pins that were expected, and those that the chain has.
    public let explanation: String

    /// The pins of the proven certificates.
    public var pins: [PublicKeyPin] { verifiedChain.map(\.pin) }
}
