import Foundation

/// Validates the status and the content type of one response.
struct ResponseValidation {
    static let errorDomain = "com.alamofire.error.serialization.response"
    static let responseKey = "com.alamofire.serialization.response.error.response"
    static let dataKey = "com.alamofire.serialization.response.error.data"

    /// How many acceptable types an error names.
    private static let namedTypes = 8

    private let response: HTTPURLResponse
    private let data: Data?

    init(response: HTTPURLResponse, data: Data?) {
        self.response = response
        self.data = data
    }

    /// Whether the response is acceptable, and the error if it is not. There is an error only for a response with a URL
    /// and, about the content type, only for one with a body.
    func result(contentTypes: Set<String>?, statusCodes: IndexSet?) -> (accepted: Bool, error: NSError?) {
        var accepted = true
        var error: NSError?
        if let contentTypes, !hasType(in: contentTypes) {
            accepted = false
            error = contentTypeError(contentTypes)
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

    private func contentTypeError(_ types: Set<String>) -> NSError? {
        guard hasBody, response.url != nil else { return nil }
        let type = response.mimeType ?? "(null)"
        let named = types.sorted().prefix(Self.namedTypes).joined(separator: ", ")
        let all = types.count > Self.namedTypes ? "\(named) and \(types.count - Self.namedTypes) more" : named
        return makeError(
            NSURLErrorCannotDecodeContentData,
            description: "Request failed: unacceptable content-type: \(type.asPeerText)",
            advice: "If that is what you expect, add it to acceptableContentTypes of the response serializer, which "
                + "has \(all.isEmpty ? "none" : all)."
        )
    }

    private var statusError: NSError {
        let phrase = HTTPURLResponse.localizedString(forStatusCode: response.statusCode)
        let words = data.flatMap { ProblemDetails(response, body: $0)?.words }
        return makeError(
            NSURLErrorBadServerResponse,
            description: "Request failed: \(phrase) (\(response.statusCode))"
                + (words.map { ". The server says: \($0)" } ?? "")
        )
    }

    private func makeError(_ code: Int, description: String, advice: String? = nil) -> NSError {
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: description,
            Self.responseKey: response,
        ]
        if let url = response.url?.withoutCredentials {
            userInfo[NSURLErrorFailingURLErrorKey] = url
        }
        userInfo[NSLocalizedFailureReasonErrorKey] = ResponseSummary(response, body: data)?.text
        userInfo[NSLocalizedRecoverySuggestionErrorKey] = advice
        if let data { userInfo[Self.dataKey] = data }
        return NSError(domain: Self.errorDomain, code: code, userInfo: userInfo)
    }
}

extension NSError {
    private var underlying: NSError? {
        (userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
    }

    /// The first error with the other one beneath it. If there is only one, that one; if the first already has an
    /// underlying error, the first unchanged.
    static func composing(_ error: NSError?, underlying other: NSError?) -> NSError? {
        guard let error else { return other }
        guard let other, error.userInfo[NSUnderlyingErrorKey] == nil else { return error }
        var userInfo = error.userInfo
        userInfo[NSUnderlyingErrorKey] = other
        return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
    }

    /// The error with a description of the response that could not be decoded: in its failure reason and, for errors of
    /// Foundation's decoders, after their description. An error of a subclass is returned unchanged.
    func naming(_ response: URLResponse?, body: Data?) -> NSError {
        guard type(of: self) == NSError.self, userInfo[NSLocalizedFailureReasonErrorKey] == nil,
            let summary = ResponseSummary(response, body: body)?.text
        else { return self }
        var userInfo = userInfo
        userInfo[NSLocalizedFailureReasonErrorKey] = summary
        if let url = response?.url?.withoutCredentials { userInfo[NSURLErrorFailingURLErrorKey] = url }
        if domain == NSCocoaErrorDomain {
            let end = localizedDescription.hasSuffix(".") ? "" : "."
            userInfo[NSLocalizedDescriptionKey] = "\(localizedDescription)\(end) \(summary)"
        }
        return NSError(domain: domain, code: code, userInfo: userInfo)
    }

    /// Whether this error or any one beneath it has the code in the domain.
    func hasOrCovers(code: Int, domain: String) -> Bool {
        var error: NSError? = self
        // Bounded: a program can make chains of any length.
        for _ in 0..<32 {
            guard let current = error else { return false }
            if current.code == code && current.domain == domain { return true }
            error = current.underlying
        }
        return false
    }
}
