import AFState
import AFTransport
import Foundation

// The names of Foundation that have a task, which makes no difference.

extension URLCredentialStorage {
    /// The credentials for a space by user. The handler is called before this returns.
    public func getCredentials(
        for protectionSpace: URLProtectionSpace,
        task: URLSessionTask,
        completionHandler: ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: protectionSpace))
    }

    /// As ``/AFURLTypes/URLCredentialStorage/defaultCredential(for:)``. The handler is called before this returns.
    public func getDefaultCredential(
        for space: URLProtectionSpace,
        task: URLSessionTask,
        completionHandler: (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// As ``/AFURLTypes/URLCredentialStorage/set(_:for:)``.
    public func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
        set(credential, for: protectionSpace)
    }

    /// As ``/AFURLTypes/URLCredentialStorage/setDefaultCredential(_:for:)``.
    public func setDefaultCredential(
        _ credential: URLCredential,
        for protectionSpace: URLProtectionSpace,
        task: URLSessionTask
    ) {
        setDefaultCredential(credential, for: protectionSpace)
    }

    /// As ``/AFURLTypes/URLCredentialStorage/remove(_:for:options:)``.
    public func remove(
        _ credential: URLCredential,
        for protectionSpace: URLProtectionSpace,
        options: [String: AnyObject]? = [:],
        task: URLSessionTask
    ) {
        remove(credential, for: protectionSpace, options: options)
    }
}

extension HTTPCookieStorage {
    /// Stores cookies that came with the response of a task.
    public func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
        guard let request = task.currentRequest, let url = request.url else { return }
        setCookies(cookies, for: url, mainDocumentURL: request.mainDocumentURL)
    }

    /// Calls back with the cookies that a task's current request would carry, on a queue of the library's own; nil if
    /// the session could not load the request's URL.
    @preconcurrency
    public func getCookiesFor(
        _ task: URLSessionTask,
        completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
    ) {
        let cookies = cookies(of: task)
        CookieNotifications.queue.async { completionHandler(cookies) }
    }

    /// The cookies that a task's current request would carry; nil if the session could not load the request's URL.
    @concurrent
    public func cookies(for task: URLSessionTask) async -> [HTTPCookie]? {
        cookies(of: task)
    }

    private func cookies(of task: URLSessionTask) -> [HTTPCookie]? {
        guard let request = task.currentRequest, let url = request.url else { return nil }
        return CookieQuestion(url, mainDocument: .init(request.mainDocumentURL)).map { cookies(for: $0) }
    }
}

extension URLCache {
    /// Stores a response for the request of a task.
    public func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard let request = dataTask.requestAsNamed else { return }
        storeCachedResponse(cachedResponse, for: request)
    }

    /// Looks up the stored response for the request of a task.
    ///
    /// - Parameters:
    ///   - dataTask: The task whose request is looked up.
    ///   - completionHandler: Called once, on a queue of its own, with nil if nothing is stored.
    @preconcurrency
    public func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let request = dataTask.requestAsNamed
        URLCache.answers.run { [self] in
            completionHandler(request.flatMap { cachedResponse(for: $0) })
        }
    }

    /// Removes the stored responses for the request of a task.
    public func removeCachedResponse(for dataTask: URLSessionDataTask) {
        guard let request = dataTask.requestAsNamed else { return }
        removeCachedResponse(for: request)
    }

    private static let answers = DispatchWorkers().ownWorker("AFURLSession.cache.answers")
}

extension URLSessionTask {
    /// The task's current request with the `Host` that the session gives it.
    fileprivate var requestAsNamed: URLRequest? { currentRequest?.naming(hostOf: session.headers) }
}
