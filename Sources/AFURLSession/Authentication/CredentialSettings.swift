/// What a configuration says about credentials.
struct CredentialSettings: Sendable {
    /// However many rounds are asked for, a server that is never content does not get more.
    static let mostRounds = 20

    var storage: URLCredentialStorage? = .shared
    var netrc: NetrcFile?
    var sendsPasswordsInClear = false
    var maximumRounds = 3

    /// For sessions that keep nothing once they are gone.
    static var ephemeral: CredentialSettings { CredentialSettings(storage: URLCredentialStorage()) }

    var rounds: Int { min(max(0, maximumRounds), CredentialSettings.mostRounds) }
}
