import Glibc

/// Downloads against a real server on the loopback interface.
enum DownloadTests {}

extension ScratchFolder {
    /// Where downloads gather, if this is the temporary folder of a session.
    var downloads: URL { ScratchFolder.downloads(in: url) }

    static func downloads(in folder: URL) -> URL { folder.appendingPathComponent("AFURLSession-\(geteuid())") }

    /// The files downloads have left there.
    var leftovers: [String] { (try? FileManager.default.contentsOfDirectory(atPath: downloads.path)) ?? [] }

    /// Files are removed after the completion, on a thread of their own.
    func isEmptyAtLast() async throws {
        try await eventually { self.leftovers.isEmpty }
    }
}

/// How a download ended.
struct DownloadOutcome: Sendable {
    let url: URL?
    let contents: Data?
    let response: HTTPURLResponse?
    let error: URLError?

    init(_ url: URL?, _ response: URLResponse?, _ error: (any Error)?) {
        self.url = url
        contents = url.flatMap { try? Data(contentsOf: $0) }
        self.response = response as? HTTPURLResponse
        self.error = error as? URLError
    }

    var status: Int? { response?.statusCode }
    var code: Int? { error?.code.rawValue }
    var resumeData: Data? { error?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data }
}

/// Completion handlers of downloads that write down what they get, while the file is there.
final class DownloadOutcomes: Sendable {
    let all = Watched<[DownloadOutcome]>([])

    var handler: @Sendable (URL?, URLResponse?, (any Error)?) -> Void {
        { [all] url, response, error in
            let outcome = DownloadOutcome(url, response, error)
            all.change { $0.append(outcome) }
        }
    }

    func first() async throws -> DownloadOutcome { try await all.wait("a completion") { !$0.isEmpty }[0] }
}

extension URLSession {
    func download(_ request: URLRequest) async throws -> DownloadOutcome {
        let outcomes = DownloadOutcomes()
        downloadTask(with: request, completionHandler: outcomes.handler).resume()
        return try await outcomes.first()
    }

    func download(_ url: URL) async throws -> DownloadOutcome { try await download(URLRequest(url: url)) }

    func goingOn(with resumeData: Data) async throws -> DownloadOutcome {
        let outcomes = DownloadOutcomes()
        downloadTask(withResumeData: resumeData, completionHandler: outcomes.handler).resume()
        return try await outcomes.first()
    }

    /// A session whose downloads gather in a folder of the test's own.
    static func downloading(
        to folder: ScratchFolder,
        delegate: (any URLSessionDelegate)? = nil,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        loopback(delegate: delegate) {
            $0.temporaryFolder = folder.url
            configure($0)
        }
    }
}

/// A delegate that writes down what it hears of downloads, in order.
final class DownloadLog: URLSessionDownloadDelegate, URLSessionDataDelegate {
    enum Event: Hashable {
        case response(Int)
        case became
        case resumed(Int64, of: Int64)
        case wrote(Int64, of: Int64)
        case file(Int)
        case metrics
        case completed(Int?)
        case invalid
    }

    let events = Watched<[Event]>([])
    let contents = Lock<Data?>(nil)
    let permissions = Lock<Int?>(nil)
    let error = Lock<URLError?>(nil)
    private let disposition: URLSession.ResponseDisposition
    private let hook: @Sendable (Event, URLSessionTask?) -> Void

    init(
        disposition: URLSession.ResponseDisposition = .allow,
        hook: @escaping @Sendable (Event, URLSessionTask?) -> Void = { _, _ in }
    ) {
        self.disposition = disposition
        self.hook = hook
    }

    private func note(_ event: Event, _ task: URLSessionTask? = nil) {
        events.change { $0.append(event) }
        hook(event, task)
    }

    @discardableResult
    func finished() async throws -> [Event] {
        try await events.wait("the end") { events in
            events.contains { if case .completed = $0 { true } else { false } }
        }
    }

    /// Everything but progress, which comes in pieces of any size.
    var steps: [Event] { events.value.filter { if case .wrote = $0 { false } else { true } } }
    var progress: [Event] { events.value.filter { if case .wrote = $0 { true } else { false } } }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note(.invalid)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error.withLock { $0 = error as? URLError }
        note(.completed((error as? URLError)?.code.rawValue), task)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note(.metrics, task)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note(.response((response as? HTTPURLResponse)?.statusCode ?? 0), dataTask)
        completionHandler(disposition)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome downloadTask: URLSessionDownloadTask
    ) {
        note(.became, downloadTask)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let contents = try? Data(contentsOf: location)
        let attributes = try? FileManager.default.attributesOfItem(atPath: location.path)
        self.contents.withLock { $0 = contents }
        permissions.withLock { $0 = (attributes?[.posixPermissions] as? NSNumber)?.intValue }
        note(.file(contents?.count ?? -1), downloadTask)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        note(.wrote(totalBytesWritten, of: totalBytesExpectedToWrite), downloadTask)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        note(.resumed(fileOffset, of: expectedTotalBytes), downloadTask)
    }
}
