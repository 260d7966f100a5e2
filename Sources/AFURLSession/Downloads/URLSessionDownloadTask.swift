import AFLoop
import AFWire
public import Foundation

typealias DownloadCompletion = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

// Unchecked like its superclass.
/// A task whose response body goes to a file.
///
/// The session makes the file in its folder for temporary files, for your user alone. The file is yours until the
/// callback that names it has returned; move it to keep it. A file that is not moved, not complete, or has no receiver
/// is removed. The body is stored whatever the status of the response.
///
/// When a download fails whose response had a strong entity tag or a reliable date, the bytes that arrived are kept for
/// seven days, and the error's `userInfo` has resume data under ``NSURLSessionDownloadTaskResumeData``. Resume data
/// contains the request with its fields: protect it like those. It does not contain what cannot be written down:
/// ``/AFURLSession/AFURLTypes/URLRequest/requestInterceptors`` of the request itself, and properties that a ``URLProtocol`` has set.
public final class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// A task that loads `request` as a whole.
    convenience init(
        _ request: URLRequest,
        _ identifier: Int,
        in session: URLSession,
        _ receiver: DownloadConsumer.Receiver
    ) {
        self.init(request, identifier, in: session, receiver, after: .nothing)
    }

    /// A task that resumes a part.
    convenience init(
        resuming data: Data,
        _ identifier: Int,
        in session: URLSession,
        _ receiver: DownloadConsumer.Receiver
    ) {
        do throws(ResumeRecord.Flaw) {
            let record = try ResumeRecord(data)
            guard let request = record.request else { throw .damaged }
            let restRequest = record.restRequest(of: request)
            let rest = Result { () throws(RequestRejection) in
                try RequestFreezer.freeze(restRequest, defaults: session.headers)
            }
            let part = EarlierPart(record: record, data: data, rest: rest, restRequest: restRequest)
            self.init(request, identifier, in: session, receiver, after: .part(part))
        } catch {
            self.init(.unknown, identifier, in: session, receiver, after: .flawed(error))
        }
    }

    private init(
        _ request: URLRequest,
        _ identifier: Int,
        in session: URLSession,
        _ receiver: DownloadConsumer.Receiver,
        after origin: DownloadConsumer.Origin
    ) {
        super.init(
            request,
            identifier,
            in: session,
            consumer: DownloadConsumer(receiver, after: origin),
            receiver.completionWithoutFile
        )
    }

    /// A task that takes the place of a data task.
    override init(continuing other: URLSessionTask, _ identifier: Int) {
        super.init(continuing: other, identifier)
    }

    /// Cancels the task and keeps the bytes that have arrived, to be resumed later.
    ///
    /// The task completes with `URLError.cancelled`, whose `userInfo` has the same resume data. If the whole body had
    /// arrived already, it completes with its file instead.
    ///
    /// - Parameter completionHandler: Called once, on the delegate queue, before the completion of the task: with
    ///   resume data for ``URLSession/downloadTask(withResumeData:)``, or with nil if the download cannot be resumed:
    ///   nothing has arrived, the task has ended, the request was no plain GET, the response had neither a strong
    ///   entity tag nor a reliable date, or the disk has not saved the part within a minute.
    @preconcurrency
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        cancel(for: ResumeReceiver(handler: completionHandler, isAwaited: false))
    }

    /// As ``cancel(byProducingResumeData:)``, but independent of the delegate queue.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(for: ResumeReceiver(handler: { continuation.resume(returning: $0) }, isAwaited: true))
        }
    }

    private func cancel(for receiver: ResumeReceiver) {
        let wasAlive = snapshot.withLock { $0.life.cancel() }
        guard session.world.unavailability() == nil else {
            if wasAlive { fail() }
            return receiver.handler(nil)
        }
        session.world.loop.enqueue { [self] in core.value.cancel(self, keepingFor: receiver) }
    }

    private func fail() {
        if let reason = session.world.unavailability() { failHere(reason) }
    }
}

extension DownloadConsumer.Receiver {
    /// Reports an error in processes that have no loop.
    var completionWithoutFile: DataCompletion? {
        switch self {
        case .delegate: nil
        case .handler(let handler), .waiter(let handler): { _, response, error in handler(nil, response, error) }
        }
    }
}

/// The key in the `userInfo` of a failed download's error for the `Data` with which
/// ``URLSession/downloadTask(withResumeData:)`` resumes it.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

/// The same key under its other name.
public let URLSessionDownloadTaskResumeData = NSURLSessionDownloadTaskResumeData

/// Receives the files of download tasks that have no completion handler.
///
/// For each task, in this order: ``urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)`` if it was resumed,
/// progress, the file, metrics, completion.
@preconcurrency
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// The download is complete. Its file is at `location` until this method returns: move it, or open it, before.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    )

    /// The session has written more bytes of the body to the file, `totalBytesWritten` in all.
    /// `totalBytesExpectedToWrite` is `NSURLSessionTransferSizeUnknown` if the response does not say.
    ///
    /// Not called for every write if the delegate is slower than the disk; the numbers still add up.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    )

    /// The server resumes an earlier download. Not called if the download has started over.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    )
}

extension URLSessionDownloadDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        session.noteMissing(.wroteDownload, in: self)
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        session.noteMissing(.resumedDownload, in: self)
    }
}
