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
}
