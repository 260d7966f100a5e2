/// Text as one word for a POSIX shell.
///
/// All text stands between apostrophes, where no character has a special meaning; an apostrophe is written outside of
/// them. Control characters would reach the terminal that shows the command, so `printf` makes them from their numbers:
/// `$'…'` would be shorter, but many shells do not know it.
package enum ShellText {
    /// - Parameter text: Any text. Leaves out NUL, which no argument can hold.
    package static func word(_ text: String) -> String {
        guard text.isEmpty || !text.utf8.allSatisfy(isPlain) else { return text }
        var result = ""
        var run = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\0": continue
            case "'": run += "'\\''"
            case _ where isShown(scalar): run.unicodeScalars.append(scalar)
            default:
                result += quoted(run) + "\"$(printf '\(octal(String(scalar).utf8))')\""
                run = ""
            }
        }
        result += quoted(run)
        return result.isEmpty ? "''" : result
    }

    /// A command that writes exactly these bytes.
    static func printing(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in bytes {
            switch byte {
            // A hyphen in front would make the whole an option.
            case UInt8(ascii: "-") where text.isEmpty: text += octal([byte])
            case UInt8(ascii: "'"): text += "'\\''"
            case UInt8(ascii: "\\"): text += "\\\\"
            case UInt8(ascii: "%"): text += "%%"
            case 0x20...0x7E: text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += octal([byte])
            }
        }
        return "printf '\(text)'"
    }

    /// Whether a terminal can show the character as it is, line breaks aside.
    package static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar == "\n" || scalar == "\t"
        case .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    private static func quoted(_ run: String) -> String { run.isEmpty ? "" : "'\(run)'" }

    /// Always three digits, so that the shell does not take a digit behind it for one of them.
    private static func octal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 8)
            return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }.joined()
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-_./:,@+".utf8.contains(byte)
        }
    }
}
