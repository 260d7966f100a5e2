public import Foundation

// Unchecked: what a serializer made of a response is handed to one caller, who alone keeps it.
/// Why a request of an `async` method failed.
public struct RequestFailure: Error, @unchecked Sendable {
    /// What kind of thing went wrong.
    public enum Kind: Sendable, Hashable {
        /// The request could not be made; nothing was sent.
        case request
        /// There is no response, or not all of it.
        case transport
        /// The task, or the Swift task that awaited it, was cancelled.
        case cancelled
        /// The status is not acceptable.
        case status
        /// The content type is not acceptable.
        case contentType
        /// The body is not what it says it is, or not what was asked for.
        case decoding
    }

    /// What kind of thing went wrong.
    public let kind: Kind
    /// What the closure of the same method would have received. If the status is not acceptable, it is that error, also
    /// where the body is not what was to be decoded.
    public let error: any Error
    /// The response, if there is one.
    public let response: HTTPURLResponse?
    /// What the serializer made of the body of a response whose status is not acceptable.
    public let object: Any?

    init(_ error: any Error, _ response: URLResponse? = nil, _ object: Any? = nil, kind: Kind? = nil) {
        let error = kind == nil ? RequestFailure.refusal(beneath: error as NSError) ?? error : error
        self.error = error
        self.response = response as? HTTPURLResponse
        self.object = object
        self.kind = kind ?? RequestFailure.kind(of: error as NSError, self.response)
    }

    /// What was wrong with the response. A body that says why is seldom what was to be decoded, and that comes first.
    private static func refusal(beneath error: NSError) -> NSError? {
        guard error.domain != URLResponseSerializationErrorDomain,
            let beneath = error.userInfo[NSUnderlyingErrorKey] as? NSError,
            beneath.domain == URLResponseSerializationErrorDomain,
            beneath.code == URLError.badServerResponse.rawValue
        else { return nil }
        return beneath
    }

    private static func kind(of error: NSError, _ response: HTTPURLResponse?) -> Kind {
        switch (error.domain, URLError.Code(rawValue: error.code)) {
        case (NSURLErrorDomain, .cancelled): .cancelled
        case (NSURLErrorDomain, _): .transport
        case (URLResponseSerializationErrorDomain, .badServerResponse): .status
        case (URLResponseSerializationErrorDomain, .cannotDecodeContentData): .contentType
        case (URLRequestSerializationErrorDomain, _): .request
        default: response == nil ? .transport : .decoding
        }
    }

    /// The status of the response, if there is one.
    public var statusCode: Int? { response?.statusCode }

    /// The whole story of a load that failed: what was being done, to whom, what happened and what to change. Nil if there
    /// is a response, which was refused.
    public var loadFailure: LoadFailure? { .beneath(error) }

    /// The body of the response, if it was refused.
    public var data: Data? {
        (error as NSError).userInfo[NetworkingOperationFailingURLResponseDataErrorKey] as? Data
    }
}

extension RequestFailure: LocalizedError, CustomNSError, CustomStringConvertible {
    /// The kind, and what the error says.
    public var description: String { "\(kind): \(error.localizedDescription)" }

    /// What the error says.
    public var errorDescription: String? { error.localizedDescription }

    /// Why, if the error says so.
    public var failureReason: String? { (error as NSError).localizedFailureReason }

    /// What to change, if the error says so.
    public var recoverySuggestion: String? { (error as NSError).localizedRecoverySuggestion }

    /// The same for code that asks an `NSError`, and ``error`` under `NSUnderlyingErrorKey`.
    public var errorUserInfo: [String: Any] {
        var details: [String: Any] = [NSUnderlyingErrorKey: error]
        details[NSLocalizedDescriptionKey] = errorDescription
        details[NSLocalizedFailureReasonErrorKey] = failureReason
        details[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        return details
    }
}
