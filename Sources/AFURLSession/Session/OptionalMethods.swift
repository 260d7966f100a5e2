/// Which delegates do not implement which methods.
///
/// Swift does not tell whether a class uses a protocol's default implementation, but that implementation can tell, once
/// it is called. From then on the session does not call it any more: a response does not wait for a delegate that has
/// no method to judge it.
struct OptionalMethods {
    /// The methods of each class, a bit for each.
    private var missing: [ObjectIdentifier: UInt32] = [:]
    /// The class that was asked about last: most sessions have one.
    private var latest: (type: ObjectIdentifier, missing: UInt32)?

    /// True if that was not known before.
    @discardableResult
    mutating func noteMissing(_ method: OptionalMethod, in type: AnyClass) -> Bool {
        let former = missing[ObjectIdentifier(type), default: 0]
        missing[ObjectIdentifier(type)] = former | method.bit
        latest = nil
        return former & method.bit == 0
    }

    mutating func isMissing(_ method: OptionalMethod, in object: AnyObject) -> Bool {
        guard !missing.isEmpty else { return false }
        let type = ObjectIdentifier(type(of: object))
        if let latest, latest.type == type { return latest.missing & method.bit != 0 }
        let methods = missing[type, default: 0]
        latest = (type, methods)
        return methods & method.bit != 0
    }
}

extension OptionalMethod {
    fileprivate var bit: UInt32 { 1 << rawValue }
}
