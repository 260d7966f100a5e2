internal import CAFOpenSSL

/// Text for messages out of bytes that a stranger chose.
enum ByteText {
    /// UTF-8 with everything invisible escaped, cut to `limit` bytes.
    static func escaped(_ bytes: some Collection<UInt8>, limit: Int = 256) -> String {
        escaped(String(decoding: bytes.prefix(limit * 2), as: UTF8.self), limit: limit)
    }

    /// The same of a string.
    static func escaped(_ text: String, limit: Int = 256) -> String {
        var result = ""
        var room = limit
        for scalar in text.unicodeScalars {
            let piece = isVisible(scalar) ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
            room -= piece.utf8.count
            guard room >= 0 else { return result + "…" }
            result += piece
        }
        return result
    }

    /// Two digits for each byte.
    static func hex(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    // Marks that turn the direction of text around could make one name look like another.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }
}

/// Moments in messages, without a calendar that follows the user's locale.
enum DateText {
    /// `2026-11-01 12:00:00 UTC`, for any number of seconds since 1970.
    static func utc(_ seconds: Int64) -> String {
        // Beyond these years there is nothing to read off a date.
        guard (-62_167_219_200...253_402_300_799).contains(seconds) else {
            return seconds < 0 ? "the distant past" : "the distant future"
        }
        let days = floorDivision(seconds, divisor: 86400)
        let rest = seconds - days * 86400
        let (year, month, day) = date(days)
        let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { padded($0, width: 2) }
        return
            "\(padded(year, width: 4))-\(padded(month, width: 2))-\(padded(day, width: 2)) \(clock[0]):\(clock[1]):\(clock[2]) UTC"
    }

    // Counts in eras of 400 years that begin on a first of March, so that a leap day is the last day of its year.
    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivision(shifted, divisor: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func floorDivision(_ number: Int64, divisor: Int64) -> Int64 {
        number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }

    private static func padded(_ number: Int64, width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

/// IP addresses as text.
enum IPText {
    /// Nil unless there are 4 or 16 bytes.
    static func text(of address: some Collection<UInt8>) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            let count = caf_ip_text(Array(address), address.count, buffer.baseAddress, buffer.count)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix(Int(count)), as: UTF8.self)
        }
    }

    /// 4 or 16 bytes; nil for anything but four decimal numbers or an IPv6 address without brackets and zone.
    static func bytes(of text: String) -> [UInt8]? {
        guard text.utf8.count < 64, !text.utf8.contains(0) else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { buffer in
            buffer.initialize(repeating: 0)
            let count = text.withCString { caf_ip_parse($0, buffer.baseAddress) }
            return count > 0 ? Array(buffer.prefix(Int(count))) : nil
        }
    }
}
