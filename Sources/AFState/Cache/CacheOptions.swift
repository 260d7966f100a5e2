/// What the program wants of a cache beside what HTTP says.
package struct CacheOptions: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The lifetime of a response that names none is guessed (RFC 9111 §4.2.2).
    package static let guessesLifetimes = CacheOptions(rawValue: 1)
    /// Responses for one user may go to disk.
    package static let keepsUsersOnDisk = CacheOptions(rawValue: 2)
    /// The program acts for one user: only secrets tell accounts apart.
    package static let servesOneUser = CacheOptions(rawValue: 4)
}
