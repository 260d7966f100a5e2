import AFTransport
import Foundation

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
