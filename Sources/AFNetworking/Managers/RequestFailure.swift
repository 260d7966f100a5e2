public import Foundation

// Unchecked: the serializer's object goes to one caller, and nothing else keeps it.
/// Why a request of an `async` method failed.
///
/// It is the `NSError` that a closure would receive: domain, code and user info are those of ``error``. A `URLError` is one by
/// its type, which Foundation on Linux converts nothing into, so `as? URLError` finds none here: ask ``urlError``.
public final class RequestFailure: NSError, @unchecked Sendable {
    /// The kind of failure.
    @nonexhaustive
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

    init(_ error: any Error, response: URLResponse? = nil, object: Any? = nil, kind: Kind? = nil) {
        let error = kind == nil ? RequestFailure.refusal(beneath: error as NSError) ?? error : error
        let cause = error as NSError
        self.error = error
        self.response = response as? HTTPURLResponse
        self.object = object
        self.kind = kind ?? RequestFailure.kind(of: cause, response: self.response)
        super.init(domain: cause.domain, code: cause.code, userInfo: cause.userInfo)
    }

    /// Nil: what the error refers to cannot be archived.
    public required init?(coder: NSCoder) { nil }

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

    private static func kind(of error: NSError, response: HTTPURLResponse?) -> Kind {
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

    /// What the server says about the failure, if the refused body is a problem by RFC 9457. The ``description`` has its
    /// title and detail.
    public var problem: ProblemDetails? {
        guard let response, let data else { return nil }
        return ProblemDetails(response, body: data)
    }

    /// The cause, if it is an error of the loader: no response has arrived, or not all of it.
    public var urlError: URLError? { error as? URLError }

    /// The kind and the error's description.
    public override var description: String { "\(kind): \(localizedDescription)" }

    /// The same as ``description``.
    public override var debugDescription: String { description }

    /// The error's description.
    public override var localizedDescription: String { error.localizedDescription }
}

extension RequestFailure: LocalizedError, CustomReflectable {
    /// The error's description.
    public var errorDescription: String? { localizedDescription }

    /// The error's failure reason, if it has one.
    public var failureReason: String? { localizedFailureReason }

    /// The error's recovery suggestion, if it has one.
    public var recoverySuggestion: String? { localizedRecoverySuggestion }

    /// The parts for a debugger.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [("kind", kind), ("error", error), ("response", response as Any), ("object", object as Any)],
            displayStyle: .class,
            ancestorRepresentation: .suppressed
        )
    }
}
