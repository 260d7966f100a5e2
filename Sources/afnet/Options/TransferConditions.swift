import AFURLSession
package import Foundation

/// `--time-cond`: a date, or the name of a file whose date it is.
package struct TimeCondition: Sendable, Equatable {
    package let text: String
    /// Whether the resource must not have changed since.
    package let isUnless: Bool

    /// Nil if the text is no date, and there is no such file. The transfer may make the file.
    package let date: Date?

    init(_ given: String) {
        isUnless = given.hasPrefix("-")
        let text = isUnless || given.hasPrefix("+") ? String(given.dropFirst()) : given
        let seconds = Descriptor.modificationTime(of: text).map(TimeInterval.init)
        self.text = text
        date = LooseDate(text)?.date ?? seconds.map(Date.init(timeIntervalSince1970:))
    }

    /// Whether a resource of this time is to be loaded. Servers may ignore the fields.
    func isMet(by changed: Date) -> Bool {
        guard let date else { return true }
        return isUnless ? changed <= date : changed > date
    }

    func prepare(_ request: inout URLRequest) {
        guard let date else { return }
        let name = isUnless ? "If-Unmodified-Since" : "If-Modified-Since"
        request.setValue(HTTPDateText.text(date), forHTTPHeaderField: name)
    }
}

/// Dates in the format of HTTP.
enum HTTPDateText {
    static func text(_ date: Date) -> String {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let month = LooseDate.months[Int(parts.tm_mon)]
        return String(
            format: "%@, %02d %@ %04d %02d:%02d:%02d GMT",
            days[Int(parts.tm_wday)],
            parts.tm_mday,
            month.prefix(1).uppercased() + month.dropFirst(),
            parts.tm_year + 1900,
            parts.tm_hour,
            parts.tm_min,
            parts.tm_sec
        )
    }

    static func date(_ field: String?) -> Date? { field.flatMap { LooseDate($0)?.date } }
}

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

/// `--speed-limit` and `--speed-time`: when a transfer is too slow.
package struct SpeedLimit: Sendable, Equatable {
    /// Bytes in a second.
    package var limit: Int64?
    /// In seconds.
    package var time: Double?

    /// Nil if there is no limit.
    var rule: SpeedRule? {
        guard limit != nil || time != nil else { return nil }
        let (limit, time) = (limit ?? 1, time ?? 30)
        return limit > 0 && time > 0 ? SpeedRule(bytes: limit, seconds: time) : nil
    }
}

/// How many bytes a second there must be, on average over so many seconds.
struct SpeedRule: Sendable {
    let bytes: Int64
    let seconds: Double

    var message: String {
        "fewer than \(bytes) bytes in a second came and went for \(String(format: "%g", seconds)) s"
    }

    /// Waits until there are fewer; false if the task is cancelled before.
    ///
    /// - Parameter moved: How many bytes there were so far.
    @MainActor func isBroken(by moved: () -> Int64) async -> Bool {
        var former = (bytes: moved(), time: ContinuousClock.now)
        while (try? await Task.sleep(for: .seconds(seconds))) != nil {
            let now = (bytes: moved(), time: ContinuousClock.now)
            if Double(now.bytes - former.bytes) < Double(bytes) * ((now.time - former.time) / .seconds(1)) {
                return true
            }
            former = now
        }
        return false
    }
}

/// The addresses that connections are made to.
package enum AddressFamily: Int, Sendable {
    case v4 = 4
    case v6 = 16

    var filter: AddressFilter {
        let count = rawValue
        return AddressFilter { $0.bytes.count == count }
    }

    var name: String { self == .v4 ? "IPv4" : "IPv6" }
}
