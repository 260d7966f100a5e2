import Foundation

enum BaseURL {
    /// With a slash at the end of the path: without it the last component would not be part of what is resolved
    /// against it.
    static func completed(_ url: URL) -> URL {
        let text = url.absoluteString
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        guard !url.path.isEmpty, text.last != "/", text[..<end].last != "/" else { return url }
        return URL(string: text[..<end] + "/" + text[end...]) ?? url
    }

    /// Where a verb's text leads.
    struct Target {
        let url: URL
        /// Whether that is another origin than the base's. Never without a base.
        let leavesBase: Bool
    }

    /// Resolves the text that a verb was given.
    ///
    /// Such text is often put together from what strangers wrote. It may choose a place on the server, but another
    /// server only where it names everything: `//host/path` is refused (CVE-2022-35949), and so are files and data.
    static func resolve(_ text: String, against base: URL?) throws -> Target {
        guard let base else {
            guard let url = URL(string: text) else { throw RequestError.unusableURL }
            return Target(url: url.absoluteURL, leavesBase: false)
        }
        // Nothing resolves to a base without its query, which is part of this one.
        if text.isEmpty { return Target(url: base.absoluteURL, leavesBase: false) }
        guard let url = URL(string: text, relativeTo: base)?.absoluteURL else { throw RequestError.unusableURL }
        if RedirectPolicy.haveSameOrigin(url, base) { return Target(url: url, leavesBase: false) }
        guard let scheme = URL(string: text)?.scheme.map(ASCII.lowered) else { throw RequestError.leavesBase }
        guard ["http", "https", base.scheme.map(ASCII.lowered)].contains(scheme) else {
            throw RequestError.foreignScheme
        }
        return Target(url: url, leavesBase: true)
    }
}
