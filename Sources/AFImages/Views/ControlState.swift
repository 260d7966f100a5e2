/// The state of a control.
public struct ControlState: OptionSet, Hashable, Sendable {
    /// A bit for each state.
    public let rawValue: UInt

    /// The states of these bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Neither of the others.
    public static let normal: ControlState = []
    /// Being pressed.
    public static let highlighted = ControlState(rawValue: 1)
    /// Not to be used.
    public static let disabled = ControlState(rawValue: 2)
    /// Chosen.
    public static let selected = ControlState(rawValue: 4)
}
