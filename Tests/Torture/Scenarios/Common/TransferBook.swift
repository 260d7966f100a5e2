import AFBase
import AFLoop
import AFTorture
import AFURLSession
import Foundation

/// A delegate for bodies that go up and files that come down: brings streams, and looks at how progress is told.
final class TransferBook: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    let entries = EventEntries()
    let progress = ProgressEntries()
    private let stream: (@Sendable () -> InputStream?)?
    private let became = Lock<[Int: (completion: Completion<(any Error)?>, task: URLSessionTask)]>([:])
    private let disposition: URLSession.ResponseDisposition

    /// - Parameters:
    ///   - disposition: What is to become of each response.
    ///   - stream: Makes a body for a task that asks for one.
    init(_ disposition: URLSession.ResponseDisposition = .allow, stream: (@Sendable () -> InputStream?)? = nil) {
        self.disposition = disposition
        self.stream = stream
    }

    /// Starts a task without a completion handler, and waits for its end.
    ///
    /// - Returns: The body, of the events or of the file.
    /// - Throws: What it ended with.
    func outcome(of task: URLSessionTask, on stage: Stage) async throws -> Data {
        let completion = stage.completion(of: "task \(task.taskIdentifier)", as: (any Error)?.self)
        let number = task.taskIdentifier
        became.withLock { $0[number] = (completion, task) }
        entries.expect(task, completion)
        task.resume()
        if let error = await completion.value() { throw error }
        return entries.body(of: became.withLock { $0[number]?.task } ?? task)
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { entries.end() }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        entries.enter(.completed, task, error)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        entries.enter(.metrics, task)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(stream?())
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        entries.enter(.progress, task)
        progress.tell(.up, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        entries.enter(.response, dataTask)
        completionHandler(disposition)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome downloadTask: URLSessionDownloadTask
    ) {
        let completion = became.withLock { became in
            became[dataTask.taskIdentifier]?.task = downloadTask
            return became[dataTask.taskIdentifier]?.completion
        }
        if let completion { entries.expect(downloadTask, completion) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        entries.enter(.data(data), dataTask)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        entries.enter(.file((try? Data(contentsOf: location)) ?? Data()), downloadTask)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        entries.enter(.progress, downloadTask)
        progress.tell(.down, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        entries.enter(.progress, downloadTask)
        progress.goOn(downloadTask, at: fileOffset)
    }
}

extension Stage {
    /// A delegate for bodies that go up and files that come down.
    func transferBook(
        _ disposition: URLSession.ResponseDisposition = .allow,
        stream: (@Sendable () -> InputStream?)? = nil
    ) -> TransferBook {
        let book = TransferBook(disposition, stream: stream)
        keep(book.entries)
        keep(book.progress)
        return book
    }
}
