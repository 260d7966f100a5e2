/// What a `Range` field asks for of something with a known length (RFC 9110 section 14.2).
enum RangeSelection: Equatable {
    /// Everything: there is no range, or none in bytes that can be read.
    case whole
    /// These parts, in the order asked for; never none, and none is empty.
    case parts([Range<Int>])
    /// Nothing: every part lies beyond the end.
    case nothing

    init(_ field: String?, in count: Int) {
        let bytes = Array((field ?? "").utf8)
        guard String(decoding: bytes.prefix(6), as: UTF8.self).isSameFieldName(as: "bytes=") else {
            self = .whole
            return
        }
        var parts: [Range<Int>] = []
        for member in bytes[6...].split(separator: UInt8(ascii: ",")) {
            guard let part = Self.part(FieldParameters.trimmed(member), in: count) else {
                self = .whole
                return
            }
            if !part.isEmpty { parts.append(part) }
        }
        let isEmpty = bytes[6...].allSatisfy { $0 == UInt8(ascii: ",") || FieldParameters.isBlank($0) }
        self = isEmpty ? .whole : parts.isEmpty ? .nothing : .parts(parts)
    }

    /// Nil if it cannot be read; empty if there is nothing in it.
    private static func part(_ text: ArraySlice<UInt8>, in count: Int) -> Range<Int>? {
        let ends = text.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let numbers = ends.map { PathNumber.count(String(decoding: $0, as: UTF8.self)) }
        switch (numbers[0], numbers[1]) {
        case (let first?, let last?) where last >= first:
            return first < count ? first..<(min(last, count - 1) + 1) : count..<count
        case (let first?, nil) where ends[1].isEmpty:
            return min(first, count)..<count
        case (nil, let last?) where ends[0].isEmpty:
            return max(0, count - last)..<count
        default:
            return nil
        }
    }
}
