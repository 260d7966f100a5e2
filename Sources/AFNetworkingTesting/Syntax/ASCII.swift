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
