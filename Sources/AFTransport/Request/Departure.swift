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
    /// The connection was made under other rules, or its server accepted by another judge.
    case otherRules
}

/// Asks everything there is to ask before something leaves.
package enum Departure {
    package enum Cargo {
        /// A request, the opening of a WebSocket and the refresh of the cache included.
        case request(WireRequest)
        /// The request for a tunnel, through which requests to this server are to go without TLS.
        case tunnel(Endpoint)
        /// The bytes of a stream without TLS.
        case stream(Endpoint)
        /// Nothing of the program: the name of a host, which a proxy is told.
        case name
    }

    /// - Parameters:
    ///   - rules: Those of the session, by way of the sender. Nil: the sender has ended.
    ///   - isWanted: Whether the request, or who wants the tunnel or the stream, has not ended.
    ///   - isSuspended: Whether its task is.
    ///   - hasItsRules: Whether the connection was made under the rules that hold now, and for the judge of the request.
    package static func clear(
        _ cargo: Cargo,
        under rules: (any DepartureRules)?,
        isWanted: Bool,
        isSuspended: Bool,
        hasItsRules: () -> Bool
    ) throws(Refusal) -> Permit {
        guard isWanted, let rules else { throw .ended }
        guard !isSuspended else { throw .suspended }
        guard !rules.forbid(cargo) else { throw .clearText }
        // Behind the question to the session, which first applies what it was told since.
        guard hasItsRules() else { throw .otherRules }
        return Permit()
    }
}

/// What a session says of what is about to leave.
package protocol DepartureRules: AnyObject {
    /// Applies the session's rules as they are at this moment, and says whether they forbid this without TLS.
    func forbid(_ cargo: Departure.Cargo) -> Bool
}
