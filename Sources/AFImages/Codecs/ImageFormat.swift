import Foundation

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

extension ImageFormat {
    /// How many bytes are read to recognize a format.
    static let sniffedBytes = 32

    /// Formats by their signatures, without asking decoders.
    static func recognized(_ start: Data) -> ImageFormat? {
        start.withUnsafeBytes { bytes in
            let reader = ByteReader(bytes)
            return signatures.first { $0.matches(reader) }?.format ?? container(reader)
        }
    }

    private struct Signature: Sendable {
        let format: ImageFormat
        let matches: @Sendable (ByteReader) -> Bool

        init(format: ImageFormat, matches: @escaping @Sendable (inout ByteReader) -> Bool) {
            self.format = format
            self.matches = { reader in
                var reader = reader
                return matches(&reader)
            }
        }
    }

    private static let signatures = [
        Signature(format: .png) { $0.byte() == 0x89 && $0.take("PNG\r\n\u{1A}\n") },
        Signature(format: .jpeg) { $0.byte() == 0xFF && $0.byte() == 0xD8 && $0.byte() == 0xFF },
        Signature(format: .gif) { $0.take("GIF87a") || $0.take("GIF89a") },
        Signature(format: .webp) { $0.take("RIFF") && $0.skip(4) && $0.take("WEBP") },
        // The four bytes after the length are reserved; two letters alone would be weak.
        Signature(format: .bmp) { $0.take("BM") && $0.skip(4) && $0.little32() == 0 },
        Signature(format: .ico) {
            $0.little16() == 0 && [1, 2].contains($0.little16()) && $0.little16().map { $0 > 0 } == true
        },
        Signature(format: .tiff) { $0.take("II*\0") || $0.take("MM\0*") },
        Signature(format: .jpegXL) { $0.byte() == 0xFF && $0.byte() == 0x0A },
        Signature(format: .jpegXL) { $0.big32() == 12 && $0.take("JXL ") },
        Signature(format: .svg) { $0.take("<svg") },
    ]

    /// The formats that are in a file as films are.
    private static func container(_ reader: ByteReader) -> ImageFormat? {
        var reader = reader
        guard reader.skip(4), reader.take("ftyp") else { return nil }
        if reader.take("avif") || reader.take("avis") { return .avif }
        let brands: [StaticString] = ["heic", "heix", "heim", "heis", "hevc", "mif1", "msf1"]
        let isHEIF = brands.contains { reader.take($0) }
        return isHEIF ? .heif : nil
    }
}
