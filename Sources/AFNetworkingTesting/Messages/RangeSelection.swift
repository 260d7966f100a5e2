/// The ranges that a `Range` field selects from content of a known length (RFC 9110 section 14.2).
enum RangeSelection: Equatable {
    /// The whole: there is no range, or it is malformed or not in bytes.
    case whole
    /// These parts, at least one, in the order of the field; none is empty.
    case parts([Range<Int>])
    /// Nothing: every range lies beyond the end.
    case nothing

    init(_ field: String?, in count: Int) {
        let bytes = Array((field ?? "").utf8)
        guard String(decoding: bytes.prefix(6), as: UTF8.self).equalsIgnoringCase("bytes=") else {
            self = .whole
            return
        }
        var parts: [Range<Int>] = []
        for member in bytes[6...].split(separator: UInt8(ascii: ",")) {
            guard let part = Self.part(member.trimmed, in: count) else {
                self = .whole
                return
            }
            if !part.isEmpty { parts.append(part) }
        }
        let isEmpty = bytes[6...].allSatisfy { $0 == UInt8(ascii: ",") || $0.isBlank }
        self = isEmpty ? .whole : parts.isEmpty ? .nothing : .parts(parts)
    }

    /// Nil if the range is malformed; empty if it lies beyond the end.
    private static func part(_ text: ArraySlice<UInt8>, in count: Int) -> Range<Int>? {
        let ends = text.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let numbers = ends.map { DecimalText.count(String(decoding: $0, as: UTF8.self)) }
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
