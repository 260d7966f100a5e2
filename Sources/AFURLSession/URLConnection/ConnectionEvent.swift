import AFTransport
import AFWire
import Foundation

/// An event that a connection tells its delegate.
enum ConnectionEvent: Sendable {
    /// The connection begins: asks the delegate which request to send, and whether to use the credential storage.
    case begins
    case redirect(URLRequest, URLResponse, answer: @Sendable (URLRequest?) -> Void)
    case challenge(URLAuthenticationChallenge)
    case response(URLResponse)
    case data(Data)
    case sent(Int64, total: Int64, expected: Int64)
    case needsStream(URLRequest, answer: @Sendable (InputStream?) -> Void)
    case willCache(CachedURLResponse, answer: @Sendable (CachedURLResponse?) -> Void)
    case wrote(Int64, total: Int64, expected: Int64)
    case downloaded(ConnectionFile)
    case finished
    case failed(any Error)

    /// About how many bytes it holds in memory. A body of many parts has a response for each, and may have nothing else.
    var byteCount: Int {
        switch self {
        case .data(let data): data.count
        case .response(let response as HTTPURLResponse): 512 + response.headers.byteCount
        default: 0
        }
    }

    var isLast: Bool {
        switch self {
        case .finished, .failed: true
        default: false
        }
    }
}

/// The delegate of a connection, by the protocols it conforms to. A class, since each event takes a reference to it.
final class ConnectionListener: Sendable {
    let delegate: any URLConnectionDelegate
    let data: (any URLConnectionDataDelegate)?
    let download: (any URLConnectionDownloadDelegate)?
    private let caching: (any CachingDelegate)?

    init(_ delegate: any URLConnectionDelegate) {
        self.delegate = delegate
        data = delegate as? any URLConnectionDataDelegate
        download = data == nil ? delegate as? any URLConnectionDownloadDelegate : nil
        caching = delegate as? any CachingDelegate
    }

    var decidesOnCaching: Bool { caching?.decidesOnCaching ?? true }

    /// Tells the delegate every event but the beginning.
    func hear(_ event: ConnectionEvent, of connection: URLConnection) {
        switch event {
        case .begins: break
        case .redirect(let request, let response, let answer):
            answer(redirect(to: request, response: response, of: connection))
        case .challenge(let challenge): delegate.connection(connection, willSendRequestFor: challenge)
        case .response(let response): data?.connection(connection, didReceive: response)
        case .data(let bytes): data?.connection(connection, didReceive: bytes)
        case .sent(let count, let total, let expected):
            data?.connection(
                connection,
                didSendBodyData: Int(count),
                totalBytesWritten: Int(total),
                totalBytesExpectedToWrite: Int(expected)
            )
        case .needsStream(let request, let answer):
            answer(data?.connection(connection, needNewBodyStream: request))
        case .willCache(let proposal, let answer):
            answer(data.map { $0.connection(connection, willCacheResponse: proposal) } ?? proposal)
        case .wrote(let count, let total, let expected):
            download?.connection(
                connection,
                didWriteData: count,
                totalBytesWritten: total,
                expectedTotalBytes: expected
            )
        case .downloaded(let file):
            download?.connectionDidFinishDownloading(connection, destinationURL: file.url)
        case .finished: data?.connectionDidFinishLoading(connection)
        case .failed(let error): delegate.connection(connection, didFailWithError: error)
        }
    }

    private func redirect(
        to request: URLRequest,
        response: URLResponse,
        of connection: URLConnection
    ) -> URLRequest? {
        guard let data else {
            connection.core.noteMissing(.willRedirect, in: delegate)
            return .unanswered
        }
        return data.connection(connection, willSend: request, redirectResponse: response)
    }
}

/// A downloaded file. It is removed with this object, unless the delegate has moved it.
final class ConnectionFile: Sendable {
    let url: URL
    private let worker: any BlockingWorker

    init(url: URL, in world: World) {
        self.url = url
        worker = world.workers.sharedWorker()
    }

    deinit {
        worker.run { [url] in try? FileManager.default.removeItem(at: url) }
    }
}
