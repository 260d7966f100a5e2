/// Which delegates do not implement which methods.
///
/// Swift does not tell whether a class uses a protocol's default implementation, but that implementation can tell, once
/// it is called. From then on the session does not call it any more: a response does not wait for a delegate that has
/// no method to judge it.
struct OptionalMethods {
    private struct Key: Hashable {
        let method: OptionalMethod
        let type: ObjectIdentifier
    }

    private var missing: Set<Key> = []

    /// True if that was not known before.
    @discardableResult
    mutating func noteMissing(_ method: OptionalMethod, in type: AnyClass) -> Bool {
        missing.insert(Key(method: method, type: ObjectIdentifier(type))).inserted
    }

    func isMissing(_ method: OptionalMethod, in object: AnyObject) -> Bool {
        !missing.isEmpty && missing.contains(Key(method: method, type: ObjectIdentifier(type(of: object))))
    }
}
