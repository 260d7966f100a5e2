import Foundation

/// What a value among parameters is made of, whichever of Swift's or Foundation's types it has.
///
/// Casts alone do not tell: they look through optionals, and make Booleans of numbers and strings of `NSString`.
enum ParameterNode {
    case null
    case dictionary([(key: Any, value: Any)])
    case array([Any])
    case set([Any])
    /// Anything else.
    case leaf(Any)

    /// How deep parameters may be nested. More is no form or document of anybody's, but a loop, or an attack on the
    /// stack of this program or its peer.
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
