import CAFImageCodecs
public import Foundation

/// A decoded picture: red, green, blue and alpha of each pixel, a byte each, row by row from the top.
///
/// A value that never changes; copies of it share their pixels, and any thread may use them.
///
/// ```swift
/// let image = try Image.decode(data, scale: 2)
/// print(image.width, image.height, image.size, image.byteCount)
/// image.withUnsafeBytes { screen.draw($0, width: image.width, isPremultiplied: image.alpha == .premultiplied) }
/// ```
public struct Image: Sendable {
    /// What the fourth byte of a pixel means.
    @nonexhaustive
    public enum Alpha: Sendable, Hashable {
        /// It is 255 everywhere.
        case opaque
        /// It says how much the pixel covers; the colours are independent of it.
        case straight
        /// It says how much the pixel covers; the colours have been multiplied by it.
        case premultiplied
    }

    /// How many pixels there are in a row.
    public let width: Int
    /// How many rows there are.
    public let height: Int
    /// How many pixels there are to a point, in either direction.
    public let scale: Double
    /// What the fourth byte of each pixel means.
    public let alpha: Alpha
    /// The format of the file it was decoded from; nil if it was made of pixels.
    public let format: ImageFormat?

    private let storage: PixelStorage

    init(width: Int, height: Int, scale: Double, alpha: Alpha, format: ImageFormat?, storage: PixelStorage) {
        self.width = width
        self.height = height
        self.scale = scale
        self.alpha = alpha
        self.format = format
        self.storage = storage
    }

    /// A picture made of pixels, which are copied.
    ///
    /// - Parameters:
    ///   - width: How many pixels there are in a row; at least one.
    ///   - height: How many rows there are; at least one.
    ///   - pixels: Four bytes for each pixel, in rows from the top, without gaps: red, green, blue, alpha.
    ///   - alpha: What the fourth byte means. That it is 255 in an opaque picture is not checked.
    ///   - scale: How many pixels there are to a point, from 0.001 to 1000.
    ///   - format: The format they come from, for a decoder to name.
    /// - Throws: If the number of bytes is not that of the pixels, or the scale is out of bounds, or there is no memory.
    public init(
        width: Int,
        height: Int,
        pixels: some ContiguousBytes,
        alpha: Alpha = .straight,
        scale: Double = 1,
        format: ImageFormat? = nil
    ) throws(ImageError) {
        try Self.check(scale: scale)
        let byteCount = try Self.byteCount(width: width, height: height)
        let storage = pixels.withUnsafeBytes { given in
            Result { () throws(ImageError) in try PixelStorage(copying: given, byteCount: byteCount) }
        }
        self.init(
            width: width,
            height: height,
            scale: scale,
            alpha: alpha,
            format: format,
            storage: try storage.get()
        )
    }

    /// Width and height in points: those in pixels, divided by the scale.
    public var size: CGSize { CGSize(width: Double(width) / scale, height: Double(height) / scale) }

    /// How many bytes the pixels take in memory: four for each.
    public var byteCount: Int { width * height * 4 }

    /// Lends the pixels, without copying them; they must not be used after `body` has returned.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withBytes(body)
    }

    /// Whether the other picture is a copy of this one, and both are in memory once.
    ///
    /// It corresponds to `===` for pictures that are objects.
    public func sharesPixels(with other: Image) -> Bool { storage === other.storage }
}

extension Image: Equatable {
    /// Whether dimensions, scale, format, the meaning of alpha and all bytes are the same.
    public static func == (one: Image, other: Image) -> Bool {
        one.width == other.width && one.height == other.height && one.scale == other.scale
            && one.alpha == other.alpha && one.format == other.format
            && one.storage.hasSameBytes(as: other.storage)
    }
}

extension Image: CustomStringConvertible {
    /// Its dimensions, format and scale, as `PNG 850×300`.
    public var description: String {
        "\(format?.name ?? "image") \(width)×\(height)" + (scale == 1 ? "" : " at \(scale)×")
    }
}

// MARK: - Other forms

extension Image {
    /// The same picture, its colours multiplied by their alpha, which is what drawing over something needs.
    ///
    /// - Throws: If there is no memory. A picture that is opaque or premultiplied already is returned as it is.
    public func premultiplied() throws(ImageError) -> Image {
        guard alpha == .straight else { return self }
        let count = width * height
        let storage = try PixelStorage(byteCount: byteCount) { target throws(ImageError) in
            withUnsafeBytes { source in caf_pixels_premultiply(source.baseAddress, target.baseAddress, count) }
        }
        return Image(
            width: width,
            height: height,
            scale: scale,
            alpha: .premultiplied,
            format: format,
            storage: storage
        )
    }

    /// The same pixels with another number of them to a point, which must be a valid one.
    func scaled(_ scale: Double) -> Image {
        Image(width: width, height: height, scale: scale, alpha: alpha, format: format, storage: storage)
    }
}

// MARK: - Bounds

extension Image {
    /// Scales at which sizes in points are usable numbers.
    static let scales = 0.001...1000

    /// - Throws: If it is none of those.
    static func check(scale: Double) throws(ImageError) {
        guard scales.contains(scale) else {
            throw ImageError(.scale, text: "A picture cannot have the scale \(scale): it must be from 0.001 to 1000")
        }
    }

    /// - Throws: If there are no pixels, or more than can be counted.
    static func byteCount(width: Int, height: Int) throws(ImageError) -> Int {
        guard width > 0, height > 0 else {
            throw ImageError(.dimensions, text: "A picture cannot have \(width)×\(height) pixels")
        }
        let (pixels, isTooLarge) = width.multipliedReportingOverflow(by: height)
        guard !isTooLarge, pixels <= Int.max / 8 else {
            throw ImageError(.dimensions, text: "A picture of \(width)×\(height) pixels has more than can be counted")
        }
        return pixels * 4
    }
}

// MARK: - Sizes

extension PixelStorage {
    /// Room for the pixels of a picture, which was found to be within the limits.
    convenience init(
        size: PixelSize,
        fill: (UnsafeMutableRawBufferPointer) throws(ImageError) -> Void
    ) throws(ImageError) {
        try self.init(byteCount: Image.byteCount(width: size.width, height: size.height), fill: fill)
    }
}

extension Image {
    init(size: PixelSize, alpha: Alpha, format: ImageFormat, storage: PixelStorage) {
        self.init(width: size.width, height: size.height, scale: 1, alpha: alpha, format: format, storage: storage)
    }
}

/// Pixels of one picture, which its copies share and nothing changes.
///
/// Not an array: those end the process when there is no memory, and a server decides how large pictures are.
final class PixelStorage: @unchecked Sendable {
    private let bytes: UnsafeMutableRawBufferPointer

    /// - Parameters:
    ///   - byteCount: How many bytes there are, at least one.
    ///   - fill: Writes all of them.
    /// - Throws: ``ImageError`` of the reason `outOfMemory`, or what `fill` throws.
    init(byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(ImageError) -> Void) throws(ImageError) {
        guard let base = caf_pixels_allocate(byteCount) else { throw ImageError.outOfMemory(byteCount) }
        bytes = UnsafeMutableRawBufferPointer(start: base, count: byteCount)
        try fill(bytes)
    }

    /// A copy of `source`, which must have `byteCount` bytes.
    convenience init(copying source: UnsafeRawBufferPointer, byteCount: Int) throws(ImageError) {
        guard source.count == byteCount else {
            throw ImageError(
                .dimensions,
                text: "The pixels have \(source.count) bytes; width and height make it \(byteCount)"
            )
        }
        try self.init(byteCount: byteCount) { bytes throws(ImageError) in bytes.copyMemory(from: source) }
    }

    deinit {
        caf_pixels_free(bytes.baseAddress)
    }

    /// Lends the bytes.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }

    func hasSameBytes(as other: PixelStorage) -> Bool {
        if self === other { return true }
        guard bytes.count == other.bytes.count else { return false }
        return bytes.elementsEqual(other.bytes)
    }
}
