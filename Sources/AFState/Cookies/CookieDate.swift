import AFBase
import AFWire

/// The dates of `Expires` (RFC 6265 §5.1.1): words in any order. The first word that can be a time, a day, a month or a
/// year is taken as such. Every date is read as GMT, whatever its zone says.
///
/// Not `HTTPDate`, which accepts only the three forms of HTTP: servers sent cookies with whatever date their language
/// prints long before there was a standard.
package enum CookieDate {
    /// Seconds since 1970, or nil if it is no date.
    package static func seconds(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        var found = Parts()
        var start = 0
        while start < bytes.count {
            guard !isDelimiter(bytes[start]) else {
                start += 1
                continue
            }
            var end = start + 1
            while end < bytes.count, !isDelimiter(bytes[end]) { end += 1 }
            found.take(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            start = end
        }
        return found.seconds
    }

    package static func seconds(_ text: String) -> Int64? {
        text.withUTF8Bytes { seconds($0) }
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private struct Parts {
        private var secondOfDay: Int?
        private var isTimeValid = true
        private var day: Int?
        private var month: Int?
        private var year: Int?

        /// Takes the word as the first part of the date that it can be and that is still missing.
        mutating func take(_ word: UnsafeRawBufferPointer) {
            if secondOfDay == nil, let time = CookieDate.time(word) {
                secondOfDay = time.hour * 3600 + time.minute * 60 + time.second
                isTimeValid = time.hour <= 23 && time.minute <= 59 && time.second <= 59
            } else if day == nil, let number = CookieDate.number(word, digits: 1...2) {
                day = number
            } else if month == nil, let number = CookieDate.month(word) {
                month = number
            } else if year == nil, let number = CookieDate.number(word, digits: 2...4) {
                year = number
            }
        }

        var seconds: Int64? {
            guard let secondOfDay, isTimeValid, let day, let month, var year else { return nil }
            if (70...99).contains(year) { year += 1900 }
            if (0...69).contains(year) { year += 2000 }
            guard year >= 1601 else { return nil }
            return HTTPDate.seconds(year: year, month: month, day: day, secondOfDay: secondOfDay)
        }
    }
}

// MARK: - Words

extension CookieDate {
    /// A number of so many digits, which the end of the word or another character follows.
    private static func number(_ word: UnsafeRawBufferPointer, digits: ClosedRange<Int>) -> Int? {
        var position = 0
        guard let value = number(word, position: &position, atMost: digits.upperBound), digits.contains(position),
            position == word.count || !ASCII.isDigit(word[position])
        else { return nil }
        return value
    }

    private static func number(_ word: UnsafeRawBufferPointer, position: inout Int, atMost limit: Int) -> Int? {
        let start = position
        var value = 0
        while position < word.count, position - start < limit, ASCII.isDigit(word[position]) {
            value = value * 10 + Int(word[position] - UInt8(ascii: "0"))
            position += 1
        }
        return position > start ? value : nil
    }

    private static func time(_ word: UnsafeRawBufferPointer) -> (hour: Int, minute: Int, second: Int)? {
        var position = 0
        func colon() -> Bool {
            guard position < word.count, word[position] == UInt8(ascii: ":") else { return false }
            position += 1
            return true
        }
        guard let hour = number(word, position: &position, atMost: 2), colon(),
            let minute = number(word, position: &position, atMost: 2), colon(),
            let second = number(word, position: &position, atMost: 2),
            position == word.count || !ASCII.isDigit(word[position])
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ word: UnsafeRawBufferPointer) -> Int? {
        guard word.count >= 3 else { return nil }
        let letters = UnsafeRawBufferPointer(rebasing: word[..<3])
        return months.firstIndex { ByteScanning.equalsIgnoringCase(letters, lowercase: $0) }.map { $0 + 1 }
    }

    private static let months: [StaticString] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
}
