/// Parses a netrc text.
///
/// Words are separated by blanks and line ends. A word in quotation marks may contain blanks, and a backslash in it
/// takes the next byte literally. `#` where a keyword could stand makes the rest of the line a comment.
package struct NetrcReader {
    package struct Machine {
        /// Nil for `default`.
        package var name: [UInt8]?
        package var user: [UInt8]?
        package var password: [UInt8]?
    }

    package struct Misunderstanding: Error {
        package let line: Int
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    /// The machine that the last keyword has begun.
    private var begun: Machine?

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next machine with all its values; nil at the end.
    package mutating func next() throws(Misunderstanding) -> Machine? {
        while let keyword = try keyword() {
            let ended = begun
            switch keyword {
            case "machine": begun = Machine(name: try value())
            case "default": begun = Machine()
            case "login", "user": begun = try current { $0.user = $1 }
            case "password", "passwd": begun = try current { $0.password = $1 }
            case "account": begun = try current { _, _ in }
            case "macdef": skipMacro()
            default: throw Misunderstanding(line: line)
            }
            if keyword == "machine" || keyword == "default", let ended { return ended }
        }
        defer { begun = nil }
        return begun
    }

    private mutating func current(
        _ change: (inout Machine, [UInt8]) -> Void
    ) throws(Misunderstanding) -> Machine {
        guard var machine = begun else { throw Misunderstanding(line: line) }
        change(&machine, try value())
        return machine
    }

    // MARK: - Words

    private mutating func keyword() throws(Misunderstanding) -> String? {
        skipBlanks()
        while position < bytes.count, bytes[position] == UInt8(ascii: "#") {
            skipLine()
            skipBlanks()
        }
        guard position < bytes.count else { return nil }
        return String(decoding: try word(), as: UTF8.self)
    }

    private mutating func value() throws(Misunderstanding) -> [UInt8] {
        let line = line
        skipBlanks()
        guard position < bytes.count else { throw Misunderstanding(line: line) }
        return try word()
    }

    private mutating func word() throws(Misunderstanding) -> [UInt8] {
        guard bytes[position] != UInt8(ascii: "\"") else { return try quotedWord() }
        let start = position
        while position < bytes.count, !NetrcReader.isBlank(bytes[position]) { position += 1 }
        return try checked(Array(bytes[start..<position]))
    }

    private mutating func quotedWord() throws(Misunderstanding) -> [UInt8] {
        var word: [UInt8] = []
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return try checked(word) }
            guard byte == UInt8(ascii: "\\") else {
                word.append(byte)
                continue
            }
            guard position < bytes.count, bytes[position] != UInt8(ascii: "\n") else { break }
            word.append(bytes[position])
            position += 1
        }
        throw Misunderstanding(line: line)
    }

    private func checked(_ word: [UInt8]) throws(Misunderstanding) -> [UInt8] {
        guard String(validating: word, as: UTF8.self) != nil, !word.contains(0) else {
            throw Misunderstanding(line: line)
        }
        return word
    }

    private mutating func skipBlanks() {
        while position < bytes.count, NetrcReader.isBlank(bytes[position]) {
            if bytes[position] == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    private mutating func skipLine() {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
    }

    /// Skips the macro's name and all lines up to an empty one.
    private mutating func skipMacro() {
        while position < bytes.count {
            skipLine()
            position += 1
            line += 1
            var rest = position
            while rest < bytes.count, bytes[rest] == UInt8(ascii: "\r") { rest += 1 }
            if rest < bytes.count, bytes[rest] == UInt8(ascii: "\n") { return }
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
