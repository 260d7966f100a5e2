import AFBase
import AFLoop
public import Foundation

// Unchecked, because the compiler cannot check an open class. Its own state is constant or locked; a subclass that adds
// state must make that safe itself.
/// Loads requests in place of a session: a subclass decides which, and makes the responses.
///
/// Name your class in ``URLSessionConfiguration/protocolClasses``, or register it for ``URLSession/shared``. For tests:
///
/// ```swift
/// final class CannedProtocol: URLProtocol, @unchecked Sendable {
///     override class func canInit(with request: URLRequest) -> Bool { request.url?.path == "/user" }
///
///     override func startLoading() {
///         guard let url = request.url,
///             let response = HTTPURLResponse(
///                 url: url,
///                 statusCode: 200,
///                 httpVersion: "HTTP/1.1",
///                 headerFields: ["Content-Type": "application/json"]
///             )
///         else { return }
///         client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
///         client?.urlProtocol(self, didLoad: Data(#"{"name": "Ada"}"#.utf8))
///         client?.urlProtocolDidFinishLoading(self)
///     }
/// }
///
/// configuration.protocolClasses = [CannedProtocol.self]
/// ```
///
/// **Threads.** A session calls its classes one at a time on a queue of its own: ``canInit(with:)-(URLRequest)``,
/// ``canonicalRequest(for:)``, the initializers, ``startLoading()`` and ``stopLoading()``. They may block, which delays
/// other loads by classes of that session and nothing else, and may use other sessions. Several sessions call a class
/// that they share from several threads. You may call ``client`` from any thread, at any time.
///
/// **Loads.** For each load there is one object. The session calls ``stopLoading()`` exactly once after each
/// ``startLoading()``: when the load has ended, was redirected or cancelled. It ignores what you tell the client after
/// that. It delivers bodies as you give them: it decodes nothing, stores no cookie and follows no redirect status.
open class URLProtocol: NSObject, @unchecked Sendable {
    private struct State {
        var client: (any URLProtocolClient)?
        var task: URLSessionTask?
    }

    private let ownRequest: URLRequest
    private let ownCachedResponse: CachedURLResponse?
    private let state: Lock<State>

    /// Makes the object for one load.
    ///
    /// - Parameters:
    ///   - request: The request to load, in the form of ``canonicalRequest(for:)``.
    ///   - cachedResponse: The response that the session's cache has for it, however old.
    ///   - client: Takes what the object reports.
    public required init(
        request: URLRequest,
        cachedResponse: CachedURLResponse?,
        client: (any URLProtocolClient)?
    ) {
        ownRequest = request
        ownCachedResponse = cachedResponse
        state = Lock(State(client: client))
        super.init()
    }

    /// Makes the object for the load of a task. Sessions call this one, which calls
    /// ``init(request:cachedResponse:client:)`` with the task's current request.
    public required convenience init(
        task: URLSessionTask,
        cachedResponse: CachedURLResponse?,
        client: (any URLProtocolClient)?
    ) {
        let request = task.currentRequest ?? task.originalRequest ?? URLRequest(url: URL(fileURLWithPath: "/"))
        self.init(request: request, cachedResponse: cachedResponse, client: client)
        state.withLock { $0.task = task }
    }

    /// The request to load.
    open var request: URLRequest { ownRequest }

    /// The response that the session's cache has for the request, however old.
    open var cachedResponse: CachedURLResponse? { ownCachedResponse }

    /// Takes what the object reports about its load.
    open var client: (any URLProtocolClient)? {
        get { state.withLock { $0.client } }
        set {
            // Release the former client after the lock: that may run code of the program.
            var client = newValue
            state.withLock { swap(&$0.client, &client) }
        }
    }

    /// The task that the object loads for.
    open var task: URLSessionTask? {
        get { state.withLock { $0.task } }
        set {
            var task = newValue
            state.withLock { swap(&$0.task, &task) }
        }
    }

    // MARK: - To be overridden

    /// Whether the class loads this request. The session asks at the start of a task and again at each redirect. False
    /// unless overridden.
    open class func canInit(with request: URLRequest) -> Bool { false }

    /// Whether the class loads this task. Sessions ask this method; it asks ``canInit(with:)-(URLRequest)`` about the
    /// task's current request.
    open class func canInit(with task: URLSessionTask) -> Bool {
        task.currentRequest.map { canInit(with: $0) } ?? false
    }

    /// The form of the request that the class loads. The request itself unless overridden.
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Whether a response to one request may answer the other. Sessions do not ask; it is for your own use.
    open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool {
        canonicalRequest(for: a) == canonicalRequest(for: b)
    }

    /// Begins to load. It may return before the load ends. Fails the load unless overridden.
    open func startLoading() {
        client?.urlProtocol(self, didFailWithError: URLError(.unsupportedURL))
    }

    /// The load has ended, or the session wants it no longer: release what it needed. Does nothing unless overridden.
    open func stopLoading() {}
}

// MARK: - Registration

extension URLProtocol {
    /// Makes ``URLSession/shared`` ask a class, before those registered earlier.
    ///
    /// Other sessions ask the classes of their configuration only: see ``URLSessionConfiguration/protocolClasses``.
    ///
    /// - Returns: False if it is no subclass of `URLProtocol`.
    @discardableResult
    public class func registerClass(_ protocolClass: AnyClass) -> Bool {
        guard let type = protocolClass as? URLProtocol.Type else { return false }
        ProtocolRegistry.add(type)
        return true
    }

    /// Stops asking a class. Its present loads go on.
    public class func unregisterClass(_ protocolClass: AnyClass) {
        guard let type = protocolClass as? URLProtocol.Type else { return }
        ProtocolRegistry.remove(type)
    }
}

// MARK: - Properties of requests

extension URLProtocol {
    /// The property that a class has stored for a request under a key.
    public class func property(forKey key: String, in request: URLRequest) -> Any? {
        request.contents.properties?[key]
    }

    /// Stores a property for a request. A class that sends requests of its own can mark those it has seen.
    ///
    /// Copies of the request and redirects keep the properties. The session never sends them.
    public class func setProperty(_ value: any Sendable, forKey key: String, in request: inout URLRequest) {
        request.change { $0.properties = ($0.properties ?? [:]).merging([key: value]) { _, new in new } }
    }

    /// Removes the property of a request under a key.
    public class func removeProperty(forKey key: String, in request: inout URLRequest) {
        request.change { contents in
            contents.properties?[key] = nil
            if contents.properties?.isEmpty == true { contents.properties = nil }
        }
    }

    /// Stores a property for a request, in the form of Foundation's method.
    public class func setProperty(_ value: any Sendable, forKey key: String, in request: NSMutableURLRequest) {
        setProperty(value, forKey: key, in: &request.value)
    }

    /// Removes a property of a request, in the form of Foundation's method.
    public class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        removeProperty(forKey: key, in: &request.value)
    }
}
