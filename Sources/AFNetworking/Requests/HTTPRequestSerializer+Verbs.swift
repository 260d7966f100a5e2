import Foundation

extension HTTPRequestSerializer {
    /// The request of a manager's verb.
    ///
    /// - Parameters:
    ///   - method: The verb.
    ///   - text: A URL, resolved against `base`.
    ///   - base: What it is resolved against, if anything.
    ///   - parameters: What goes into the query, the body or the form.
    ///   - form: Appends parts to a multipart form; nil if the request has none.
    func request(
        _ method: String,
        _ text: String,
        relativeTo base: URL?,
        _ parameters: Any?,
        form: ((any MultipartFormData) -> Void)?
    ) throws -> URLRequest {
        // Nothing resolves to a base without its query, which is part of this one.
        let url = text.isEmpty ? base : URL(string: text, relativeTo: base)
        guard let address = url?.absoluteURL.absoluteString else { throw RequestError.unusableURL }
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
