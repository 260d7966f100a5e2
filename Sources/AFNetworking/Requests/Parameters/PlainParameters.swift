import Foundation

/// Turns parameters into values that Foundation's writers know: those end the program, or write nonsense, when they are
/// given something else.
struct PlainParameters {
    /// Replaces null; nil if null is not allowed.
    let null: Any?
    /// Converts a value that is neither a collection nor text; returns nil if it is not allowed.
    let leaf: (Any) -> Any?
    /// Whether a key or another text is allowed.
    var allowsText: (String) -> Bool = { _ in true }

    /// Nil if something among them is not allowed, or nested too deep.
    func plain(_ value: Any, depth: Int = 0) -> Any? {
        guard depth <= ParameterNode.deepest else { return nil }
        switch ParameterNode(value) {
        case .null: return null
        case .leaf(let value):
            guard let text = PlainParameters.text(value) else { return leaf(value) }
            return allowsText(text) ? text : nil
        case .set: return nil
        case .array(let elements):
            var plainElements: [Any] = []
            for element in elements {
                guard let element = plain(element, depth: depth + 1) else { return nil }
                plainElements.append(element)
            }
            return plainElements
        case .dictionary(let members):
            var plainMembers: [String: Any] = [:]
            for (key, value) in members {
                guard let key = PlainParameters.text(key), allowsText(key),
                    let value = plain(value, depth: depth + 1)
                else { return nil }
                plainMembers[key] = value
            }
            return plainMembers
        }
    }

    /// Nil if it is no text.
    static func text(_ value: Any) -> String? {
        switch ParameterNode(value) {
        case .leaf(let text as NSString): text.description
        case .leaf(let text as String): text
        case .leaf(let text as Substring): String(text)
        default: nil
        }
    }
}
