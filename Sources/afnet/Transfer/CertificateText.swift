import AFURLSession
import Foundation

/// A certificate as a few lines of text.
enum CertificateText {
    /// Subject, issuer, validity and pin, without indentation.
    static func lines(_ certificate: Certificate) -> [String] {
        [
            certificate.subject,
            "issued by \(certificate.issuer)",
            "valid \(date(certificate.notBeforeSeconds)) to \(date(certificate.notAfterSeconds))",
            "\(certificate.pin)",
        ]
    }

    /// The hosts that it is valid for; empty if it names none.
    static func hosts(_ certificate: Certificate, limit: Int = 10) -> String {
        let names = certificate.dnsNames + certificate.ipAddresses
        let shown = names.prefix(limit).joined(separator: ", ")
        return names.count > limit ? "\(shown) and \(names.count - limit) more" : shown
    }

    /// `2026-11-01 12:00:00 UTC`
    static func date(_ seconds: Int64) -> String {
        // Dates outside of the years 0 to 9999 cannot be formatted.
        guard (-62_167_219_200...253_402_300_799).contains(seconds) else {
            return seconds < 0 ? "the distant past" : "the distant future"
        }
        let style = Date.ISO8601FormatStyle(dateSeparator: .dash, dateTimeSeparator: .space, timeSeparator: .colon)
        return Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(style).replacing("Z", with: " UTC")
    }
}
