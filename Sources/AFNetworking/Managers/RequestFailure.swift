public import Foundation

// Unchecked: the serializer's object goes to one caller, and nothing else keeps it.
/// Why a request of an `async` method failed.
public struct RequestFailure: Error, @unchecked Sendable {
    /// The kind of failure.
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
        /// The body does not fit its content type, or is not of the type that was asked for.
        case decoding
    }

    /// The kind of failure.
    public let kind: Kind
    /// The error that a closure would receive. If the status is not acceptable it is the error about the status, even
    /// if the body could not be decoded either.
    public let error: any Error
    /// The response, if there is one.
    public let response: HTTPURLResponse?
    /// The object that the serializer made of the body, if the status is not acceptable.
    public let object: Any?

    init(_ error: any Error, _ response: URLResponse? = nil, _ object: Any? = nil, kind: Kind? = nil) {
        let error = kind == nil ? RequestFailure.refusal(beneath: error as NSError) ?? error : error
        self.error = error
        self.response = response as? HTTPURLResponse
        self.object = object
        self.kind = kind ?? RequestFailure.kind(of: error as NSError, self.response)
    }

    /// The error about the status beneath an error about decoding. The body of a refused response is seldom of the type
    /// that was asked for, so the status is the better error.
    private static func refusal(beneath error: NSError) -> NSError? {
        guard error.domain != HTTPResponseSerializer.errorDomain,
            let beneath = error.userInfo[NSUnderlyingErrorKey] as? NSError,
            beneath.domain == HTTPResponseSerializer.errorDomain,
            beneath.code == URLError.badServerResponse.rawValue
        else { return nil }
        return beneath
    }

    private static func kind(of error: NSError, _ response: HTTPURLResponse?) -> Kind {
        switch (error.domain, URLError.Code(rawValue: error.code)) {
        case (NSURLErrorDomain, .cancelled): .cancelled
        case (NSURLErrorDomain, _): .transport
        case (HTTPResponseSerializer.errorDomain, .badServerResponse): .status
        case (HTTPResponseSerializer.errorDomain, .cannotDecodeContentData): .contentType
        case (HTTPRequestSerializer.errorDomain, _): .request
        default: response == nil ? .transport : .decoding
        }
    }

    /// The status of the response, if there is one.
    public var statusCode: Int? { response?.statusCode }

    /// What the load was doing, with which server, what happened and what to change. Nil if a response arrived and was
    /// refused.
    public var loadFailure: LoadFailure? { .beneath(error) }

    /// The body of the response, if it was refused.
    public var data: Data? {
        (error as NSError).userInfo[HTTPResponseSerializer.failingResponseDataErrorKey] as? Data
    }
}

extension RequestFailure: LocalizedError, CustomNSError, CustomStringConvertible {
    /// The kind and the error's description.
    public var description: String { "\(kind): \(error.localizedDescription)" }

    /// The error's description.
    public var errorDescription: String? { error.localizedDescription }

    /// The error's failure reason, if it has one.
    public var failureReason: String? { (error as NSError).localizedFailureReason }

    /// The error's recovery suggestion, if it has one.
    public var recoverySuggestion: String? { (error as NSError).localizedRecoverySuggestion }

    /// The same texts for an `NSError`, and ``error`` under `NSUnderlyingErrorKey`.
    public var errorUserInfo: [String: Any] {
        var details: [String: Any] = [NSUnderlyingErrorKey: error]
        details[NSLocalizedDescriptionKey] = errorDescription
        details[NSLocalizedFailureReasonErrorKey] = failureReason
        details[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        return details
    }
}
