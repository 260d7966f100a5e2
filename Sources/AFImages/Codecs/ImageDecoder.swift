import CAFImageCodecs
public import Foundation

/// Decodes pictures of one format.
///
/// Register one of your own with ``ImageDecoders/register(_:)``, for a format that is not decoded, or in place of the
/// decoder of one that is. Its methods are called on any thread, for several pictures at once. They must not trap on
/// any bytes: a server may send anything.
public protocol ImageDecoder: Sendable {
    /// The format it decodes.
    var format: ImageFormat { get }

    /// Whether a file is of this format.
    ///
    /// - Parameter start: The first 32 bytes, or all there are.
    func recognizes(_ start: Data) -> Bool

    /// Reads what the file says about its picture, and decodes nothing.
    ///
    /// - Parameter data: The file; its first index is 0, and it is not empty.
    func header(of data: Data) throws(ImageError) -> ImageHeader

    /// Decodes the picture, or the first frame of it.
    ///
    /// - Parameters:
    ///   - data: The file, as above.
    ///   - header: What ``header(of:)`` returned; its dimensions have been found to be within the limits.
    ///   - options: The limits. The target size is to be taken as that of the stored picture, and may be ignored.
    /// - Returns: The picture as it is stored: turning it is not the decoder's task. Its scale is ignored.
    func decode(_ data: Data, header: ImageHeader, options: ImageDecodingOptions) throws(ImageError) -> Image

    /// Decodes all frames; by default, the only one.
    ///
    /// The number of frames that the header says has been found to be within the limits.
    func decodeFrames(
        _ data: Data,
        header: ImageHeader,
        options: ImageDecodingOptions
    ) throws(ImageError) -> [ImageFrame]
}

extension ImageDecoder {
    /// The only frame, which is shown for no time in particular.
    public func decodeFrames(
        _ data: Data,
        header: ImageHeader,
        options: ImageDecodingOptions
    ) throws(ImageError) -> [ImageFrame] {
        [ImageFrame(image: try decode(data, header: header, options: options), delay: .zero)]
    }
}

/// A picture of several that are shown one after another.
public struct ImageFrame: Sendable, Equatable {
    /// The whole picture, not only what changes.
    public let image: Image
    /// How long it is shown.
    public let delay: Duration

    /// A frame for a decoder to return.
    public init(image: Image, delay: Duration) {
        self.image = image
        self.delay = delay
    }
}

extension ImageFrame {
    /// A frame as codecs compose it; one that is shown for less than 20 ms is shown for 100, as browsers have it.
    init(_ size: PixelSize, storage: PixelStorage, format: ImageFormat, delay: Duration) {
        let isOpaque = storage.withBytes { bytes in
            caf_pixels_are_opaque(bytes.baseAddress, bytes.count / 4) != 0
        }
        self.init(
            image: Image(size: size, alpha: isOpaque ? .opaque : .straight, format: format, storage: storage),
            delay: delay < .milliseconds(20) ? .milliseconds(100) : delay
        )
    }
}
