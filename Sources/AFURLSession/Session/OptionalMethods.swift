/// Which delegates do not implement which methods.
///
/// Swift does not tell whether a class uses a protocol's default implementation, but that implementation can tell, once
/// it is called. From then on the session does not call it any more: a response does not wait for a delegate that has
/// no method to judge it.
struct OptionalMethods {
    /// The methods of each class, a bit for each. A list, since a session has few classes of delegates: the first entry of
    /// a dictionary has the runtime pass over all conformances of the program.
    private var classes: [(type: ObjectIdentifier, missing: UInt32)] = []

    /// True if that was not known before.
    @discardableResult
    mutating func noteMissing(_ method: OptionalMethod, in type: AnyClass) -> Bool {
        let type = ObjectIdentifier(type)
        guard let place = classes.firstIndex(where: { $0.type == type }) else {
            classes.append((type, method.bit))
            return true
        }
        defer { classes[place].missing |= method.bit }
        return classes[place].missing & method.bit == 0
    }

    func isMissing(_ method: OptionalMethod, in object: AnyObject) -> Bool {
        guard !classes.isEmpty else { return false }
        let type = ObjectIdentifier(type(of: object))
        return classes.contains { $0.type == type && $0.missing & method.bit != 0 }
    }
}

extension OptionalMethod {
    fileprivate var bit: UInt32 { 1 << rawValue }
}
