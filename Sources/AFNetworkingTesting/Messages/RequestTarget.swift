/// The parts of a request target, cut as bytes and never repaired.
struct RequestTarget {
    let path: String
    let query: String?

    init(_ target: String) {
        var rest = Substring(target).utf8
        // The absolute form a proxy gets: the path begins after the authority.
        if !target.utf8.starts(with: "/".utf8), let scheme = target.range(of: "://") {
            let afterScheme = target.utf8[scheme.upperBound...]
            rest =
                afterScheme.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
                .map { afterScheme[$0...] } ?? afterScheme.suffix(0)
        }
        let mark = rest.firstIndex(of: UInt8(ascii: "?"))
        let path = String(Substring(rest[..<(mark ?? rest.endIndex)]))
        self.path = path.isEmpty ? "/" : path
        query = mark.map { String(Substring(rest[rest.index(after: $0)...])) }
    }

    /// Decodes `%XX`; a `%` that is not followed by two digits stands for itself.
    static func percentDecoded(_ text: some Collection<UInt8>) -> String {
        let bytes = Array(text)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = bytes[index + 1].hexDigit, let low = bytes[index + 2].hexDigit
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
