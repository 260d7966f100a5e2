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
    /// How many values were left out for being nested too deep.
    private var cuts = 0
    private let mostCuts: Int

    /// - Parameter mostCuts: After so many values that are nested too deep, leaves out all others. An array that holds
    ///   another one twice, which does the same, and so on, is a tree too large to walk.
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

    /// The values in the order of their texts, each text made once.
    private static func sorted<Value>(_ values: [Value], by text: (Value) -> Any) -> [(text: String, value: Value)] {
        values.map { (ParameterText.of(text($0)), $0) }.sorted { ParameterText.isInOrder($0.text, other: $1.text) }
    }
}
