import Foundation

extension URL {
    /// The URL without user name and password, which must not appear in errors; nil if the URL cannot be parsed.
    var withoutCredentials: URL? {
        guard user != nil || password != nil else { return self }
        var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        parts?.user = nil
        parts?.password = nil
        return parts?.url
    }

    /// The URL for messages.
    var textWithoutCredentials: String { withoutCredentials?.absoluteString ?? "…" }
}
