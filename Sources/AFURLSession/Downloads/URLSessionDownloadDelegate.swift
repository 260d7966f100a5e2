public import Foundation

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
