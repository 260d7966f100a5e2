public import AFNetworking
public import Foundation

/// A view that shows an image, and can load it.
///
/// A view of any toolkit becomes one with two properties:
///
/// ```swift
/// final class Picture: Widget, ImageDisplaying {
///     let imageLoading = ImageLoading()
///     var image: Image? { didSet { redraw() } }
/// }
///
/// picture.setImage(with: url, placeholderImage: grey)
/// ```
///
/// **Which image is shown.** The one that was asked for last: an answer to an earlier request is dropped, and its
/// closures are not called. The same URL again, while it loads, changes nothing; the new closures are dropped. An image
/// that is in the image cache is shown before the call returns, whatever the request's cache policy.
@MainActor public protocol ImageDisplaying: AnyObject {
    /// What is shown.
    var image: Image? { get set }

    /// Loads the image: a constant, made with the view.
    var imageLoading: ImageLoading { get }
}

extension ImageDisplaying {
    /// The downloader of the views of this class without one of their own: ``ImageLoading/sharedImageDownloader``, unless
    /// set. That of one class is not that of its subclasses.
    public static var sharedImageDownloader: ImageDownloader {
        get { ImageLoading.ofClasses[ObjectIdentifier(self)] ?? ImageLoading.sharedImageDownloader }
        set { ImageLoading.ofClasses[ObjectIdentifier(self)] = newValue }
    }

    /// Loads the image at a URL, with the field `Accept: image/*`.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - placeholderImage: Shown until the image is there; nil leaves what is shown.
    public func setImage(with url: URL, placeholderImage: Image? = nil) {
        setImage(with: URLRequest(imageAt: url), placeholderImage: placeholderImage, success: nil, failure: nil)
    }

    /// Loads an image.
    ///
    /// - Parameters:
    ///   - request: What to load. Without a URL the placeholder is shown, and the failure closure called, before this
    ///     returns.
    ///   - placeholderImage: Shown until the image is there; nil leaves what is shown.
    ///   - success: Called instead of showing the image: the closure has to show it. The response is nil for an image
    ///     from the image cache.
    ///   - failure: Called when there is no image; what is shown stays.
    @preconcurrency
    public func setImage(
        with request: URLRequest,
        placeholderImage: Image?,
        success: ImageDownloader.Success?,
        failure: ImageDownloader.Failure?
    ) {
        imageLoading.slot.load(
            ImageSlot.Order(request: request, placeholder: placeholderImage, success: success, failure: failure),
            by: imageLoading.imageDownloader ?? type(of: self).sharedImageDownloader
        ) { [weak self] image in
            self?.image = image
        }
    }

    /// Cancels the latest request of the view. Its closures are not called.
    public func cancelImageDownloadTask() {
        imageLoading.slot.cancel()
    }
}
