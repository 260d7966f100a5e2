public import Foundation

/// Receives what a ``URLConnection`` loads as a file. Every method has an implementation.
///
/// For a delegate of this kind the body goes to a file as it arrives. One that is a ``URLConnectionDataDelegate`` too
/// gets data, and no file.
@preconcurrency
public protocol URLConnectionDownloadDelegate: URLConnectionDelegate {
    /// More of the body was written to the file. `expectedTotalBytes` is -1 if the response does not say.
    func connection(
        _ connection: URLConnection,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        expectedTotalBytes: Int64
    )

    /// The download is complete and lies at `destinationURL`, for as long as this method runs: move it, or open it,
    /// before you return. The last call.
    func connectionDidFinishDownloading(_ connection: URLConnection, destinationURL: URL)
}

extension URLConnectionDownloadDelegate {
    /// Does nothing.
    public func connection(
        _ connection: URLConnection,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        expectedTotalBytes: Int64
    ) {}

    /// Does nothing: the file is lost.
    public func connectionDidFinishDownloading(_ connection: URLConnection, destinationURL: URL) {}
}
