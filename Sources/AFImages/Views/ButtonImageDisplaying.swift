public import AFNetworking
public import Foundation

/// A button that shows an image and a background image in each of its states, and can load them.
///
/// Each state has two places for images, which load independently, by the rules of ``ImageDisplaying``. Combined and
/// unknown states share the places of the normal one.
@MainActor public protocol ButtonImageDisplaying: AnyObject {
    /// Shows an image, or none, in a state.
    func setImage(_ image: Image?, for state: ControlState)

    /// Shows a background image, or none, in a state.
    func setBackgroundImage(_ image: Image?, for state: ControlState)

    /// Loads the images: a constant, made with the button.
    var buttonImageLoading: ButtonImageLoading { get }
}

extension ButtonImageDisplaying {
    /// The downloader of the buttons of this class without one of their own: ``ButtonImageLoading/sharedImageDownloader``,
    /// unless set. That of one class is not that of its subclasses.
    public static var sharedImageDownloader: ImageDownloader {
        get { ButtonImageLoading.ofClasses[ObjectIdentifier(self)] ?? ButtonImageLoading.sharedImageDownloader }
        set { ButtonImageLoading.ofClasses[ObjectIdentifier(self)] = newValue }
    }

    private var downloader: ImageDownloader {
        buttonImageLoading.imageDownloader ?? type(of: self).sharedImageDownloader
    }

    // MARK: - Images

    /// Loads the image at a URL for a state, with the field `Accept: image/*`.
    ///
    /// - Parameters:
    ///   - state: The state.
    ///   - url: The URL.
    ///   - placeholderImage: Shown until the image is there; nil leaves what is shown.
    public func setImage(for state: ControlState, with url: URL, placeholderImage: Image? = nil) {
        let request = URLRequest(imageAt: url)
        setImage(for: state, with: request, placeholderImage: placeholderImage, success: nil, failure: nil)
    }

    /// Loads an image for a state, as ``ImageDisplaying/setImage(with:placeholderImage:success:failure:)`` does.
    @preconcurrency
    public func setImage(
        for state: ControlState,
        with request: URLRequest,
        placeholderImage: Image?,
        success: ImageDownloader.Success?,
        failure: ImageDownloader.Failure?
    ) {
        let order = ImageSlot.Order(request: request, placeholder: placeholderImage, success: success, failure: failure)
        let slot = buttonImageLoading.slot(.image, state: state)
        slot.load(order, by: downloader) { [weak self] image in
            self?.setImage(image, for: state)
        }
    }

    /// Cancels the request for the image of a state. Its closures are not called.
    public func cancelImageDownloadTask(for state: ControlState) {
        buttonImageLoading.slot(.image, state: state).cancel()
    }

    // MARK: - Background images

    /// Loads the background image at a URL for a state, with the field `Accept: image/*`.
    ///
    /// - Parameters:
    ///   - state: The state.
    ///   - url: The URL.
    ///   - placeholderImage: Shown until the image is there; nil leaves what is shown.
    public func setBackgroundImage(for state: ControlState, with url: URL, placeholderImage: Image? = nil) {
        let request = URLRequest(imageAt: url)
        setBackgroundImage(for: state, with: request, placeholderImage: placeholderImage, success: nil, failure: nil)
    }

    /// Loads a background image for a state, as
    /// ``ImageDisplaying/setImage(with:placeholderImage:success:failure:)`` does.
    @preconcurrency
    public func setBackgroundImage(
        for state: ControlState,
        with request: URLRequest,
        placeholderImage: Image?,
        success: ImageDownloader.Success?,
        failure: ImageDownloader.Failure?
    ) {
        let order = ImageSlot.Order(request: request, placeholder: placeholderImage, success: success, failure: failure)
        let slot = buttonImageLoading.slot(.background, state: state)
        slot.load(order, by: downloader) { [weak self] image in
            self?.setBackgroundImage(image, for: state)
        }
    }

    /// Cancels the request for the background image of a state. Its closures are not called.
    public func cancelBackgroundImageDownloadTask(for state: ControlState) {
        buttonImageLoading.slot(.background, state: state).cancel()
    }
}
