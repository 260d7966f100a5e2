import AFURLSession
import Foundation

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
