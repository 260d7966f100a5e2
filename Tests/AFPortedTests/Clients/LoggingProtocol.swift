import AFURLSession
import Foundation

/// The custom protocol of every second debugging tool: it loads what passes by itself, and writes it down. Where it says
/// "elsewhere" it had to be changed: `as` leads to requests by reference for Foundation's own types only.
final class LoggingProtocol: URLProtocol, URLSessionDataDelegate, @unchecked Sendable {
    private static let handledKey = "LoggingProtocol.handled"
    private static let lock = NSLock()
    private static var entries: [String] = []

    private var session: URLSession?
    private var dataTask: URLSessionDataTask?
    private var size = 0

    static var log: [String] {
        lock.lock()
        defer { lock.unlock() }
        return entries
    }

    private static func note(_ entry: String) {
        lock.lock()
        entries.append(entry)
        lock.unlock()
    }

    override class func canInit(with request: URLRequest) -> Bool {
        guard property(forKey: handledKey, in: request) == nil, let scheme = request.url?.scheme else { return false }
        return ["http", "https"].contains(scheme)
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest {
        request
    }

    override class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool {
        super.requestIsCacheEquivalent(a, to: b)
    }

    override func startLoading() {
        // Elsewhere: (request as NSURLRequest).mutableCopy() as! NSMutableURLRequest
        let newRequest = NSMutableURLRequest(request)
        URLProtocol.setProperty(true, forKey: Self.handledKey, in: newRequest)
        newRequest.setValue("on", forHTTPHeaderField: "X-Debug")
        Self.note("\(newRequest.httpMethod ?? "") \(newRequest.url?.path ?? "")")
        session = URLSession(configuration: .default, delegate: self, delegateQueue: nil)
        // Elsewhere: newRequest as URLRequest
        dataTask = session?.dataTask(with: URLRequest(newRequest))
        dataTask?.resume()
    }

    override func stopLoading() {
        dataTask?.cancel()
        session?.invalidateAndCancel()
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let policy = URLCache.StoragePolicy(rawValue: request.cachePolicy.rawValue) ?? .notAllowed
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: policy)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        size += data.count
        client?.urlProtocol(self, didLoad: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        if let error = error {
            client?.urlProtocol(self, didFailWithError: error)
        } else {
            Self.note("\(size) bytes")
            client?.urlProtocolDidFinishLoading(self)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        let redirected = NSMutableURLRequest(request)
        URLProtocol.removeProperty(forKey: Self.handledKey, in: redirected)
        client?.urlProtocol(self, wasRedirectedTo: URLRequest(redirected), redirectResponse: response)
        dataTask?.cancel()
        completionHandler(nil)
    }
}
