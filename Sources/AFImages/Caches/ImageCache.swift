import AFNetworking

/// Keeps images by names of your choice.
///
/// Every method may be called from any thread; every later call finds an image that was added.
public protocol ImageCache: AnyObject, Sendable {
    /// Keeps an image, in the place of the one of the same name.
    func add(_ image: Image, withIdentifier identifier: String)

    /// Removes an image.
    ///
    /// - Returns: Whether there was one of that name.
    @discardableResult
    func removeImage(withIdentifier identifier: String) -> Bool

    /// Removes all images.
    ///
    /// - Returns: Whether there was any.
    @discardableResult
    func removeAllImages() -> Bool

    /// The image of a name; nil if there is none.
    func image(withIdentifier identifier: String) -> Image?
}
