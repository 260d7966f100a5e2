import Testing

/// URLs, each with the verdict we owe it.
///
/// One entry a line: the URL, an arrow, the verdict. An accepted URL lists scheme, host, port and target; a refused
/// one the component and the rule. Control pictures stand for control bytes: ␀ NUL, ␉ HTAB, ␊ LF, ␍ CR, ␛ ESC,
/// ␡ DEL, ␠ space. Lines that begin with `//` after a blank are headings.
enum URLCorpus {
    struct Entry: Sendable, CustomTestStringConvertible {
        let url: String
        let verdict: String

        var testDescription: String { url.debugDescription }
    }

    static func entries(_ table: String) -> [Entry] {
        table.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " -> ")
            guard parts.count == 2 else { return nil }
            return Entry(url: unpictured(parts[0].trimmingBlanks), verdict: parts[1].trimmingBlanks)
        }
    }

    private static func unpictured(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.value {
                    case 0x2400...0x2420: Unicode.Scalar(UInt8(scalar.value - 0x2400))
                    case 0x2421: Unicode.Scalar(UInt8(0x7F))
                    default: scalar
                    }
                }
            )
        )
    }
}

extension Substring {
    fileprivate var trimmingBlanks: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
