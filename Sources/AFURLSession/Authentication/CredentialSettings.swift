/// What a configuration says about credentials.
struct CredentialSettings: Sendable {
    /// How often a request is repeated at most for a server that never accepts it, whatever the configuration says.
    static let mostRounds = 20

    var storage: URLCredentialStorage? = .shared
    var netrc: NetrcFile?
    var sendsPasswordsInClear = false
    var maximumRounds = 3

    /// For sessions that keep no credentials after their end.
    static var ephemeral: CredentialSettings { CredentialSettings(storage: URLCredentialStorage()) }

    var rounds: Int { min(max(0, maximumRounds), CredentialSettings.mostRounds) }
}
