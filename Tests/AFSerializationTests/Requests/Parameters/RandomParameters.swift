/// Random parameters, and a reader of queries that knows nothing but the rules of their format.
indirect enum RandomParameters: Equatable {
    case null
    case text(String)
    case array([RandomParameters])
    case dictionary([String: RandomParameters])

    struct Unreadable: Error {}

    // MARK: - Making

    static func text(_ dice: inout SplitMix, upTo length: Int) -> String {
        let scalars: [Unicode.Scalar] = [
            "a", "Z", "0", "-", ".", "_", "~", "/", "?", "&", "=", "%", "+", " ", "#", ";", "\0", "\n", "é", "ß", "漢",
            "😀", "\u{1F3FF}", "\u{301}",
        ]
        let count = Int.random(in: 0...length, using: &dice)
        return String(String.UnicodeScalarView((0..<count).compactMap { _ in scalars.randomElement(using: &dice) }))
    }

    static func dictionary(_ dice: inout SplitMix, depth: Int) -> RandomParameters {
        var members: [String: RandomParameters] = [:]
        for number in 0..<Int.random(in: 0...4, using: &dice) {
            members["\(text(&dice, upTo: 4))\(number)"] = value(&dice, depth: depth - 1)
        }
        return .dictionary(members)
    }

    private static func value(_ dice: inout SplitMix, depth: Int) -> RandomParameters {
        switch depth > 0 ? Int.random(in: 0...5, using: &dice) : Int.random(in: 0...3, using: &dice) {
        case 0: .null
        case 4: dictionary(&dice, depth: depth)
        // Dictionaries in arrays cannot be told apart in a query.
        case 5: .array((0..<Int.random(in: 0...3, using: &dice)).map { _ in value(&dice, depth: 0) })
        default: .text(text(&dice, upTo: 10))
        }
    }

    var parameters: Any {
        switch self {
        case .null: NSNull()
        case .text(let text): text
        case .array(let elements): elements.map(\.parameters)
        case .dictionary(let members): members.mapValues(\.parameters)
        }
    }

    /// Without empty collections, which are not sent.
    var pruned: RandomParameters {
        guard case .dictionary(let members) = self else { return self }
        return .dictionary(members.mapValues(\.pruned).filter { !$0.value.isEmpty })
    }

    private var isEmpty: Bool { self == .array([]) || self == .dictionary([:]) }

    // MARK: - Reading

    static func read(_ query: String) throws -> RandomParameters {
        var root = RandomParameters.dictionary([:])
        for pair in query.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let field = String(halves[0]).removingPercentEncoding else { throw Unreadable() }
            let value = halves.count > 1 ? String(halves[1]).removingPercentEncoding.map(text) : .null
            guard let value else { throw Unreadable() }
            try root.insert(value, at: path(field)[...])
        }
        return root
    }

    /// `a[b][]` is a, b and an empty name.
    private static func path(_ field: String) -> [String] {
        var path: [String] = [""]
        for scalar in field.unicodeScalars {
            switch scalar {
            case "[": path.append("")
            case "]": break
            default: path[path.count - 1].unicodeScalars.append(scalar)
            }
        }
        return path
    }

    private mutating func insert(_ value: RandomParameters, at path: ArraySlice<String>) throws {
        guard let step = path.first else { return self = value }
        if step.isEmpty, case .array(let elements) = self {
            self = .array(elements + [value])
        } else if case .dictionary(var members) = self {
            let isArray = path.dropFirst().first?.isEmpty == true
            var member = members[step] ?? (isArray ? .array([]) : .dictionary([:]))
            try member.insert(value, at: path.dropFirst())
            members[step] = member
            self = .dictionary(members)
        } else {
            throw Unreadable()
        }
    }
}
