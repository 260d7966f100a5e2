/// The path and query of a request target, as sent.
struct RequestTarget {
    let path: String
    let query: String?

    init(_ target: String) {
        let origin = Self.withoutAuthority(Array(target.utf8))
        let mark = origin.firstIndex(of: UInt8(ascii: "?")) ?? origin.endIndex
        path = mark == origin.startIndex ? "/" : String(decoding: origin[..<mark], as: UTF8.self)
        query = mark < origin.endIndex ? String(decoding: origin[(mark + 1)...], as: UTF8.self) : nil
    }

    /// In the absolute form, the path begins after the authority.
    private static func withoutAuthority(_ target: [UInt8]) -> ArraySlice<UInt8> {
        let slash = UInt8(ascii: "/")
        guard let colon = target.firstIndex(of: UInt8(ascii: ":")), target.first != slash,
            target[(colon + 1)...].starts(with: [slash, slash])
        else { return target[...] }
        return target[(colon + 3)...].drop { $0 != slash && $0 != UInt8(ascii: "?") }
    }

    /// Decodes `%XX`. A `%` without two digits after it stays.
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
