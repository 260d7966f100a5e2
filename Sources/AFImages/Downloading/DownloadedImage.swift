import Foundation

/// An image, and where it comes from.
public struct DownloadedImage: Sendable {
    /// The image.
    public let image: Image
    /// The request that was made first, if several waited for one download.
    public let request: URLRequest
    /// The response it came with; nil for one from the image cache. Its status is 206 if the download went on with a
    /// part that was there.
    public let response: URLResponse?
}
