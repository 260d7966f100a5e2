package import AFURLSession

/// What a server makes of the wish to go on at an offset.
package enum ResumeAnswer: Equatable, Sendable {
    /// What comes belongs behind what is there.
    case goesOn
    /// There is nothing more.
    case isComplete
    case refused

    package init(_ response: HTTPURLResponse, from offset: Int64) {
        let range = response.value(forHTTPHeaderField: "Content-Range").flatMap(Range.init)
        switch (response.statusCode, range) {
        case (206, let range?) where range.first == offset: self = .goesOn
        case (416, let range?) where range.first == nil && range.total == offset: self = .isComplete
        default: self = .refused
        }
    }

    /// `bytes 5-9/10`, `bytes 5-9/*` or `bytes */10`
    private struct Range {
        let first: Int64?
        let total: Int64?

        init?(_ value: String) {
            let words = value.split(separator: " ", omittingEmptySubsequences: true)
            let parts = words.last?.split(separator: "/", omittingEmptySubsequences: false) ?? []
            guard words.count == 2, words[0].lowercased() == "bytes", parts.count == 2 else { return nil }
            total = Int64(parts[1])
            if parts[0] == "*" {
                first = nil
            } else {
                let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) ?? -1 }
                guard ends.count == 2, ends[0] >= 0, ends[1] >= ends[0] else { return nil }
                first = ends[0]
            }
        }
    }
}
