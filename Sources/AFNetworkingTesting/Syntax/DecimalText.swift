/// Numbers in paths, queries, ports and ranges, which have no sign.
enum DecimalText {
    /// The largest number: sums of a few such numbers do not overflow.
    private static let ceiling = 1 << 60

    static func count(_ text: String) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(text)
        else { return nil }
        return number <= ceiling ? number : nil
    }

    /// Seconds with or without a fraction, at most a day.
    static func duration(_ text: String) -> Duration? {
        guard let seconds = Double(text), seconds >= 0, seconds <= 86_400 else { return nil }
        return .nanoseconds(Int64(seconds * 1_000_000_000))
    }
}
