import Foundation
import Glibc

/// Writes messages to standard error, line by line, with control characters escaped.
struct Console {
    let isSilent: Bool
    /// The prefix of each line except errors.
    private let prefix: String
    private let stream = Descriptor.standardError

    init(isSilent: Bool, prefix: String = "") {
        self.isSilent = isSilent
        self.prefix = prefix
    }

    var isTerminal: Bool { stream.isTerminal }

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

/// The size of a terminal.
package struct TerminalSize: Sendable, Equatable {
    package let columns: Int
    package let rows: Int
    /// The size of a character in pixels.
    package let cell: (width: Int, height: Int)

    package init(columns: Int, rows: Int, cell: (width: Int, height: Int) = (8, 16)) {
        self.columns = columns
        self.rows = rows
        self.cell = cell
    }

    /// The size of the terminal behind a descriptor; 80 × 24 if it is unknown.
    init(of descriptor: Int32) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        guard isKnown else {
            self.init(columns: 80, rows: 24)
            return
        }
        let (columns, rows) = (Int(size.ws_col), Int(size.ws_row))
        // Many terminals do not report pixels.
        let hasPixels = size.ws_xpixel > 0 && size.ws_ypixel > 0
        let cell = hasPixels ? (max(Int(size.ws_xpixel) / columns, 1), max(Int(size.ws_ypixel) / rows, 1)) : (8, 16)
        self.init(columns: columns, rows: rows, cell: cell)
    }

    package static func == (one: TerminalSize, other: TerminalSize) -> Bool {
        one.columns == other.columns && one.rows == other.rows && one.cell == other.cell
    }
}

/// Asks for a password on the terminal, without echo.
package enum PasswordQuestion {
    /// Nil without a terminal. Ctrl-C interrupts the process.
    package static func ask(_ question: String) -> String? {
        QuietTerminal.ask { device throws(CancellationError) in
            let terminal = Descriptor(number: device)
            try? terminal.write(Data(TerminalText.escaped(question).utf8))
            defer { try? terminal.write(Data("\n".utf8)) }
            return try line(from: device)
        }
    }

    /// Reads to the end of the line.
    private static func line(from device: Int32) throws(CancellationError) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(device, &byte, 1) == 1 {
            switch byte {
            case QuietTerminal.interrupt: throw CancellationError()
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), 4: return String(decoding: bytes, as: UTF8.self)
            case 8, 0x7F: _ = bytes.popLast()
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
