import AFURLSession
import Foundation

/// Loads a page with a connection, as apps did before there were sessions.
final class PageLoader: NSObject, NSURLConnectionDataDelegate {
    private var connection: NSURLConnection?
    private var response: HTTPURLResponse?
    private let body = NSMutableData()
    private let completion: (PageLoader.Page?, Error?) -> Void
    private let user: String
    private let password: String
    private(set) var redirects = 0

    struct Page {
        let status: Int
        let url: URL?
        let text: String
    }

    init(user: String, password: String, completion: @escaping (Page?, Error?) -> Void) {
        self.user = user
        self.password = password
        self.completion = completion
        super.init()
    }

    func load(_ url: URL) {
        let request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 30)
        guard NSURLConnection.canHandle(request) else {
            return completion(nil, NSError(domain: NSURLErrorDomain, code: NSURLErrorUnsupportedURL, userInfo: nil))
        }
        connection = NSURLConnection(request: request, delegate: self, startImmediately: false)
        connection?.schedule(in: .main, forMode: .common)
        connection?.start()
    }

    func cancel() {
        connection?.cancel()
        connection = nil
    }

    // MARK: - NSURLConnectionDelegate

    func connectionShouldUseCredentialStorage(_ connection: NSURLConnection) -> Bool {
        return false
    }

    func connection(_ connection: NSURLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        if challenge.previousFailureCount == 0 {
            let credential = URLCredential(user: user, password: password, persistence: .none)
            challenge.sender?.use(credential, for: challenge)
        } else {
            challenge.sender?.cancel(challenge)
        }
    }

    func connection(_ connection: NSURLConnection, didFailWithError error: Error) {
        self.connection = nil
        completion(nil, error)
    }

    // MARK: - NSURLConnectionDataDelegate

    func connection(
        _ connection: NSURLConnection,
        willSend request: URLRequest,
        redirectResponse response: URLResponse?
    ) -> URLRequest? {
        if response != nil {
            redirects += 1
        }
        return request
    }

    func connection(_ connection: NSURLConnection, didReceive response: URLResponse) {
        self.response = response as? HTTPURLResponse
        body.length = 0
    }

    func connection(_ connection: NSURLConnection, didReceive data: Data) {
        body.append(data)
    }

    func connection(_ connection: NSURLConnection, willCacheResponse cachedResponse: CachedURLResponse)
        -> CachedURLResponse?
    {
        return nil
    }

    func connectionDidFinishLoading(_ connection: NSURLConnection) {
        self.connection = nil
        let text = String(data: body as Data, encoding: .utf8) ?? ""
        completion(Page(status: response?.statusCode ?? 0, url: response?.url, text: text), nil)
    }
}

/// Loads a file with a connection, and moves it to where it belongs.
final class FileFetcher: NSObject, NSURLConnectionDownloadDelegate {
    private let target: URL
    private let completion: (Int64, Error?) -> Void
    private var written: Int64 = 0

    init(target: URL, completion: @escaping (Int64, Error?) -> Void) {
        self.target = target
        self.completion = completion
        super.init()
    }

    func fetch(_ url: URL) {
        let connection = NSURLConnection(request: URLRequest(url: url), delegate: self, startImmediately: false)
        connection?.setDelegateQueue(OperationQueue())
        connection?.start()
    }

    func connection(
        _ connection: NSURLConnection,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        expectedTotalBytes: Int64
    ) {
        written = totalBytesWritten
    }

    func connectionDidFinishDownloading(_ connection: NSURLConnection, destinationURL: URL) {
        do {
            try FileManager.default.moveItem(at: destinationURL, to: target)
            completion(written, nil)
        } catch {
            completion(written, error)
        }
    }

    func connection(_ connection: NSURLConnection, didFailWithError error: Error) {
        completion(written, error)
    }
}
