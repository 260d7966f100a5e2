import Foundation

/// Judges status and content type of one response.
struct ResponseValidation {
    private let response: HTTPURLResponse
    private let data: Data?

    init(_ response: HTTPURLResponse, _ data: Data?) {
        self.response = response
        self.data = data
    }

    /// Whether the response is acceptable, and an error that says why not. Only what has a URL, and for the content
    /// type a body, has an error.
    func result(contentTypes: Set<String>?, statusCodes: IndexSet?) -> (accepted: Bool, error: NSError?) {
        var accepted = true
        var error: NSError?
        if let contentTypes, !hasType(in: contentTypes) {
            accepted = false
            error = contentTypeError
        }
        if let statusCodes, !statusCodes.contains(response.statusCode), response.url != nil {
            accepted = false
            error = NSError.composing(statusError, underlying: error)
        }
        return (accepted, error)
    }

    private var hasBody: Bool { data?.isEmpty == false }

    private func hasType(in types: Set<String>) -> Bool {
        guard let type = response.mimeType else { return !hasBody }
        return types.contains(type)
    }

    private var contentTypeError: NSError? {
        guard hasBody, response.url != nil else { return nil }
        let type = response.mimeType ?? "(null)"
        return makeError(
            NSURLErrorCannotDecodeContentData,
            "Request failed: unacceptable content-type: \(type.asPeerText)"
        )
    }

    private var statusError: NSError {
        let phrase = HTTPURLResponse.localizedString(forStatusCode: response.statusCode)
        return makeError(NSURLErrorBadServerResponse, "Request failed: \(phrase) (\(response.statusCode))")
    }

    private func makeError(_ code: Int, _ description: String) -> NSError {
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: description,
            NetworkingOperationFailingURLResponseErrorKey: response,
        ]
        if let url = response.url?.withoutCredentials {
            userInfo[NSURLErrorFailingURLErrorKey] = url
        }
        userInfo[NSLocalizedFailureReasonErrorKey] = ResponseSummary(response, data)?.text
        if let data { userInfo[NetworkingOperationFailingURLResponseDataErrorKey] = data }
        return NSError(domain: URLResponseSerializationErrorDomain, code: code, userInfo: userInfo)
    }
}
