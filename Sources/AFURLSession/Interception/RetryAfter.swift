import AFWire

/// Reads `Retry-After` (RFC 9110 §10.2.3): seconds, or a date.
enum RetryAfter {
    /// The longest delay, a hundred years: more would be as good as never.
    static let longest: Int64 = 100 * 366 * 24 * 60 * 60

    /// - Parameter now: Seconds since 1970.
    /// - Returns: Nil if the text is neither seconds nor a date.
    static func delay(_ text: String, now: Int64) -> Duration? {
        guard let seconds = seconds(text, now: now) else { return nil }
        return .seconds(min(max(seconds, 0), longest))
    }

    private static func seconds(_ text: String, now: Int64) -> Int64? {
        text.withUTF8Bytes { bytes in
            let bytes = ByteScanning.trimmingOWS(bytes)
            guard !bytes.isEmpty, bytes.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return HTTPDate.seconds(bytes).map { $0.subtractingClamped(now) }
            }
            // A number that overflows is still a number.
            return ByteScanning.decimal(bytes) ?? .max
        }
    }
}

extension Int64 {
    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other > 0 ? .min : .max) : difference
    }
}
