import Foundation

/// One field of a query or a form.
struct ParameterPair {
    let field: String
    /// Nil for null, which is not the same as empty text.
    let value: Any?

    var escaped: String {
        let name = percentEscapedString(from: field)
        return value.map { "\(name)=\(percentEscapedString(from: ParameterText.of($0)))" } ?? name
    }
}

/// Makes fields of nested parameters, in order.
///
/// | value of `k` | fields |
/// |---|---|
/// | a dictionary | `k[key]` for each key, sorted; without `k[]` around it at the top |
/// | an array | `k[]` for each element |
/// | a set | `k` for each element, sorted |
/// | null | `k` without a value |
/// | anything else | `k` with its description |
///
/// What is no dictionary at the top has an empty `k`.
struct ParameterPairs {
    private(set) var pairs: [ParameterPair] = []
    /// How often something was left out for being nested too deep.
    private var cuts = 0
    private let mostCuts: Int

    /// - Parameter mostCuts: After how many things that are nested too deep the rest is left out, too. An array that
    ///   holds another one twice, and so on, is a tree that nobody would live to see the end of.
    init(_ parameters: Any, mostCuts: Int = 1) {
        self.mostCuts = mostCuts
        add(parameters, to: nil, depth: 0)
    }

    var isCut: Bool { cuts > 0 }

    /// Joined as in a query. Nil if something is nested too deep.
    var query: String? { isCut ? nil : cutQuery }

    var cutQuery: String { pairs.map(\.escaped).joined(separator: "&") }

    private mutating func add(_ value: Any, to field: String?, depth: Int) {
        guard cuts < mostCuts else { return }
        guard depth <= ParameterNode.deepest else { return cuts += 1 }
        switch ParameterNode(value) {
        case .null: pairs.append(ParameterPair(field: field ?? "", value: nil))
        case .leaf(let value): pairs.append(ParameterPair(field: field ?? "", value: value))
        case .dictionary(let members):
            for (key, value) in ParameterPairs.sorted(members, by: { $0.key }) {
                add(value.value, to: field.map { "\($0)[\(key)]" } ?? key, depth: depth + 1)
            }
        case .array(let elements):
            for element in elements { add(element, to: (field ?? "") + "[]", depth: depth + 1) }
        case .set(let elements):
            for (_, element) in ParameterPairs.sorted(elements, by: { $0 }) {
                add(element, to: field ?? "", depth: depth + 1)
            }
        }
    }

    /// With the text by which they are sorted, made once for each.
    private static func sorted<Value>(_ values: [Value], by text: (Value) -> Any) -> [(text: String, value: Value)] {
        values.map { (ParameterText.of(text($0)), $0) }.sorted { ParameterText.isInOrder($0.text, $1.text) }
    }
}
