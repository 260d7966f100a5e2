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
