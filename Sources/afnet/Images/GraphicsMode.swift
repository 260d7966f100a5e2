/// How pictures are shown in a terminal.
package enum GraphicsMode: String, CaseIterable, Sendable {
    /// The best that the terminal says it has; what is no terminal gets words only.
    case auto
    /// Two pixels to a character, for any terminal with 24-bit colours.
    case blocks
    /// Pixels, as DEC's terminals had them.
    case sixel
    /// Pixels, as kitty has them.
    case kitty
    /// Words only.
    case none
}
