public import Foundation

/// Receives what a ``URLConnection`` loads as a file. Every method has a default implementation.
///
/// For such a delegate the connection writes the body to a file as it arrives. A delegate that is also a
/// ``URLConnectionDataDelegate`` gets data, and no file.
@preconcurrency
public protocol URLConnectionDownloadDelegate: URLConnectionDelegate {
    /// The connection has written more of the body to the file. `expectedTotalBytes` is -1 if the response does not
    /// say.
    func connection(
        _ connection: URLConnection,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        expectedTotalBytes: Int64
    )

    /// The download is complete. The file is at `destinationURL` until this method returns: move it, or open it, before
    /// that. This is the last call.
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
