// The values of options.

extension Arguments {
    /// 31 years, which every clock can wait for.
    private static let longestTime: Double = 1_000_000_000

    static func seconds(_ text: String, of name: String) throws(ArgumentError) -> Double {
        guard let seconds = Double(text), (0...longestTime).contains(seconds) else {
            throw .usage("\(name) needs a number of seconds, at most 1000000000, not \"\(text)\"")
        }
        return seconds
    }

    static func size(_ text: String, of name: String) throws(ArgumentError) -> Int64 {
        guard let size = Int64(text), size >= 0 else {
            throw .usage("\(name) needs a number that is not negative, not \"\(text)\"")
        }
        return size
    }

    /// A number with `k` (1024), `M` (1024²) or `G` (1024³) after it, or without a unit.
    static func rate(_ text: String, of name: String) throws(ArgumentError) -> Int {
        let units: [Character: Double] = ["b": 1, "k": 1024, "m": 1024 * 1024, "g": 1024 * 1024 * 1024]
        let unit = text.last.flatMap { units[Character($0.lowercased())] }
        guard let number = Double(unit == nil ? text : String(text.dropLast())), number.isFinite else {
            throw .usage("\(name) needs a number of bytes, or one with k, M or G behind it, not \"\(text)\"")
        }
        let rate = number * (unit ?? 1)
        guard (1...1e12).contains(rate) else { throw .usage("\(name) needs 1 to 1000000000000 bytes in a second") }
        return Int(rate)
    }

    static func port(_ text: String, of name: String) throws(ArgumentError) -> UInt16 {
        guard let port = UInt16(text) else { throw .usage("\(name) needs a number from 0 to 65535, not \"\(text)\"") }
        return port
    }

    static func count(_ text: String, of name: String) throws(ArgumentError) -> Int {
        guard let count = Int(text), (1...10_000).contains(count) else {
            throw .usage("\(name) needs a number from 1 to 10000, not \"\(text)\"")
        }
        return count
    }

    /// `sockaddr_un` has room for 107 bytes and a NUL.
    static func socketPath(_ path: String, of name: String) throws(ArgumentError) -> String {
        guard (1...107).contains(path.utf8.count) else {
            throw .badArgument("\(name) needs a path of 1 to 107 bytes")
        }
        return path
    }

    static func redirectStatus(_ text: String, of name: String) throws(ArgumentError) -> Int {
        guard let status = Int(text), (301...303).contains(status) else {
            throw .usage("\(name) needs 301, 302 or 303, not \"\(text)\"")
        }
        return status
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String,
        of name: String
    ) throws(ArgumentError) -> Choice {
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("\(name) knows \(known), not \"\(text)\"")
        }
        return choice
    }
}
