/// Values by name, in the order in which the names first came (RFC 9651 §3.1.2 and §3.2).
public struct StructuredMap<Element: Hashable & Sendable>: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// The names, in order. On the wire a name has lower-case letters, digits, `_`, `-`, `.` and `*`, and begins with a
    /// letter or `*`.
    public private(set) var names: [String] = []
    // Beside the order: to look for each name among all before it would take the square of their number.
    private var elements: [String: Element] = [:]

    /// Makes a map. Of elements with one name the last counts.
    public init(dictionaryLiteral elements: (String, Element)...) {
        for (name, element) in elements { self[name] = element }
    }

    /// The element of this name. Setting it keeps the place of the name; nil removes it.
    public subscript(_ name: String) -> Element? {
        get { elements[name] }
        set {
            let former = elements[name]
            elements[name] = newValue
            if newValue == nil, former != nil { names.removeAll { $0 == name } }
            if newValue != nil, former == nil { names.append(name) }
        }
    }
}
