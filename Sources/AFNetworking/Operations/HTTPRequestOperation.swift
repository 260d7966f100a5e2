import AFBase
import Dispatch
public import Foundation

// Unchecked as its superclass, whose lock guards what it adds.
/// A load over HTTP as an operation: validates the response, makes an object of it, and after a pause continues in the
/// middle of the body.
///
/// ```swift
/// let operation = HTTPRequestOperation(request: URLRequest(url: url))
/// operation.responseSerializer = JSONResponseSerializer()
/// operation.setCompletionBlock { operation, object in
///     print(object ?? "nothing")
/// } failure: { operation, error in
///     print(error)
/// }
/// queue.addOperation(operation)
/// ```
///
/// **Pausing and resuming.** `resume()` asks for the bytes that are missing, of the same version of the resource if the
/// response had an entity tag or a date. A 206 that begins where the first part ended is appended to it; any other
/// response replaces it. A body with a content coding, or one that the server does not continue, is loaded again from
/// its beginning; so is that of a request with a `Range` of yours. A request body from a stream cannot be sent twice.
open class HTTPRequestOperation: URLConnectionOperation, @unchecked Sendable {
    /// Receives the operation and the object that the response serializer made of the response.
    public typealias Success = @Sendable (HTTPRequestOperation, Any?) -> Void
    /// Receives the operation and the error.
    public typealias Failure = @Sendable (HTTPRequestOperation, any Error) -> Void

    static let processingQueue = DispatchQueue(
        label: "com.alamofire.networking.http-request.processing",
        attributes: .concurrent
    )

    /// An operation that loads a request.
    public required init(request: URLRequest) {
        super.init(request: request)
    }

    /// The latest response; nil also for one that is not of HTTP.
    open override var response: HTTPURLResponse? { super.response as? HTTPURLResponse }

    /// The error about the response, or else that of the load.
    open override var error: (any Error)? { state.withLock { $0.serialization.result?.error } ?? super.error }

    /// Makes ``responseObject``: the body as it is, unless set. Setting it drops the present object.
    open var responseSerializer: HTTPResponseSerializer {
        get { state.withLock { $0.serialization.serializer } }
        set {
            // Release the old value after the lock: its deinit may run the program's code.
            _ = state.withLock { state in
                defer { state.serialization.begin(with: newValue) }
                return state.serialization
            }
        }
    }

    /// What the serializer makes of the response; made when it is first asked for, on the calling thread. Nil until the
    /// operation has finished, and after a failure.
    open var responseObject: Any? { result?.object }

    private var result: SerializedObject? {
        let (made, serializer, version) = state.withLock {
            ($0.serialization.result, $0.serialization.serializer, $0.serialization.version)
        }
        if let made { return made }
        guard isFinished, super.error == nil else { return nil }
        // Called without the lock: the serializer may be the program's code.
        let (response, data) = (super.response, responseData)
        let (object, error) = collectingError { serializer.responseObject(for: response, data: data, error: $0) }
        return state.withLock { state in
            let made = SerializedObject(object, error)
            guard state.serialization.version == version else { return made }
            if state.serialization.result == nil { state.serialization.result = made }
            return state.serialization.result
        }
    }

    /// Sets what is called when the operation has finished: one of the two, on
    /// ``URLConnectionOperation/completionQueue``. It takes the place of the completion block.
    ///
    /// - Parameters:
    ///   - success: Called if a response arrived and the serializer accepted it.
    ///   - failure: Called otherwise, also if the operation was cancelled.
    @preconcurrency
    open func setCompletionBlockWithSuccess(_ success: Success?, failure: Failure?) {
        let report: @Sendable (URLConnectionOperation) -> Void = { operation in
            (operation as? HTTPRequestOperation)?.report(to: success, failure: failure)
        }
        guard !isOfLibrary else { return setCompletion(report) }
        // A subclass may have a property of its own.
        completionBlock = { [weak self] in self.map(report) }
    }

    private func report(to success: Success?, failure: Failure?) {
        if isQuick { return callBack(success, failure: failure) }
        let group = completionGroup
        group?.enter()
        Self.processingQueue.async { [self] in
            _ = responseObject
            MainQueue.complete(on: completionQueue, group: group) { [self] in
                callBack(success, failure: failure)
            }
            group?.leave()
        }
    }

    /// Sets what is called when the operation has finished, as ``setCompletionBlockWithSuccess(_:failure:)``.
    @preconcurrency
    public func setCompletionBlock(success: Success?, failure: Failure?) {
        setCompletionBlockWithSuccess(success, failure: failure)
    }

    /// Whether the response object is there, or is made in less time than a change of threads takes.
    private var isQuick: Bool {
        let (isMade, serializer) = state.withLock {
            ($0.serialization.result != nil || $0.error != nil, $0.serialization.serializer)
        }
        return isMade
            || serializer.isQuick(bodyLength: responseData?.count ?? 0, isAwaited: false)
    }

    private func callBack(_ success: Success?, failure: Failure?) {
        // First the object: to make it may fail.
        let object = responseObject
        if let error { failure?(self, error) } else { success?(self, object) }
    }

    // MARK: - Going on after a pause

    override func willContinue() {
        // The request has a range of the caller's: the number of bytes received is no offset in the whole body.
        guard state.withLock({ $0.range == $0.missing }) else { return }
        let (response, count) = state.withLock { state in
            let response = state.response as? HTTPURLResponse
            state.serialization.firstPart = response
            return (response, state.sink?.count ?? 0)
        }
        let isPlain = response?.hasCodedContent == false
        let isWeak = response.map { RangeReply.isWeak($0) } ?? false
        let mayGoOn = count > 0 && isPlain && !isWeak && [200, 206].contains(response?.statusCode ?? 0)
        let offset = mayGoOn ? count : 0
        state.withLock { state in
            state.continuesAt = mayGoOn ? offset : nil
            state.missing = "bytes=\(offset)-"
            state.request.setValue(state.missing, forHTTPHeaderField: "Range")
            let validator = response.flatMap { ResumeValidator($0.headers) }
            state.request.setValue(validator?.fieldValue, forHTTPHeaderField: "If-Range")
        }
    }

    override func continuation(with response: URLResponse) -> Continuation {
        let (isAsked, offset, first) = state.withLock {
            ($0.missing != nil && $0.range == $0.missing, $0.continuesAt, $0.serialization.firstPart)
        }
        guard isAsked, let response = response as? HTTPURLResponse else { return .take }
        switch RangeReply(response, to: first, from: offset ?? 0) {
        case .rest where offset != nil: return .take
        case .rest, .whole:
            state.withLock { $0.continuesAt = nil }
            return .take
        case .useless:
            state.withLock { state in
                state.serialization.firstPart = nil
                state.request = state.wholeRequest
                state.missing = nil
            }
            return .loadAgain
        }
    }

    // MARK: - Coding and copying

    private static let serializerKey = "AF.operation.responseSerializer"

    /// Reads an operation and its serializer.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
        guard coder.containsValue(forKey: Self.serializerKey) else { return }
        guard let serializer = coder.decodeObject(of: HTTPResponseSerializer.self, forKey: Self.serializerKey) else {
            return nil
        }
        responseSerializer = serializer
    }

    /// Pauses the operation and archives it, with its serializer. One that is no ``/AFSerialization/HTTPResponseSerializer`` is left out.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.writeSerializer(responseSerializer, forKey: Self.serializerKey)
    }

    /// Another operation for the same request, with a copy of the serializer.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        if let operation = copy as? HTTPRequestOperation,
            let serializer = responseSerializer.copy(with: zone) as? HTTPResponseSerializer
        {
            operation.responseSerializer = serializer
        }
        return copy
    }
}
