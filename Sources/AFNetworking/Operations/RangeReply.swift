import Foundation

/// What a server makes of being asked for the rest of a resource (RFC 9110 §14, §13.1.5).
enum RangeReply: Equatable {
    /// What was asked for: it goes on where the first part ended.
    case rest
    /// Something else, which takes the place of the first part.
    case whole
    /// Neither: ask again, for everything.
    case useless

    init(_ response: HTTPURLResponse, to first: HTTPURLResponse, from offset: Int64) {
        switch response.statusCode {
        case 206:
            let isCoded = response.value(forHTTPHeaderField: "Content-Encoding").map { $0.lowercased() != "identity" }
            guard isCoded != true, RangeReply.range(of: response)?.start == offset,
                RangeReply.isSame(response, first)
            else {
                self = .useless
                return
            }
            self = .rest
        // There is nothing behind what we have, of this version or of another.
        case 416: self = .useless
        default: self = .whole
        }
    }

    /// What names the version of a resource: its entity tag, else when it was last changed.
    static func validator(of response: HTTPURLResponse) -> String? {
        response.value(forHTTPHeaderField: "ETag") ?? response.value(forHTTPHeaderField: "Last-Modified")
    }

    /// Whether nothing says that the two are of different versions.
    private static func isSame(_ response: HTTPURLResponse, _ first: HTTPURLResponse) -> Bool {
        for name in ["ETag", "Last-Modified"] {
            if let one = response.value(forHTTPHeaderField: name), let other = first.value(forHTTPHeaderField: name),
                one != other
            {
                return false
            }
        }
        guard let now = range(of: response)?.total, let before = total(of: first) else { return true }
        return now == before
    }

    private static func total(of response: HTTPURLResponse) -> Int64? {
        if response.statusCode == 206 { return range(of: response)?.total }
        return response.expectedContentLength < 0 ? nil : response.expectedContentLength
    }

    /// `bytes 100-199/200`.
    private static func range(of response: HTTPURLResponse) -> (start: Int64, total: Int64?)? {
        guard let text = response.value(forHTTPHeaderField: "Content-Range"),
            text.lowercased().hasPrefix("bytes ")
        else { return nil }
        let parts = text.dropFirst("bytes ".count).split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, ends.count == 2, let start = number(ends[0]), let end = number(ends[1]), start <= end
        else { return nil }
        return (start, parts[1] == "*" ? nil : number(parts[1]))
    }

    private static func number(_ text: Substring) -> Int64? {
        let bare = text.trimmingCharacters(in: .whitespaces)
        return bare.allSatisfy { $0.isASCII && $0.isNumber } ? Int64(bare) : nil
    }
}
