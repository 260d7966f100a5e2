import Foundation

/// What a configuration says about credentials.
package struct CredentialSettings: Sendable {
    /// How often a request is repeated at most for a server that never accepts it, whatever the configuration says.
    static let mostRounds = 20

    package var storage: URLCredentialStorage? = .shared
    package var netrc: NetrcFile?
    package var sendsPasswordsInClear = false
    package var maximumRounds = 3

    package init(storage: URLCredentialStorage? = .shared) {
        self.storage = storage
    }

    /// For sessions that keep no credentials after their end.
    package static var ephemeral: CredentialSettings { CredentialSettings(storage: URLCredentialStorage()) }

    var rounds: Int { min(max(0, maximumRounds), CredentialSettings.mostRounds) }
}
