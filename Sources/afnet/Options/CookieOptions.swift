import AFURLSession

/// The options about cookies.
package struct CookieOptions: Sendable, Equatable {
    /// Whether cookies are stored and sent.
    package var isOn = false
    /// The values of `--cookie`, as they are.
    package var extra: [String] = []
    /// The files to load.
    package var files: [String] = []
    /// The file to write at the end.
    package var jar: String?
    /// Whether session cookies of the files are left out.
    package var skipsSessionCookies = false

    /// - Parameter text: Cookies as in the field `Cookie`, or the name of a file, which has no equals sign.
    mutating func add(_ text: String) {
        if text.utf8.contains(UInt8(ascii: "=")) {
            extra.append(text)
        } else {
            isOn = true
            // An empty name has no file, and turns cookies on.
            if !text.isEmpty { files.append(text) }
        }
    }
}
