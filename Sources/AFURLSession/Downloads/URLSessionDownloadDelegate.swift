public import Foundation

/// Receives the files of download tasks that have no completion handler.
///
/// For each task, in this order: ``urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)`` if it was resumed,
/// progress, the file, metrics, completion.
@preconcurrency
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// The download is complete and lies at `location`, for as long as this method runs:
    /// move it, or open it, before you return.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    )

    /// More of the body was written to the file, in all `totalBytesWritten`. `totalBytesExpectedToWrite` is
    /// `NSURLSessionTransferSizeUnknown` if the response does not say.
    ///
    /// Not called for every write if the delegate is slower than the disk; the numbers add up all the same.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    )

    /// The server goes on where an earlier download ended. Not called if it has begun anew.
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
