import AFURLSession
import Foundation

/// Images and the like, from a cache of its own.
final class CachingLoader: NSObject, URLSessionDataDelegate {
    let cache: URLCache
    private var session: URLSession!
    private var bodies: [URLSessionTask: Data] = [:]
    private var handlers: [URLSessionTask: (Data?, Error?) -> Void] = [:]
    private(set) var proposals = 0

    init(memory: Int, disk: Int, path: String?) {
        cache = URLCache(memoryCapacity: memory, diskCapacity: disk, diskPath: path)
        super.init()
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        configuration.requestCachePolicy = .useProtocolCachePolicy
        session = URLSession(configuration: configuration, delegate: self, delegateQueue: .main)
        session.sessionDescription = "images"
        let first = session
        session = URLSession(configuration: session.configuration, delegate: self, delegateQueue: Self.queue())
        first?.finishTasksAndInvalidate()
    }

    /// A session holds its delegate until it is invalid.
    func close() {
        session.finishTasksAndInvalidate()
    }

    private static func queue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }

    func load(
        _ url: URL,
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
        _ done: @escaping (Data?, Error?) -> Void
    ) {
        let task = session.dataTask(with: URLRequest(url: url, cachePolicy: policy))
        session.delegateQueue.addOperation { [self] in
            handlers[task] = done
            task.resume()
        }
    }

    func isCached(_ url: URL) -> Bool {
        cache.cachedResponse(for: URLRequest(url: url)) != nil
    }

    /// Keeps something that was made here.
    func keep(_ data: Data, type: String, for url: URL) {
        let response = HTTPURLResponse(
            url: url,
            statusCode: 200,
            httpVersion: "HTTP/1.1",
            headerFields: ["Content-Type": type, "Cache-Control": "max-age=3600"]
        )!
        let entry = CachedURLResponse(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
        cache.storeCachedResponse(entry, for: URLRequest(url: url))
    }

    func forget(_ url: URL) {
        cache.removeCachedResponse(for: URLRequest(url: url))
    }

    // MARK: - URLSessionDataDelegate

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        bodies[dataTask, default: Data()].append(data)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping (CachedURLResponse?) -> Void
    ) {
        proposals += 1
        let isImage = proposedResponse.response.mimeType?.hasPrefix("image/") ?? false
        completionHandler(isImage ? proposedResponse : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        handlers.removeValue(forKey: task)?(error == nil ? bodies[task] ?? Data() : nil, error)
        bodies[task] = nil
    }
}
