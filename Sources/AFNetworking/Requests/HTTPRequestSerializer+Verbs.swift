import Foundation

extension HTTPRequestSerializer {
    /// The request of a manager's verb, and whether it is for another server than that of `base`.
    ///
    /// - Parameters:
    ///   - method: The verb.
    ///   - text: A URL, resolved against `base`.
    ///   - base: What it is resolved against, if anything.
    ///   - parameters: What goes into the query, the body or the form.
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
            // They were set for the server of the base. What a subclass has added itself, it has added to this request.
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
