import Foundation

/// Copies decoded arrays and dictionaries without nulls, or as mutable ones.
///
/// Works without recursion: JSON of 512 levels would overflow a small stack.
struct ContainerMapping {
    var removesNulls = false
    var makesContainersMutable = false
    /// Whether strings become mutable, too.
    var makesLeavesMutable = false

    func mapped(_ object: Any) -> Any {
        guard var current = Level(object) else { return leaf(object) }
        var outer: [Level] = []
        while true {
            if let child = current.next() {
                if let level = Level(child) {
                    outer.append(current)
                    current = level
                } else if !(removesNulls && child is NSNull) {
                    current.keep(leaf(child))
                }
            } else {
                let made = current.made(isMutable: makesContainersMutable)
                guard var parent = outer.popLast() else { return made }
                parent.keep(made)
                current = parent
            }
        }
    }

    private func leaf(_ object: Any) -> Any {
        guard makesLeavesMutable, let text = object as? String else { return object }
        return NSMutableString(string: text)
    }

    /// A container whose members are being copied.
    private struct Level {
        private enum Keys {
            case none
            case strings([String])
            case others([AnyHashable])
        }

        private let keys: Keys
        private let values: [Any]
        private var position = 0
        private var kept: [(position: Int, value: Any)] = []

        /// Nil for what is no container.
        init?(_ object: Any) {
            switch object {
            case let array as [Any]: (keys, values) = (.none, array)
            case let dictionary as [String: Any]:
                (keys, values) = (.strings(Array(dictionary.keys)), Array(dictionary.values))
            case let dictionary as [AnyHashable: Any]:
                (keys, values) = (.others(Array(dictionary.keys)), Array(dictionary.values))
            default: return nil
            }
        }

        mutating func next() -> Any? {
            guard position < values.count else { return nil }
            position += 1
            return values[position - 1]
        }

        /// Keeps what was made of the member that came last.
        mutating func keep(_ value: Any) {
            kept.append((position - 1, value))
        }

        func made(isMutable: Bool) -> Any {
            switch keys {
            case .none:
                let array = kept.map(\.value)
                return isMutable ? NSMutableArray(array: array) : array
            case .strings(let keys):
                let dictionary = [String: Any](uniqueKeysWithValues: kept.map { (keys[$0.position], $0.value) })
                return isMutable ? NSMutableDictionary(dictionary: dictionary) : dictionary
            case .others(let keys):
                let dictionary = [AnyHashable: Any](uniqueKeysWithValues: kept.map { (keys[$0.position], $0.value) })
                return isMutable ? NSMutableDictionary(dictionary: dictionary) : dictionary
            }
        }
    }
}
