import AFBase
import AFLoop
public import Foundation

// Unchecked: it is open, so the compiler cannot check it. Its own state is constant or locked; a subclass that adds
// state keeps the promise itself.
/// Loads requests in place of a session: a subclass decides which, and what they are answered with.
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
/// ``canonicalRequest(for:)``, the initializers, ``startLoading()`` and ``stopLoading()``. They may block, which holds
/// up other loads by classes of that session and nothing else, and may use other sessions. A class that several sessions
/// use is called from several threads. ``client`` may be called from any thread, at any time.
///
/// **Loads.** For each load there is one object. ``stopLoading()`` is called exactly once after each ``startLoading()``:
/// when the load has ended, was redirected or cancelled. What the client is told after that comes to nothing. Bodies are
/// delivered as they are told: no content coding is undone, no cookie is stored and no redirect status followed.
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
    ///   - request: What to load: what ``canonicalRequest(for:)`` made of the request.
    ///   - cachedResponse: What the session's cache has for it, however old.
    ///   - client: Whom to tell.
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

    /// What to load.
    open var request: URLRequest { ownRequest }

    /// What the session's cache has for the request, however old.
    open var cachedResponse: CachedURLResponse? { ownCachedResponse }

    /// Whom to tell what becomes of the load.
    open var client: (any URLProtocolClient)? {
        get { state.withLock { $0.client } }
        set {
            // What was there may run code when it goes: not under the lock.
            var client = newValue
            state.withLock { swap(&$0.client, &client) }
        }
    }

    /// The task that is loaded for.
    open var task: URLSessionTask? {
        get { state.withLock { $0.task } }
        set {
            var task = newValue
            state.withLock { swap(&$0.task, &task) }
        }
    }

    // MARK: - To be overridden

    /// Whether the class loads this request. Asked at the start of a task and again at each redirect. False.
    open class func canInit(with request: URLRequest) -> Bool { false }

    /// Whether the class loads this task. This is what sessions ask; it asks ``canInit(with:)-(URLRequest)`` about the
    /// task's current request.
    open class func canInit(with task: URLSessionTask) -> Bool {
        task.currentRequest.map { canInit(with: $0) } ?? false
    }

    /// The request in the form in which it is loaded. As it is.
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Whether an answer to one request is an answer to the other. Sessions do not ask; for your own use.
    open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool {
        canonicalRequest(for: a) == canonicalRequest(for: b)
    }

    /// Begins to load. Returns soon, or when all is done. Fails the load unless it is overridden.
    open func startLoading() {
        client?.urlProtocol(self, didFailWithError: URLError(.unsupportedURL))
    }

    /// The load has ended, or is wanted no longer: let go of what it needed. Does nothing unless it is overridden.
    open func stopLoading() {}
}

// MARK: - Registration

extension URLProtocol {
    /// Has ``URLSession/shared`` ask a class, before those that were registered earlier.
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

    /// The class is asked no longer. Loads that it has begun go on.
    public class func unregisterClass(_ protocolClass: AnyClass) {
        guard let type = protocolClass as? URLProtocol.Type else { return }
        ProtocolRegistry.remove(type)
    }
}

// MARK: - Properties of requests

extension URLProtocol {
    /// What was noted about a request under a key.
    public class func property(forKey key: String, in request: URLRequest) -> Any? {
        request.contents.properties?[key]
    }

    /// Notes something about a request: for a class that sends requests of its own, that it has seen this one.
    ///
    /// Properties go along with copies of the request and with redirects, and are never sent.
    public class func setProperty(_ value: any Sendable, forKey key: String, in request: inout URLRequest) {
        request.change { $0.properties = ($0.properties ?? [:]).merging([key: value]) { _, new in new } }
    }

    /// Forgets what was noted about a request under a key.
    public class func removeProperty(forKey key: String, in request: inout URLRequest) {
        request.change { contents in
            contents.properties?[key] = nil
            if contents.properties?.isEmpty == true { contents.properties = nil }
        }
    }

    /// Notes something about a request, as Foundation's loader has it.
    public class func setProperty(_ value: any Sendable, forKey key: String, in request: NSMutableURLRequest) {
        setProperty(value, forKey: key, in: &request.value)
    }

    /// Forgets what was noted about a request, as Foundation's loader has it.
    public class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        removeProperty(forKey: key, in: &request.value)
    }
}
