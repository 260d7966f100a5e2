extension String {
    /// Ignores the case of ASCII letters only: Unicode folding makes different names equal.
    func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }

    /// Space or tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
    /// Without blanks at either end.
    var trimmed: ArraySlice<UInt8> {
        var bytes = drop(while: \.isBlank)
        while let last = bytes.last, last.isBlank { bytes.removeLast() }
        return bytes
    }
}

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
