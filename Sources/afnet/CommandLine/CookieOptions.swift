/// The options about cookies.
package struct CookieOptions: Sendable, Equatable {
    /// Cookies are taken and sent.
    package var isOn = false
    /// `--cookie`, each `name=value`.
    package var extra: [String] = []
    /// Files to load.
    package var files: [String] = []
    /// The file to write in the end.
    package var jar: String?
    /// Those of the files that would end with their session are left out.
    package var skipsSessionCookies = false

    /// - Parameter text: as in the field `Cookie`.
    mutating func add(_ text: String, of name: String) throws(ArgumentError) {
        let parts = text.split(separator: ";").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
        guard !parts.isEmpty, parts.allSatisfy({ $0.contains("=") }) else {
            throw .badArgument("\(name) needs \"NAME=VALUE; …\"; files of cookies are for --cookie-file")
        }
        extra += parts.map(String.init)
    }
}
