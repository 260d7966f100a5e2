package import AFWire

/// Leave to put something of the program on one connection, now. Whatever writes a request, a tunnel's first bytes or the
/// bytes of a stream consumes one. Only `Departure` makes it.
package struct Permit: ~Copyable {
    fileprivate init() {}
}

/// Why nothing leaves.
package enum Refusal: Error {
    /// The request has ended.
    case ended
    /// Its task is suspended.
    case suspended
    /// It would go without TLS to a server that must not be talked to without.
    case clearText
    /// The rules are over under which the connection was made.
    case otherRules
}

/// Asks everything there is to ask before something leaves: first the sender, then the connection. The session's answer may
/// replace the rules of connections, so the compiler keeps the order.
package struct Departure: ~Copyable {
    private init() {}

    /// - Parameters:
    ///   - isSuspended: Whether the sender's task is.
    ///   - isForbidden: What the session says of this without TLS (`DepartureRules`), at this moment.
    @inline(__always)
    package static func ask(isSuspended: Bool, isForbidden: @autoclosure () -> Bool) throws(Refusal) -> Departure {
        guard !isSuspended else { throw .suspended }
        guard !isForbidden() else { throw .clearText }
        return Departure()
    }

    /// - Parameter hasItsRules: Whether the rules hold now under which the connection was made. A request finds none that was
    ///   made under others, or for another judge: they are in its `ConnectionKey`.
    @inline(__always)
    package consuming func clear(hasItsRules: Bool) throws(Refusal) -> Permit {
        guard hasItsRules else { throw .otherRules }
        return Permit()
    }
}

/// What a session says of what is about to leave. It first applies its rules as they are at this moment.
package protocol DepartureRules: AnyObject {
    /// Whether the request may not leave: without TLS its server must not be talked to. The opening of a WebSocket and the
    /// refresh of the cache are requests.
    func forbids(_ request: WireRequest) -> Bool
    /// Whether no tunnel may be asked for, through which requests to this server go without TLS.
    func forbidsTunnel(to endpoint: Endpoint) -> Bool
}
