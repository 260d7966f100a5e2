/// The modes in which a job, timer, observer or channel is served.
///
/// A loop runs in one mode at a time. What does not belong to it waits,
/// undelivered but not lost, until the loop runs in a mode that it does belong to.
package struct LoopModes: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// What the network thread runs in.
    package static let `default` = LoopModes(rawValue: 1)
    /// While a person drags, scrolls or presses.
    package static let tracking = LoopModes(rawValue: 2)

    package static let common: LoopModes = [.default, .tracking]
    package static let all = LoopModes(rawValue: .max)
}
