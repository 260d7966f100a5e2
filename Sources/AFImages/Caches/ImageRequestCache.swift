public import AFNetworking

/// Keeps images by the requests that they answer. An ``ImageDownloader`` reads and fills it.
///
/// An additional identifier keeps several images of one request apart, as one in its full size and one that was made
/// smaller.
public protocol ImageRequestCache: ImageCache {
    /// Whether an image that has been downloaded is to be kept. Asked by the downloader, not by
    /// ``add(_:for:withAdditionalIdentifier:)``.
    func shouldCache(
        _ image: Image,
        for request: URLRequest,
        withAdditionalIdentifier identifier: String?
    ) -> Bool

    /// Keeps an image, in the place of the one for such a request.
    func add(_ image: Image, for request: URLRequest, withAdditionalIdentifier identifier: String?)

    /// Removes an image.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    func removeImage(for request: URLRequest, withAdditionalIdentifier identifier: String?) -> Bool

    /// The image for a request; nil if there is none.
    func image(for request: URLRequest, withAdditionalIdentifier identifier: String?) -> Image?

    /// How often everything was removed. A downloader does not add an image whose download began at another generation,
    /// so that cleared images do not come back. Always 0 unless a cache implements it.
    var generation: Int { get }
}

extension ImageRequestCache {
    /// True: everything that is downloaded is kept.
    public func shouldCache(
        _ image: Image,
        for request: URLRequest,
        withAdditionalIdentifier identifier: String?
    ) -> Bool { true }

    /// 0.
    public var generation: Int { 0 }
}
