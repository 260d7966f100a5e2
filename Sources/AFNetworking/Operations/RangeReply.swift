import Foundation

/// A server's reply to a request for the rest of a resource (RFC 9110 §14, §13.1.5).
enum RangeReply: Equatable {
    /// The rest, which begins where the first part ended.
    case rest
    /// Something else, which replaces the first part.
    case whole
    /// Neither: load everything again.
    case useless

    /// - Parameter first: The response of the first part; nil if there is none.
    init(_ response: HTTPURLResponse, to first: HTTPURLResponse?, from offset: Int64) {
        switch response.statusCode {
        case 206: self = RangeReply.isRest(response, of: first, from: offset) ? .rest : .useless
        // There is nothing after the first part, in this version or another.
        case 416: self = .useless
        default: self = .whole
        }
    }

    private static func isRest(_ response: HTTPURLResponse, of first: HTTPURLResponse?, from offset: Int64) -> Bool {
        guard !response.hasCodedContent, let part = response.part, part.bytes.lowerBound == offset,
            first.map({ isSame(response, first: $0) }) ?? true
        else { return false }
        // A server may send less than was asked for, and the operation does not ask for the remainder.
        guard let total = part.total ?? first.flatMap({ total(of: $0) }) else { return true }
        return part.bytes.upperBound == total - 1
    }

    /// Whether two versions with different bytes may have its entity tag, or its date: RFC 9110 §13.1.5 and §15.3.7 let
    /// no part be asked for or combined by these.
    static func isWeak(_ response: HTTPURLResponse) -> Bool {
        ["ETag", "Last-Modified"].contains { response.value(forHTTPHeaderField: $0) != nil }
            && ResumeValidator(response.headers) == nil
    }

    /// Whether nothing says that the two are of different versions.
    private static func isSame(_ response: HTTPURLResponse, first: HTTPURLResponse) -> Bool {
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
