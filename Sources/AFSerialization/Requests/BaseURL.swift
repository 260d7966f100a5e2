import AFBase
package import Foundation

/// What the texts of a manager's verbs are resolved against.
package struct BaseURL: Sendable {
    package let url: URL
    let text: String
    /// What stands before a plain text that begins with a slash, and before any other. Nil if the base has a query, a
    /// fragment or a dot segment, or a path that does not end in a slash: then nothing is resolved by joining.
    private let beginnings: (root: String, folder: String)?

    package init(_ url: URL) {
        self.url = BaseURL.completed(url)
        text = self.url.absoluteString
        beginnings = BaseURL.beginnings(of: text)
    }

    /// The URL with a slash at the end of its path: without the slash, resolving would replace the last component.
    private static func completed(_ url: URL) -> URL {
        let text = url.absoluteString
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        guard !url.path.isEmpty, text.last != "/", text[..<end].last != "/" else { return url }
        return URL(string: text[..<end] + "/" + text[end...]) ?? url
    }

    private static func beginnings(of text: String) -> (root: String, folder: String)? {
        guard let scheme = text.firstRange(of: "://"), !text.contains("?"), !text.contains("#") else { return nil }
        let start = text[scheme.upperBound...].firstIndex(of: "/") ?? text.endIndex
        let (root, path) = (String(text[..<start]), text[start...])
        guard !path.contains("/."), !path.contains("//"), path.isEmpty || path.last == "/" else { return nil }
        return (root, path.isEmpty ? root + "/" : text)
    }

    /// Where a verb's text leads.
    struct Target {
        let url: URL
        /// Whether that is another origin than the base's; false without a base.
        let leavesBase: Bool
    }

    /// Resolves the text that a verb was given.
    ///
    /// Such text often contains input from outside. It may choose a path on the server. It reaches another server only
    /// as a whole URL with its scheme: `//host/path` is refused (CVE-2022-35949), and so are the schemes of files and
    /// data.
    static func resolve(_ text: String, against base: BaseURL?) throws -> Target {
        guard let base else {
            guard let url = URL(string: text) else { throw RequestError.unusableURL(text) }
            return Target(url: url.absoluteURL, leavesBase: false)
        }
        if let url = base.joined(with: text) { return Target(url: url, leavesBase: false) }
        return try base.resolve(text)
    }

    func resolve(_ text: String) throws -> Target {
        // Resolving an empty text would drop the query of the base.
        if text.isEmpty { return Target(url: url.absoluteURL, leavesBase: false) }
        guard let whole = URL(string: text, relativeTo: url)?.absoluteURL else {
            throw RequestError.unusableURL(text, isRelative: true)
        }
        if RedirectPolicy.haveSameOrigin(whole, url) { return Target(url: whole, leavesBase: false) }
        guard let scheme = URL(string: text)?.scheme.map(ASCII.lowered) else { throw RequestError.leavesBase }
        guard ["http", "https", url.scheme.map(ASCII.lowered)].contains(scheme) else {
            throw RequestError.foreignScheme
        }
        return Target(url: whole, leavesBase: true)
    }

    /// The URL for a plain text, which is a path with or without a query and surely stays with the server of the base:
    /// one parsing in place of several. Nil for any other text.
    func joined(with text: String) -> URL? {
        guard let beginnings, BaseURL.isPlain(text) else { return nil }
        return URL(string: (text.utf8.first == UInt8(ascii: "/") ? beginnings.root : beginnings.folder) + text)
    }

    /// Letters, digits and a few marks, of which none is percent-encoded, ends a scheme or makes a dot segment.
    private static func isPlain(_ text: String) -> Bool {
        var before = UInt8(ascii: "/")
        var isFirst = true
        var isPath = true
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                break
            case UInt8(ascii: "?") where !isFirst: isPath = false
            case UInt8(ascii: "="), UInt8(ascii: "&"): if isPath { return false }
            case UInt8(ascii: "/"): if isPath, before == byte, !isFirst { return false }
            case UInt8(ascii: "."): if isPath, before == UInt8(ascii: "/") { return false }
            default: return false
            }
            (before, isFirst) = (byte, false)
        }
        return !isFirst
    }
}

extension HTTPRequestSerializer {
    /// The request of a manager's verb, and whether it is for another server than that of `base`.
    ///
    /// - Parameters:
    ///   - method: The verb.
    ///   - text: The URL, resolved against `base`.
    ///   - base: The base URL, if there is one.
    ///   - parameters: The content of the query, the body or the form.
    ///   - form: Appends parts to a multipart form; nil if the request has none.
    ///   - policy: Says which header fields stay with the server of `base`.
    package func request(
        _ method: String,
        text: String,
        relativeTo base: BaseURL?,
        parameters: Any?,
        form: ((any MultipartFormData) -> Void)?,
        keeping policy: RedirectPolicy
    ) throws -> (request: URLRequest, leavesBase: Bool) {
        let isPlain = parameters == nil && form == nil
        let key = isPlain ? KeptRequests.Key(text: text, method: method, base: base?.text) : nil
        if let key, let request = kept(key) { return (request, false) }
        let target = try BaseURL.resolve(text, against: base)
        var request =
            if let form {
                try formRequest(method, url: target.url, parameters: parameters, form: form)
            } else {
                try self.request(
                    method,
                    url: target.url,
                    parameters: parameters,
                    keptAs: target.leavesBase ? nil : key
                )
            }
        if target.leavesBase {
            // These were set for the server of the base. What a subclass has added to this request itself stays.
            for (name, value) in httpRequestHeaders
            where policy.withholds(name) && request.value(forHTTPHeaderField: name) == value {
                request.setValue(nil, forHTTPHeaderField: name)
            }
        }
        return (request, target.leavesBase)
    }

    private func formRequest(
        _ method: String,
        url: URL,
        parameters: Any?,
        form: @escaping (any MultipartFormData) -> Void
    ) throws -> URLRequest {
        let named = parameters as? [String: Any]
        guard parameters == nil || named != nil else { throw RequestError.namelessParts }
        return try multipartFormRequest(
            withMethod: method,
            urlString: url.absoluteString,
            parameters: named,
            constructingBodyWith: form
        )
    }
}
