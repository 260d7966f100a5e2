import AFBase

/// Dates in HTTP (RFC 9110 §5.6.7), as seconds since 1970.
///
/// By hand because date formatters follow the user's locale and calendar: one prints Buddhist years, another fails.
package enum HTTPDate {
    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    ///
    /// Names of days, months and the zone are read in any case, as RFC 9111 §4.2 wants caches to; no other zone is read.
    /// Two-digit years below 70 belong to this century. The day of the week must be one but is not compared with the
    /// date: servers get it wrong and nothing depends on it.
    package static func seconds(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        // The longest form is 33 bytes; whatever is longer is no date.
        guard (24...33).contains(bytes.count) else { return nil }
        var reader = Reader(bytes)
        guard let weekday = reader.word() else { return nil }
        if place(of: weekday, in: shortDays) != nil {
            return reader.take(",") ? imfDate(&reader) : asctimeDate(&reader)
        }
        return place(of: weekday, in: longDays) != nil && reader.take(",") ? rfc850Date(&reader) : nil
    }

    package static func seconds(_ text: String) -> Int64? { text.withUTF8Bytes { seconds($0) } }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`. Times outside the years 0 to 9999 become the nearest that is inside.
    package static func text(_ seconds: Int64) -> String {
        let clamped = min(max(seconds, -62_167_219_200), 253_402_300_799)
        let time = Int(clamped)
        let days = Int(floorDivide(time, divisor: 86_400))
        let second = time - days * 86_400
        let (year, month, day) = civilDate(days: days)
        // 1970-01-01 was a Thursday.
        let weekday = ((days + 4) % 7 + 7) % 7
        var out: [UInt8] = []
        out.reserveCapacity(29)
        out.append(contentsOf: shortDays[weekday].utf8)
        out.append(contentsOf: ", ".utf8)
        append(day, digits: 2, to: &out)
        out.append(contentsOf: " \(months[month - 1]) ".utf8)
        append(year, digits: 4, to: &out)
        out.append(UInt8(ascii: " "))
        append(second / 3600, digits: 2, to: &out)
        out.append(UInt8(ascii: ":"))
        append(second / 60 % 60, digits: 2, to: &out)
        out.append(UInt8(ascii: ":"))
        append(second % 60, digits: 2, to: &out)
        out.append(contentsOf: " GMT".utf8)
        return String(decoding: out, as: UTF8.self)
    }

    private static let shortDays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let longDays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

// MARK: - The three forms, behind the day of the week

extension HTTPDate {
    private static func imfDate(_ reader: inout Reader) -> Int64? {
        guard reader.take(" "), let day = reader.number(2), reader.take(" "), let month = month(&reader),
            reader.take(" "), let year = reader.number(4), reader.take(" "), let time = time(&reader),
            reader.take(" gmt"), reader.isAtEnd
        else { return nil }
        return seconds(year, month: month, day: day, time: time)
    }

    private static func rfc850Date(_ reader: inout Reader) -> Int64? {
        guard reader.take(" "), let day = reader.number(2), reader.take("-"), let month = month(&reader),
            reader.take("-"), let year = reader.number(2), reader.take(" "), let time = time(&reader),
            reader.take(" gmt"), reader.isAtEnd
        else { return nil }
        return seconds(year < 70 ? 2000 + year : 1900 + year, month: month, day: day, time: time)
    }

    private static func asctimeDate(_ reader: inout Reader) -> Int64? {
        guard reader.take(" "), let month = month(&reader), reader.take(" "),
            let day = reader.take(" ") ? reader.number(1) : reader.number(2), reader.take(" "),
            let time = time(&reader), reader.take(" "), let year = reader.number(4), reader.isAtEnd
        else { return nil }
        return seconds(year, month: month, day: day, time: time)
    }

    private static func month(_ reader: inout Reader) -> Int? {
        reader.word().flatMap { place(of: $0, in: months) }.map { $0 + 1 }
    }

    private static func place(of word: UnsafeRawBufferPointer, in names: [String]) -> Int? {
        names.firstIndex { $0.withUTF8Bytes { ByteScanning.equalsIgnoringCase(word, other: $0) } }
    }

    /// Seconds within the day; a leap second counts as the first of the next minute.
    private static func time(_ reader: inout Reader) -> Int? {
        guard let hour = reader.number(2), reader.take(":"), let minute = reader.number(2), reader.take(":"),
            let second = reader.number(2), hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func seconds(_ year: Int, month: Int, day: Int, time: Int) -> Int64? {
        seconds(year: year, month: month, day: day, secondOfDay: time)
    }

    /// Nil if there is no such day. The month counts from 1 to 12.
    package static func seconds(year: Int, month: Int, day: Int, secondOfDay time: Int) -> Int64? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...lengths[month - 1]).contains(day) else { return nil }
        return Int64(days(year, month: month, day: day) * 86_400 + time)
    }

    private struct Reader {
        private let bytes: UnsafeRawBufferPointer
        private var position = 0

        init(_ bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
        }

        var isAtEnd: Bool { position == bytes.count }

        /// Letters.
        mutating func word() -> UnsafeRawBufferPointer? {
            let start = position
            while position < bytes.count, ASCIISet.letters.contains(bytes[position]) { position += 1 }
            return start < position ? UnsafeRawBufferPointer(rebasing: bytes[start..<position]) : nil
        }

        /// - Parameter text: In lower case.
        mutating func take(_ text: StaticString) -> Bool {
            let count = text.utf8CodeUnitCount
            guard bytes.count - position >= count else { return false }
            let next = UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
            guard ByteScanning.equalsIgnoringCase(next, lowercase: text) else { return false }
            position += count
            return true
        }

        mutating func number(_ digits: Int) -> Int? {
            guard bytes.count - position >= digits else { return nil }
            var value = 0
            for byte in bytes[position..<position + digits] {
                guard ASCII.isDigit(byte) else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            position += digits
            return value
        }
    }
}

// MARK: - The calendar

extension HTTPDate {
    // Both directions count in years that begin in March, so that the leap day is the last of its year, and in eras
    // of 400 years, which all have 146,097 days.
    private static func days(_ year: Int, month: Int, day: Int) -> Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = floorDivide(marchYear, divisor: 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func civilDate(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, divisor: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func floorDivide(_ value: Int, divisor: Int) -> Int {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }

    private static func append(_ value: Int, digits: Int, to out: inout [UInt8]) {
        var divisor = digits == 4 ? 1000 : 10
        while divisor > 0 {
            out.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }
}
