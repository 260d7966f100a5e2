import AFNetworking

/// The state of an image view that loads images.
@MainActor public final class ImageLoading {
    /// The downloader of all views whose class has none: ``ImageDownloader/shared``, unless set.
    public static var sharedImageDownloader: ImageDownloader = .shared
    static var ofClasses: [ObjectIdentifier: ImageDownloader] = [:]

    let slot = ImageSlot()

    /// The downloader of this view; nil, as it is at first, for ``ImageDisplaying/sharedImageDownloader`` of its class.
    public var imageDownloader: ImageDownloader?

    /// For a new view.
    public nonisolated init() {}

    /// The receipt of the image that loads; nil if none does.
    public var activeReceipt: ImageDownloadReceipt? { slot.receipt }
}
