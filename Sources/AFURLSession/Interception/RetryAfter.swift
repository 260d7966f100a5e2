import AFWire

/// Reads `Retry-After` (RFC 9110 §10.2.3): seconds, or a date.
enum RetryAfter {
    /// What lies beyond is as good as never.
    static let longest: Int64 = 100 * 366 * 24 * 60 * 60

    /// - Parameter now: Seconds since 1970.
    /// - Returns: Nil if it says neither the one nor the other.
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
            // So many digits that it overflows is a number too.
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
