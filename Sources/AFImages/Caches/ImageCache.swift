/// Keeps images by names of your choice.
///
/// Every method may be called from any thread; what was added is found by whoever asks later.
public protocol ImageCache: AnyObject, Sendable {
    /// Keeps an image, in the place of the one of the same name.
    func add(_ image: Image, withIdentifier identifier: String)

    /// Lets go of an image.
    ///
    /// - Returns: Whether there was one of that name.
    @discardableResult
    func removeImage(withIdentifier identifier: String) -> Bool

    /// Lets go of all images.
    ///
    /// - Returns: Whether there was any.
    @discardableResult
    func removeAllImages() -> Bool

    /// The image of a name; nil if there is none.
    func image(withIdentifier identifier: String) -> Image?
}
