import Foundation

/// A field of a form, as `--data` and its like give it.
package enum BodyPiece: Sendable, Equatable {
    /// How the content of a file is sent.
    package enum Reading: Sendable, Equatable {
        /// Without carriage returns, line feeds and NULs.
        case text
        case binary
        /// Percent-encoded, after this name and an equals sign, or alone if the name is empty.
        case encoded(name: String)
    }

    case text(String)
    /// `-` is standard input.
    case file(String, Reading)

    /// - Parameter text: A field, or `@FILE`.
    init(data text: String, reading: Reading) {
        self = text.hasPrefix("@") ? .file(String(text.dropFirst()), reading) : .text(text)
    }

    /// `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`; the first of the two signs counts.
    init(urlEncoding text: String) {
        guard let sign = text.firstIndex(where: { $0 == "=" || $0 == "@" }) else {
            self = .text(Self.encoded(text.utf8))
            return
        }
        let name = String(text[..<sign])
        let rest = String(text[text.index(after: sign)...])
        if text[sign] == "@" {
            self = .file(rest, .encoded(name: name))
        } else {
            self = .text((name.isEmpty ? "" : "\(name)=") + Self.encoded(rest.utf8))
        }
    }

    /// The bytes that are sent for the content of a file.
    static func bytes(of contents: Data, reading: Reading) -> Data {
        switch reading {
        case .text: contents.filter { $0 != 0 && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        case .binary: contents
        case .encoded(let name): Data(((name.isEmpty ? "" : "\(name)=") + encoded(contents)).utf8)
        }
    }

    /// Encodes blanks as `+`, and all bytes except letters, digits and `-._~` as `%XX`.
    private static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.append(byte)
            case UInt8(ascii: " "): text.append(UInt8(ascii: "+"))
            default: text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
