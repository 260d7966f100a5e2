import Foundation

/// The structure of a parameter, whether it is of a Swift or a Foundation type.
///
/// Casts alone cannot tell it: they look through optionals, and turn numbers into Booleans and `NSString` into
/// `String`.
enum ParameterNode {
    case null
    case dictionary([(key: Any, value: Any)])
    case array([Any])
    case set([Any])
    /// Anything else.
    case leaf(Any)

    /// How deep parameters may be nested. Deeper ones come from a loop, or from an attack on the stack of this program
    /// or its peer.
    static let deepest = 512

    init(_ value: Any) {
        if type(of: value) is AnyClass {
            self.init(object: value as AnyObject)
        } else if let optional = value as? any OptionalParameter {
            self = optional.wrappedParameter.map { ParameterNode($0) } ?? .null
        } else if let boxed = value as? any BoxedParameter {
            self.init(boxed.unboxedParameter)
        } else if let dictionary = value as? any DictionaryParameter {
            self = .dictionary(dictionary.pairsOfParameters)
        } else if let array = value as? any ArrayParameter {
            self = .array(array.parameters)
        } else if let set = value as? any SetParameter {
            self = .set(set.parameters)
        } else {
            self = .leaf(value)
        }
    }

    private init(object: AnyObject) {
        switch object {
        case is NSNull: self = .null
        case let dictionary as NSDictionary: self = .dictionary(dictionary.map { ($0.key, $0.value) })
        case let array as NSArray: self = .array(array.map { $0 })
        case let set as NSSet: self = .set(set.allObjects)
        default: self = .leaf(object)
        }
    }
}

private protocol OptionalParameter {
    var wrappedParameter: Any? { get }
}

extension Optional: OptionalParameter {
    fileprivate var wrappedParameter: Any? { map { $0 as Any } }
}

private protocol BoxedParameter {
    var unboxedParameter: Any { get }
}

extension AnyHashable: BoxedParameter {
    fileprivate var unboxedParameter: Any { base }
}

private protocol DictionaryParameter {
    var pairsOfParameters: [(key: Any, value: Any)] { get }
}

extension Dictionary: DictionaryParameter {
    fileprivate var pairsOfParameters: [(key: Any, value: Any)] { map { ($0.key, $0.value) } }
}

private protocol ArrayParameter {
    var parameters: [Any] { get }
}

extension Array: ArrayParameter {
    fileprivate var parameters: [Any] { map { $0 } }
}

extension ArraySlice: ArrayParameter {
    fileprivate var parameters: [Any] { map { $0 } }
}

extension ContiguousArray: ArrayParameter {
    fileprivate var parameters: [Any] { map { $0 } }
}

private protocol SetParameter {
    var parameters: [Any] { get }
}

extension Set: SetParameter {
    fileprivate var parameters: [Any] { map { $0 } }
}

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
