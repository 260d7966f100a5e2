package import AFTransport

extension Departure {
    /// Leave that nothing stands against.
    package static func free() throws(Refusal) -> Permit {
        try ask(isSuspended: false, isForbidden: false).clear(hasItsRules: true)
    }
}
