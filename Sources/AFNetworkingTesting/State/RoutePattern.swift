/// The path of a route: literal segments, `:name` and a final `*`.
struct RoutePattern: Sendable, Hashable {
    private enum Segment: Sendable, Hashable {
        case literal(String)
        case capture(String)
        case rest
    }

    private let segments: [Segment]

    init(_ text: String) {
        let parts = Self.split(text)
        segments = parts.enumerated().map { index, part in
            switch part {
            case "*" where index == parts.count - 1: .rest
            case let part where part.hasPrefix(":") && part.count > 1: .capture(String(part.dropFirst()))
            default: .literal(part)
            }
        }
    }

    /// The values of the captures; nil if the path does not match.
    func match(_ path: String) -> [String: String]? {
        let parts = Self.split(path)
        var parameters: [String: String] = [:]
        for (index, segment) in segments.enumerated() {
            if case .rest = segment {
                guard parts.count > index else { return nil }
                parameters["*"] = RequestTarget.percentDecoded(Array(parts[index...].joined(separator: "/").utf8))
                return parameters
            }
            guard index < parts.count else { return nil }
            switch segment {
            case .literal(let text):
                guard text.utf8.elementsEqual(parts[index].utf8) else { return nil }
            case .capture(let name):
                guard !parts[index].isEmpty else { return nil }
                parameters[name] = RequestTarget.percentDecoded(Array(parts[index].utf8))
            case .rest:
                return nil
            }
        }
        return parts.count == segments.count ? parameters : nil
    }

    /// Splits bytes and not characters: a combining mark after a slash would hide the slash.
    private static func split(_ path: String) -> [String] {
        let bytes = path.utf8.starts(with: "/".utf8) ? path.utf8.dropFirst() : path.utf8[...]
        return bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
