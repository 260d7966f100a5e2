public import Foundation

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
/// ``/AFURLSession/AFURLTypes/URLRequest/requestInterceptors`` of the request itself, and properties that a
/// ``URLProtocol`` has set.
public final class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    init(
        _ request: URLRequest,
        identifier: Int,
        in session: URLSession,
        consumer: sending any TaskConsumer,
        completion: DataCompletion?
    ) {
        super.init(request, identifier: identifier, in: session, consumer: consumer, completion: completion)
    }

    /// A task that takes the place of a data task.
    override init(continuing other: URLSessionTask, identifier: Int) {
        super.init(continuing: other, identifier: identifier)
    }
}

/// The key in the `userInfo` of a failed download's error for the `Data` with which
/// ``URLSession/downloadTask(withResumeData:)`` resumes it.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

/// The same key under its other name.
public let URLSessionDownloadTaskResumeData = NSURLSessionDownloadTaskResumeData

/// Receives the files of download tasks that have no completion handler.
///
/// For each task, in this order: ``urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)`` if it was
/// resumed, progress, the file, metrics, completion.
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
