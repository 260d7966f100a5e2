/// A file format of pictures, known by its name.
///
/// ``png``, ``jpeg``, ``webp`` and ``gif`` can be decoded; of the other ones that have a name here, only the name is
/// known, until an ``ImageDecoder`` for them is registered.
public struct ImageFormat: Hashable, Sendable {
    /// The name, in capitals where it is an abbreviation: `PNG`.
    public let name: String

    /// A format with a name of your choice.
    public init(name: String) {
        self.name = name
    }

    /// Portable Network Graphics.
    public static let png = ImageFormat(name: "PNG")
    /// JPEG, also known as JFIF and Exif.
    public static let jpeg = ImageFormat(name: "JPEG")
    /// WebP, with or without loss, and animated.
    public static let webp = ImageFormat(name: "WebP")
    /// Graphics Interchange Format, 87a and 89a.
    public static let gif = ImageFormat(name: "GIF")

    /// Windows bitmaps; not decoded.
    public static let bmp = ImageFormat(name: "BMP")
    /// Windows icons and cursors; not decoded.
    public static let ico = ImageFormat(name: "ICO")
    /// Tagged Image File Format, also known as the raw format of many cameras; not decoded.
    public static let tiff = ImageFormat(name: "TIFF")
    /// High Efficiency Image File Format; not decoded.
    public static let heif = ImageFormat(name: "HEIF")
    /// AV1 Image File Format; not decoded.
    public static let avif = ImageFormat(name: "AVIF")
    /// JPEG XL; not decoded.
    public static let jpegXL = ImageFormat(name: "JPEG XL")
    /// Scalable Vector Graphics; not decoded.
    public static let svg = ImageFormat(name: "SVG")
}

extension ImageFormat: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
