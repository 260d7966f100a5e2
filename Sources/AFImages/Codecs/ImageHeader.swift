import CAFImageCodecs

/// The header of a file: what it says about its picture before anything is decoded.
public struct ImageHeader: Sendable, Hashable {
    /// The format.
    public var format: ImageFormat
    /// Width and height as they are stored, before the picture is turned.
    public var storedSize: PixelSize
    /// How it is stored.
    public var orientation: ImageOrientation
    /// How many pictures there are, one after another in time; 1 unless it is animated.
    public var frameCount: Int

    /// A header for a decoder to return.
    public init(
        format: ImageFormat,
        storedSize: PixelSize,
        orientation: ImageOrientation = .up,
        frameCount: Int = 1
    ) {
        self.format = format
        self.storedSize = storedSize
        self.orientation = orientation
        self.frameCount = frameCount
    }

    /// Width and height as the picture is to be shown.
    public var shownSize: PixelSize { orientation.exchangesSides ? storedSize.exchanged : storedSize }
}

extension Image {
    /// The picture as it is to be shown.
    func turned(from orientation: ImageOrientation) throws(ImageError) -> Image {
        guard orientation != .up else { return self }
        let (width, height) = (self.width, self.height)
        let turned = try PixelStorage(byteCount: byteCount) { target throws(ImageError) in
            withUnsafeBytes { source in
                caf_pixels_orient(source.baseAddress, target.baseAddress, width, height, Int32(orientation.rawValue))
            }
        }
        return Image(
            width: orientation.exchangesSides ? height : width,
            height: orientation.exchangesSides ? width : height,
            scale: scale,
            alpha: alpha,
            format: format,
            storage: turned
        )
    }
}
