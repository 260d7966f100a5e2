// The names AFNetworking has on Apple's platforms, so that ported code compiles.

public import Foundation

/// ``/AFSerialization/SecurityPolicy`` under its old name.
public typealias AFSecurityPolicy = SecurityPolicy

/// ``/AFSerialization/SSLPinningMode`` under its old name.
public typealias AFSSLPinningMode = SSLPinningMode

// MARK: - Managers

/// ``URLSessionManager`` under its old name.
public typealias AFURLSessionManager = URLSessionManager

/// ``HTTPSessionManager`` under its old name.
public typealias AFHTTPSessionManager = HTTPSessionManager

extension NSNotification.Name {
    /// `networkingTaskDidResume` under its old name.
    public static var AFNetworkingTaskDidResume: Notification.Name { networkingTaskDidResume }
    /// `networkingTaskDidResume` under its oldest name.
    public static var AFNetworkingTaskDidStart: Notification.Name { networkingTaskDidResume }
    /// `networkingTaskDidSuspend` under its old name.
    public static var AFNetworkingTaskDidSuspend: Notification.Name { networkingTaskDidSuspend }
    /// `networkingTaskDidComplete` under its old name.
    public static var AFNetworkingTaskDidComplete: Notification.Name { networkingTaskDidComplete }
    /// `networkingTaskDidComplete` under its oldest name.
    public static var AFNetworkingTaskDidFinish: Notification.Name { networkingTaskDidComplete }
    /// `urlSessionDidInvalidate` under its old name.
    public static let AFURLSessionDidInvalidate = urlSessionDidInvalidate
    /// `urlSessionDownloadTaskDidMoveFileSuccessfully` under its old name.
    public static let AFURLSessionDownloadTaskDidMoveFileSuccessfully = urlSessionDownloadTaskDidMoveFileSuccessfully
    /// `urlSessionDownloadTaskDidFailToMoveFile` under its old name.
    public static let AFURLSessionDownloadTaskDidFailToMoveFile = urlSessionDownloadTaskDidFailToMoveFile
}

/// `Notification.NetworkingTaskKey.serializedResponse` under its old name.
public let AFNetworkingTaskDidCompleteSerializedResponseKey = Notification.NetworkingTaskKey.serializedResponse
/// `Notification.NetworkingTaskKey.serializedResponse` under its oldest name.
public let AFNetworkingTaskDidFinishSerializedResponseKey = Notification.NetworkingTaskKey.serializedResponse
/// `Notification.NetworkingTaskKey.responseSerializer` under its old name.
public let AFNetworkingTaskDidCompleteResponseSerializerKey = Notification.NetworkingTaskKey.responseSerializer
/// `Notification.NetworkingTaskKey.responseSerializer` under its oldest name.
public let AFNetworkingTaskDidFinishResponseSerializerKey = Notification.NetworkingTaskKey.responseSerializer
/// `Notification.NetworkingTaskKey.responseData` under its old name.
public let AFNetworkingTaskDidCompleteResponseDataKey = Notification.NetworkingTaskKey.responseData
/// `Notification.NetworkingTaskKey.responseData` under its oldest name.
public let AFNetworkingTaskDidFinishResponseDataKey = Notification.NetworkingTaskKey.responseData
/// `Notification.NetworkingTaskKey.error` under its old name.
public let AFNetworkingTaskDidCompleteErrorKey = Notification.NetworkingTaskKey.error
/// `Notification.NetworkingTaskKey.error` under its oldest name.
public let AFNetworkingTaskDidFinishErrorKey = Notification.NetworkingTaskKey.error
/// `Notification.NetworkingTaskKey.assetPath` under its old name.
public let AFNetworkingTaskDidCompleteAssetPathKey = Notification.NetworkingTaskKey.assetPath
/// `Notification.NetworkingTaskKey.assetPath` under its oldest name.
public let AFNetworkingTaskDidFinishAssetPathKey = Notification.NetworkingTaskKey.assetPath
/// `Notification.NetworkingTaskKey.sessionTaskMetrics` under its old name.
public let AFNetworkingTaskDidCompleteSessionTaskMetrics = Notification.NetworkingTaskKey.sessionTaskMetrics

extension URLSessionManager {
    /// Answers challenges as AFNetworking 4 has it: with an `NSError`, a `URLCredential`, the raw value of a
    /// disposition, or nil if the completion will be called.
    ///
    /// What is none of these cancels the challenge.
    @preconcurrency
    public func setAuthenticationChallengeHandler(
        _ handler:
            @escaping @Sendable (
                URLSession, URLSessionTask, URLAuthenticationChallenge,
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) -> Any?
    ) {
        setAuthenticationChallengeHandler { session, task, challenge, done -> ChallengeAnswer in
            ChallengeAnswer(handler(session, task, challenge, done))
        }
    }

    /// Answers a challenge as AFNetworking 2 and 3 have it; the credential is put where the pointer points.
    public typealias TaskDidReceiveChallenge =
        @Sendable (URLSession, URLSessionTask, URLAuthenticationChallenge, UnsafeMutablePointer<URLCredential?>?)
        -> URLSession.AuthChallengeDisposition

    /// Answers challenges for passwords as AFNetworking 2 and 3 have it. Takes the place of the handler of
    /// `setAuthenticationChallengeHandler(_:)`.
    ///
    /// The block never hears of servers' certificates, client certificates, NTLM and Negotiate: those versions have them
    /// answered for the whole session, and ``securityPolicy`` decides about servers. With `.useCredential` and no
    /// credential the request goes on without one.
    @preconcurrency
    public func setTaskDidReceiveAuthenticationChallengeBlock(_ block: TaskDidReceiveChallenge?) {
        guard let block else { return setAuthenticationChallengeHandler(nil as AuthenticationChallengeHandler?) }
        let ofSession: Set = [
            NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
            NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
        ]
        setAuthenticationChallengeHandler { session, task, challenge, done -> ChallengeAnswer in
            guard !ofSession.contains(challenge.protectionSpace.authenticationMethod) else {
                return .performDefaultHandling
            }
            var credential: URLCredential?
            let disposition = withUnsafeMutablePointer(to: &credential) { block(session, task, challenge, $0) }
            guard disposition == .useCredential else { return ChallengeAnswer(disposition) }
            if let credential { return .credential(credential) }
            done(.useCredential, nil)
            return .later
        }
    }

    /// Makes a data task without progress, as AFNetworking 2 has it.
    @preconcurrency
    public func dataTask(
        with request: URLRequest,
        completionHandler: TaskCompletionHandler?
    ) -> URLSessionDataTask {
        dataTask(with: request, uploadProgress: nil, downloadProgress: nil, completionHandler: completionHandler)
    }

    /// ``invalidateSessionCancelingTasks(_:resetSession:)`` without a reset, as AFNetworking 2 has it.
    public func invalidateSessionCancelingTasks(_ cancelPendingTasks: Bool) {
        invalidateSessionCancelingTasks(cancelPendingTasks, resetSession: false)
    }
}

extension URLSessionManager.ChallengeAnswer {
    fileprivate init(_ answer: Any?) {
        switch answer {
        case nil: self = .later
        case let credential as URLCredential: self = .credential(credential)
        case let disposition as URLSession.AuthChallengeDisposition: self.init(disposition)
        case let number as Int: self.init(URLSession.AuthChallengeDisposition(rawValue: number))
        case let number as NSNumber: self.init(URLSession.AuthChallengeDisposition(rawValue: number.intValue))
        case let error as any Error: self = .fail(error)
        default: self = .cancel
        }
    }

    fileprivate init(_ disposition: URLSession.AuthChallengeDisposition?) {
        switch disposition {
        case .performDefaultHandling: self = .performDefaultHandling
        case .rejectProtectionSpace: self = .rejectProtectionSpace
        // Without a credential there is nothing to use.
        case .useCredential, .cancelAuthenticationChallenge, nil: self = .cancel
        }
    }
}

// MARK: - Responses

/// ``/AFSerialization/URLResponseSerialization`` under its old name.
public typealias AFURLResponseSerialization = URLResponseSerialization

/// ``/AFSerialization/HTTPResponseSerializer`` under its old name.
public typealias AFHTTPResponseSerializer = HTTPResponseSerializer

/// ``/AFSerialization/JSONResponseSerializer`` under its old name.
public typealias AFJSONResponseSerializer = JSONResponseSerializer

/// ``/AFSerialization/PropertyListResponseSerializer`` under its old name.
public typealias AFPropertyListResponseSerializer = PropertyListResponseSerializer

/// ``/AFSerialization/CompoundResponseSerializer`` under its old name.
public typealias AFCompoundResponseSerializer = CompoundResponseSerializer

/// ``/AFSerialization/HTTPResponseSerializer/errorDomain`` under its old name.
public let AFURLResponseSerializationErrorDomain = HTTPResponseSerializer.errorDomain

/// ``/AFSerialization/HTTPResponseSerializer/failingResponseErrorKey`` under its old name.
public let AFNetworkingOperationFailingURLResponseErrorKey = HTTPResponseSerializer.failingResponseErrorKey

/// ``/AFSerialization/HTTPResponseSerializer/failingResponseDataErrorKey`` under its old name.
public let AFNetworkingOperationFailingURLResponseDataErrorKey = HTTPResponseSerializer.failingResponseDataErrorKey

/// ``/AFSerialization/JSONResponseSerializer/removingKeysWithNullValues(from:readingOptions:)`` under its old name.
public func AFJSONObjectByRemovingKeysWithNullValues(
    _ object: Any,
    _ readingOptions: JSONSerialization.ReadingOptions
) -> Any {
    JSONResponseSerializer.removingKeysWithNullValues(from: object, readingOptions: readingOptions)
}

// MARK: - Reachability

/// ``NetworkReachabilityManager`` under its old name.
public typealias AFNetworkReachabilityManager = NetworkReachabilityManager

extension NetworkReachabilityManager {
    /// The manager itself, so that ``shared`` can be written as a call, too.
    public func callAsFunction() -> Self { self }
}

/// ``NetworkReachabilityStatus`` under its old name.
public typealias AFNetworkReachabilityStatus = NetworkReachabilityStatus

extension Notification.Name {
    /// `networkingReachabilityDidChange` under its old name.
    public static let AFNetworkingReachabilityDidChange = networkingReachabilityDidChange
}

/// ``NetworkReachabilityManager/statusKey`` under its old name.
public let AFNetworkingReachabilityNotificationStatusItem = NetworkReachabilityManager.statusKey

/// ``NetworkReachabilityStatus/localizedDescription`` under its old name.
public func AFStringFromNetworkReachabilityStatus(_ status: NetworkReachabilityStatus) -> String {
    status.localizedDescription
}

// MARK: - Request serialization

/// ``/AFSerialization/URLRequestSerialization`` under its old name.
public typealias AFURLRequestSerialization = URLRequestSerialization

/// ``/AFSerialization/HTTPRequestSerializer`` under its old name.
public typealias AFHTTPRequestSerializer = HTTPRequestSerializer

/// ``/AFSerialization/JSONRequestSerializer`` under its old name.
public typealias AFJSONRequestSerializer = JSONRequestSerializer

/// ``/AFSerialization/PropertyListRequestSerializer`` under its old name.
public typealias AFPropertyListRequestSerializer = PropertyListRequestSerializer

/// ``/AFSerialization/MultipartFormData`` under its old name.
public typealias AFMultipartFormData = MultipartFormData

/// ``/AFSerialization/HTTPRequestQueryStringSerializationStyle`` under its old name.
public typealias AFHTTPRequestQueryStringSerializationStyle = HTTPRequestQueryStringSerializationStyle

/// ``/AFSerialization/HTTPRequestSerializer/errorDomain`` under its old name.
public let AFURLRequestSerializationErrorDomain = HTTPRequestSerializer.errorDomain

/// ``/AFSerialization/HTTPRequestSerializer/failingRequestErrorKey`` under its old name.
public let AFNetworkingOperationFailingURLRequestErrorKey = HTTPRequestSerializer.failingRequestErrorKey

/// ``/AFSerialization/HTTPRequestSerializer/suggested3GPacketSize`` under its old name.
public let kAFUploadStream3GSuggestedPacketSize = HTTPRequestSerializer.suggested3GPacketSize

/// ``/AFSerialization/HTTPRequestSerializer/suggested3GDelay`` under its old name.
public let kAFUploadStream3GSuggestedDelay: Double = HTTPRequestSerializer.suggested3GDelay

extension HTTPRequestSerializer {
    /// The same as ``/AFSerialization/HTTPRequestSerializer/setAuthorizationHeaderFieldWithUsername(_:password:)``.
    public func setAuthorizationHeaderField(withUsername username: String, password: String) {
        setAuthorizationHeaderFieldWithUsername(username, password: password)
    }

    /// Sends a token with each request: `Token token="…"`, in an `Authorization` field.
    @available(*, deprecated, message: "Use setValue(_:forHTTPHeaderField:).")
    public func setAuthorizationHeaderFieldWithToken(_ token: String) {
        setValue("Token token=\"\(token)\"", forHTTPHeaderField: "Authorization")
    }

    /// ``/AFSerialization/HTTPRequestSerializer/request(withMethod:urlString:parameters:)`` with the error at a pointer, as AFNetworking 3 has it.
    ///
    /// - Returns: The request, which you can change. If it cannot be made, one without a URL: its task fails before
    ///   anything is sent.
    public func request(
        withMethod method: String,
        urlString: String,
        parameters: Any?,
        error: NSErrorPointer
    ) -> NSMutableURLRequest {
        let made = reporting(to: error) {
            try request(withMethod: method, urlString: urlString, parameters: parameters)
        }
        return NSMutableURLRequest(made ?? .withoutURL)
    }

    /// ``/AFSerialization/HTTPRequestSerializer/multipartFormRequest(withMethod:urlString:parameters:constructingBodyWith:)`` with the error at a pointer.
    ///
    /// - Returns: The request, which you can change. If it cannot be made, one without a URL: its task fails before
    ///   anything is sent.
    public func multipartFormRequest(
        withMethod method: String,
        urlString: String,
        parameters: [String: Any]?,
        constructingBodyWith block: ((any MultipartFormData) -> Void)?,
        error: NSErrorPointer
    ) -> NSMutableURLRequest {
        let made = reporting(to: error) {
            try multipartFormRequest(
                withMethod: method,
                urlString: urlString,
                parameters: parameters,
                constructingBodyWith: block
            )
        }
        return NSMutableURLRequest(made ?? .withoutURL)
    }
}

extension URLRequest {
    fileprivate static var withoutURL: URLRequest {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.url = nil
        return request
    }
}

/// ``/AFSerialization/HTTPRequestSerializer/percentEscapedString(from:)`` under its old name.
public func AFPercentEscapedStringFromString(_ string: String) -> String {
    HTTPRequestSerializer.percentEscapedString(from: string)
}

/// ``/AFSerialization/HTTPRequestSerializer/queryString(from:)`` under its old name.
public func AFQueryStringFromParameters(_ parameters: Any) -> String {
    HTTPRequestSerializer.queryString(from: parameters)
}

// MARK: - Operations

/// ``URLConnectionOperation`` under its old name.
public typealias AFURLConnectionOperation = URLConnectionOperation

/// ``HTTPRequestOperation`` under its old name.
public typealias AFHTTPRequestOperation = HTTPRequestOperation

/// ``HTTPRequestOperationManager`` under its old name.
public typealias AFHTTPRequestOperationManager = HTTPRequestOperationManager

extension Notification.Name {
    /// `networkingOperationDidStart` under its old name.
    public static var AFNetworkingOperationDidStart: Notification.Name { networkingOperationDidStart }

    /// `networkingOperationDidFinish` under its old name.
    public static var AFNetworkingOperationDidFinish: Notification.Name { networkingOperationDidFinish }
}
