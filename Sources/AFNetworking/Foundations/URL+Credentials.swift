import Foundation

extension URL {
    /// The same without user name and password, which have no place in errors; nil if it cannot be taken apart.
    var withoutCredentials: URL? {
        guard user != nil || password != nil else { return self }
        var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        parts?.user = nil
        parts?.password = nil
        return parts?.url
    }

    /// For people to read.
    var textWithoutCredentials: String { withoutCredentials?.absoluteString ?? "…" }
}
