import Foundation
import Glibc

/// Writes messages to standard error, line by line, with control characters escaped.
struct Console {
    let isSilent: Bool
    /// The prefix of each line except errors.
    private let prefix: String
    private let stream = Descriptor.standardError
    /// Asked of the system once, and not for each URL. `--stderr` has taken effect by then.
    private static let hasTerminal = Descriptor.standardError.isTerminal

    init(isSilent: Bool, prefix: String = "") {
        self.isSilent = isSilent
        self.prefix = prefix
    }

    var isTerminal: Bool { Self.hasTerminal }

    /// How many columns the terminal has.
    var width: Int { TerminalSize(of: stream.number).columns }

    func report(_ message: String) {
        if !isSilent { write(TerminalText.escaped("afnet: \(message)") + "\n") }
    }

    func say(_ line: String) {
        write(TerminalText.escaped(prefix + line) + "\n")
    }

    /// A failure to write standard error is ignored: there is no other place for a message.
    func write(_ text: String) {
        try? stream.write(Data(text.utf8))
    }
}

/// Makes text safe for a terminal.
package enum TerminalText {
    /// Escapes control characters, and characters that hide or reorder others, as `\u{…}`.
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
