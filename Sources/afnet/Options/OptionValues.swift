import AFURLSession

/// How images are shown in a terminal.
package enum GraphicsMode: String, CaseIterable, Sendable {
    /// The best mode of the terminal; `none` if standard output is not a terminal.
    case auto
    /// Two pixels to a character, for any terminal with 24-bit colours.
    case blocks
    /// Sixel graphics of DEC's terminals.
    case sixel
    /// The graphics protocol of kitty.
    case kitty
    /// No images, only their names and sizes.
    case none
}

/// Where the body of a URL goes.
package enum OutputTarget: Sendable, Equatable {
    /// A file; `-` is standard output.
    case path(String)
    /// A file with the last part of the URL's path as its name, or with the name that the server gives.
    case remoteName
}

/// Where a download is resumed.
package enum ResumeOption: Sendable, Equatable {
    /// After the bytes that the output file has.
    case size
    case offset(Int64)
}

/// How progress is shown.
package enum ProgressStyle: Sendable {
    /// A bar with sizes, the rate, and the time left.
    case full
    /// A bar and nothing else.
    case plain
    case none
}

/// The value of `--trace` and `--trace-ascii`.
package struct DumpOption: Sendable, Equatable {
    /// `-` is standard output, `%` standard error.
    let path: String
    /// Whether the bytes stand in front of the text.
    let hasBytes: Bool
}

/// What happens to the body of a response with a status of 400 or above.
package enum StatusFailure: Sendable {
    case dropsBody
    case keepsBody
}

/// A shell that can complete options.
enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
