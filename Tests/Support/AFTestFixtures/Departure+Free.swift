package import AFTransport

extension Departure {
    private final class NoRules: DepartureRules {
        func forbid(_ cargo: Cargo) -> Bool { false }
    }

    /// Leave that nothing stands against.
    package static func free() throws(Refusal) -> Permit {
        try clear(.name, under: NoRules(), isWanted: true, isSuspended: false) { true }
    }
}
