import Foundation

/// What a server makes of being asked for the rest of a resource (RFC 9110 §14, §13.1.5).
enum RangeReply: Equatable {
    /// What was asked for: it goes on where the first part ended.
    case rest
    /// Something else, which takes the place of the first part.
    case whole
    /// Neither: ask again, for everything.
    case useless

    /// - Parameter first: What the first part came with; nil if there is none.
    init(_ response: HTTPURLResponse, to first: HTTPURLResponse?, from offset: Int64) {
        switch response.statusCode {
        case 206: self = RangeReply.isRest(response, of: first, from: offset) ? .rest : .useless
        // There is nothing behind what we have, of this version or of another.
        case 416: self = .useless
        default: self = .whole
        }
    }

    private static func isRest(_ response: HTTPURLResponse, of first: HTTPURLResponse?, from offset: Int64) -> Bool {
        guard !response.hasCodedContent, let part = response.part, part.bytes.lowerBound == offset,
            first.map({ isSame(response, $0) }) ?? true
        else { return false }
        // Servers may send less than was asked for; nobody asks a second time for what is missing then.
        guard let total = part.total ?? first.flatMap({ total(of: $0) }) else { return true }
        return part.bytes.upperBound == total - 1
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
        guard let now = response.part?.total, let before = total(of: first) else { return true }
        return now == before
    }

    private static func total(of response: HTTPURLResponse) -> Int64? {
        if response.statusCode == 206 { return response.part?.total }
        return response.expectedContentLength < 0 ? nil : response.expectedContentLength
    }
}
