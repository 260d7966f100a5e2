import Foundation
import Glibc

/// What is said to people: on standard error, line by line, harmless for terminals.
struct Console {
    let isSilent: Bool
    /// In front of each line but errors, which say themselves what they are about.
    private let prefix: String
    private let stream = Descriptor.standardError

    init(isSilent: Bool, prefix: String = "") {
        self.isSilent = isSilent
        self.prefix = prefix
    }

    var isTerminal: Bool { stream.isTerminal }

    /// Columns of the terminal.
    var width: Int { TerminalSize(of: stream.number).columns }

    func report(_ message: String) {
        if !isSilent { write(TerminalText.escaped("afnet: \(message)") + "\n") }
    }

    func say(_ line: String) {
        write(TerminalText.escaped(prefix + line) + "\n")
    }

    /// Nothing can be done, and no one told, when standard error cannot be written.
    func write(_ text: String) {
        try? stream.write(Data(text.utf8))
    }
}

/// Text from elsewhere, made harmless for a terminal.
package enum TerminalText {
    /// Control characters, and those that hide or reorder others, become `\u{…}`.
    package static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}

/// How much room a terminal has.
package struct TerminalSize: Sendable, Equatable {
    package let columns: Int
    package let rows: Int
    /// The size of a character, in pixels.
    package let cell: (width: Int, height: Int)

    package init(columns: Int, rows: Int, cell: (width: Int, height: Int) = (8, 16)) {
        self.columns = columns
        self.rows = rows
        self.cell = cell
    }

    /// That of a descriptor; 80 × 24 if it has none.
    init(of descriptor: Int32) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        guard isKnown else {
            self.init(columns: 80, rows: 24)
            return
        }
        let (columns, rows) = (Int(size.ws_col), Int(size.ws_row))
        // Many terminals do not say how many pixels they have.
        let hasPixels = size.ws_xpixel > 0 && size.ws_ypixel > 0
        let cell = hasPixels ? (max(Int(size.ws_xpixel) / columns, 1), max(Int(size.ws_ypixel) / rows, 1)) : (8, 16)
        self.init(columns: columns, rows: rows, cell: cell)
    }

    package static func == (one: TerminalSize, other: TerminalSize) -> Bool {
        one.columns == other.columns && one.rows == other.rows && one.cell == other.cell
    }
}
