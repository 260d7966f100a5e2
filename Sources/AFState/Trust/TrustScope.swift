import AFTLS

/// Under which judgement something was learned from a server: by which rules, by whose word, by which way.
///
/// What was learned under one scope counts under no other. Everything that outlives a request and came from a server is
/// kept under its scope, and whatever keeps such a thing takes the scope as a parameter without a default. Connections, TLS
/// sessions and proven chains have the same facts in `ConnectionKey`.
///
/// `SessionScopes` makes them, and no other code.
package struct TrustScope: Hashable, Sendable {
    /// What tells it from all other scopes.
    package let bytes: [UInt8]
    /// Whether it means the same in another process. Only then what was learned may go to disk.
    package let isLasting: Bool
    /// Whether the server's chain has passed the standard evaluation, and no delegate had a word in it. It is no part of the
    /// comparison: rules may accept both kinds of servers.
    package let isProven: Bool

    private init(bytes: [UInt8], isLasting: Bool, isProven: Bool = false) {
        self.bytes = bytes
        self.isLasting = isLasting
        self.isProven = isProven
    }

    /// One that was stored. Only lasting ones are.
    package init(stored bytes: [UInt8]) {
        self.init(bytes: bytes, isLasting: true)
    }

    /// `http`, where any server on the way could have answered.
    package static let clear = TrustScope(bytes: [0], isLasting: true)
    /// The program itself has said it.
    package static let program = TrustScope(bytes: [1], isLasting: true)

    /// A server that rules with a fingerprint have accepted.
    package static func rules(_ fingerprint: [UInt8], isProven: Bool) -> TrustScope {
        TrustScope(bytes: [2] + fingerprint, isLasting: true, isProven: isProven)
    }

    /// A server that was accepted for reasons that no other session can know, such as the decision of a delegate.
    ///
    /// - Parameter number: From `UniqueNumber`, of the session that knows the reasons.
    package static func word(inSession number: UInt64, reasons: [UInt8]) -> TrustScope {
        var fields = FieldWriter()
        fields.add(number: number)
        fields.add(reasons)
        return TrustScope(bytes: [3] + fields.bytes, isLasting: false)
    }

    /// A protocol class of this name has answered in place of a server.
    package static func protocolClass(_ name: String) -> TrustScope {
        TrustScope(bytes: [7] + name.utf8, isLasting: true)
    }

    // MARK: - By which way
    //
    // What is said of a server is said of the place that its name led to.

    /// The same scope, reached through a socket that may lead to any server.
    package func through(_ socketPath: String?) -> TrustScope {
        guard let socketPath else { return self }
        var fields = FieldWriter()
        fields.add(bytes)
        fields.add(socketPath.utf8)
        return with([4] + fields.bytes)
    }

    /// The same scope where connections are made to another place.
    package func redirected(to place: String) -> TrustScope {
        var fields = FieldWriter()
        fields.add(bytes)
        fields.add(place.utf8)
        return with([5] + fields.bytes)
    }

    /// The same scope where connections are not made to every address.
    ///
    /// - Parameters:
    ///   - number: Tells the filter of addresses apart from others.
    ///   - isLasting: Whether the number means the same filter in another process.
    package func filtered(by number: UInt64, isLasting: Bool) -> TrustScope {
        var fields = FieldWriter()
        fields.add(bytes)
        fields.add(number: number)
        return with([6] + fields.bytes, isLasting: self.isLasting && isLasting)
    }

    private func with(_ bytes: [UInt8], isLasting: Bool? = nil) -> TrustScope {
        TrustScope(bytes: bytes, isLasting: isLasting ?? self.isLasting, isProven: isProven)
    }

    // MARK: - Keeping it outside the process

    /// What stands for the scope in data that the program keeps. A scope that does not last counts in this process only:
    /// its digest has a secret of the process in it. Nil if the system has no random numbers.
    package var digest: [UInt8]? {
        var fields = FieldWriter()
        if !isLasting {
            guard let secret = ProcessSecret.bytes else { return nil }
            fields.add(secret)
        }
        fields.add(bytes)
        return Array(SHA256Digest.of(fields.bytes).prefix(16))
    }

    package static func == (one: TrustScope, other: TrustScope) -> Bool {
        one.bytes == other.bytes && one.isLasting == other.isLasting
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytes)
    }
}
