package struct ResolutionFailure: Error, Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The name does not exist or has no address.
        case notFound
        /// The name service did not answer, or not usefully.
        case unavailable
        /// Too many lookups wait already, or no thread could be had for one.
        case overloaded
    }

    package let kind: Kind
    package let message: String
    /// The program's own resolver has failed.
    package var isOfProgram = false

    package init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }
}
