/// File names that come from a peer.
package enum FileNameSyntax {
    /// The longest name in bytes. File systems end at 255; this leaves room for a suffix of ours.
    package static let maximumLength = 200

    /// The last path component, with what could do harm replaced or removed; nil when nothing is left.
    ///
    /// Both slashes separate: the name may travel to another system. Controls, NUL, characters that reorder or hide
    /// text, and `:` become `_`. Dots and blanks go from both ends: no hidden files, no `..`, nothing Windows drops.
    package static func sanitized(_ name: String) -> String? {
        let component = name.unicodeScalars.reversed().prefix { $0 != "/" && $0 != "\\" }.reversed()
        var cleaned = String.UnicodeScalarView()
        cleaned.append(contentsOf: component.map { isHarmful($0) ? "_" : $0 })
        let trimmed = trimmedEnds(Array(cleaned))
        var length = 0
        let fitting = trimmed.prefix { scalar in
            length += UTF8.width(scalar)
            return length <= maximumLength
        }
        let result = trimmedEnds(Array(fitting))
        return result.isEmpty ? nil : String(String.UnicodeScalarView(result))
    }

    private static func trimmedEnds(_ scalars: [Unicode.Scalar]) -> ArraySlice<Unicode.Scalar> {
        let isDropped = { (scalar: Unicode.Scalar) in scalar == "." || scalar == " " }
        guard let first = scalars.firstIndex(where: { !isDropped($0) }),
            let last = scalars.lastIndex(where: { !isDropped($0) })
        else { return [] }
        return scalars[first...last]
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x3A: true
        // Directional marks, embeddings, overrides and isolates; line and paragraph separators; zero widths; BOM.
        case 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF: true
        default: false
        }
    }
}
