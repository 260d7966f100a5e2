import AFBase
import Foundation

enum BaseURL {
    /// The URL with a slash at the end of its path: without the slash, resolving would replace the last component.
    static func completed(_ url: URL) -> URL {
        let text = url.absoluteString
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        guard !url.path.isEmpty, text.last != "/", text[..<end].last != "/" else { return url }
        return URL(string: text[..<end] + "/" + text[end...]) ?? url
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
    static func resolve(_ text: String, against base: URL?) throws -> Target {
        guard let base else {
            guard let url = URL(string: text) else { throw RequestError.unusableURL }
            return Target(url: url.absoluteURL, leavesBase: false)
        }
        // Resolving an empty text would drop the query of the base.
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
    func request(
        _ method: String,
        _ text: String,
        relativeTo base: URL?,
        _ parameters: Any?,
        form: ((any MultipartFormData) -> Void)?,
        keeping policy: RedirectPolicy
    ) throws -> (request: URLRequest, leavesBase: Bool) {
        let target = try BaseURL.resolve(text, against: base)
        var request = try self.request(method, target.url.absoluteString, parameters, form: form)
        if target.leavesBase {
            // These were set for the server of the base. What a subclass has added to this request itself stays.
            for (name, value) in httpRequestHeaders
            where policy.withholds(name) && request.value(forHTTPHeaderField: name) == value {
                request.setValue(nil, forHTTPHeaderField: name)
            }
        }
        return (request, target.leavesBase)
    }

    private func request(
        _ method: String,
        _ address: String,
        _ parameters: Any?,
        form: ((any MultipartFormData) -> Void)?
    ) throws -> URLRequest {
        guard let form else { return try request(withMethod: method, urlString: address, parameters: parameters) }
        let named = parameters as? [String: Any]
        guard parameters == nil || named != nil else { throw RequestError.namelessParts }
        return try multipartFormRequest(
            withMethod: method,
            urlString: address,
            parameters: named,
            constructingBodyWith: form
        )
    }
}
