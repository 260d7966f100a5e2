import AFURLSession
package import Foundation

/// A date in words and numbers in any order, as curl reads it: `12 Sep 2004 15:05:58 -0700`, `Sun Nov  6 08:49:37 1994`,
/// `Sunday, 06-Nov-94 08:49:37 GMT`, `20040911`. It has a day, a month and a year; without a zone it is of GMT.
package struct LooseDate {
    static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    /// Hours behind GMT.
    private static let zones = [
        "gmt": 0, "utc": 0, "ut": 0, "z": 0, "est": 5, "edt": 4, "cst": 6, "cdt": 5, "mst": 7, "mdt": 6, "pst": 8,
        "pdt": 7,
        "wet": 0, "bst": -1, "cet": -1, "met": -1, "cest": -2, "mest": -2, "eet": -2, "jst": -9,
    ]

    package let date: Date

    package init?(_ text: String) {
        var reader = Reader()
        for token in Self.tokens(text) {
            guard reader.take(token) else { return nil }
        }
        guard let seconds = reader.seconds else { return nil }
        date = Date(timeIntervalSince1970: TimeInterval(seconds))
    }

    /// Words, numbers, times with their colons, and zones with their signs.
    private static func tokens(_ text: String) -> [Substring] {
        var tokens: [Substring] = []
        var rest = text[...]
        while let first = rest.first {
            let isSign = first == "+" || first == "-"
            if !isSign, !first.isASCII || !first.isLetter && !first.isNumber {
                rest.removeFirst()
                continue
            }
            let isWord = first.isLetter
            let tail = rest.dropFirst(isSign ? 1 : 0).prefix { isWord ? $0.isLetter : $0.isNumber || $0 == ":" }
            let token = rest[..<tail.endIndex]
            rest = rest[tail.endIndex...]
            // A dash between the parts of a date is no sign of a zone.
            let isZone = isSign && tail.count == 4 && !tail.contains(":") && tokens.contains { $0.contains(":") }
            tokens.append(isSign && !isZone ? tail : token)
        }
        return tokens.filter { !$0.isEmpty }
    }

    private struct Reader {
        private var day: Int?
        private var month: Int?
        private var year: Int?
        private var time: Int?
        private var zone: Int?

        mutating func take(_ token: Substring) -> Bool {
            if token.first?.isLetter == true { return takeWord(token.lowercased()) }
            if let sign = token.first, sign == "+" || sign == "-" {
                guard zone == nil, let number = Int(token.dropFirst()) else { return false }
                zone = (number / 100 * 3600 + number % 100 * 60) * (sign == "+" ? -1 : 1)
                return true
            }
            return token.contains(":") ? takeTime(token) : takeNumber(token)
        }

        private mutating func takeWord(_ word: String) -> Bool {
            if word.count >= 3, LooseDate.days.contains(String(word.prefix(3))), LooseDate.zones[word] == nil {
                return true
            }
            if let index = LooseDate.months.firstIndex(of: String(word.prefix(3))), month == nil {
                month = index + 1
                return true
            }
            guard zone == nil, let hours = LooseDate.zones[word] else { return false }
            zone = hours * 3600
            return true
        }

        private mutating func takeTime(_ token: Substring) -> Bool {
            let parts = token.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? 99 }
            guard time == nil, (2...3).contains(parts.count), parts[0] < 24, parts[1] < 60,
                parts.count < 3 || parts[2] <= 60
            else { return false }
            time = parts[0] * 3600 + parts[1] * 60 + (parts.count > 2 ? parts[2] : 0)
            return true
        }

        private mutating func takeNumber(_ token: Substring) -> Bool {
            guard token.count <= 8, let number = Int(token) else { return false }
            if token.count == 8, day == nil, month == nil, year == nil {
                (year, month, day) = (number / 10_000, number / 100 % 100, number % 100)
            } else if day == nil, (1...31).contains(number), token.count <= 2 {
                day = number
            } else if year == nil {
                year = token.count > 2 ? number : number + (number > 70 ? 1900 : 2000)
            } else {
                return false
            }
            return true
        }

        var seconds: Int? {
            guard let day, let month, let year, (1...31).contains(day), (1...12).contains(month),
                (1583...9999).contains(year)
            else { return nil }
            var parts = tm()
            (parts.tm_mday, parts.tm_mon, parts.tm_year) = (Int32(day), Int32(month - 1), Int32(year - 1900))
            return timegm(&parts) + (time ?? 0) + (zone ?? 0)
        }
    }
}
