/// Width and height in pixels.
public struct PixelSize: Sendable, Hashable, Codable, CustomStringConvertible {
    /// How many pixels there are in a row.
    public var width: Int
    /// How many rows there are.
    public var height: Int

    /// A width and a height in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// As `850×300`.
    public var description: String { "\(width)×\(height)" }

    var exchanged: PixelSize { PixelSize(width: height, height: width) }
}

/// What a file says about its picture before anything of it is decoded.
public struct ImageHeader: Sendable, Hashable {
    /// The format.
    public var format: ImageFormat
    /// Width and height as they are stored, before the picture is turned.
    public var storedSize: PixelSize
    /// How it is stored.
    public var orientation: ImageOrientation
    /// How many pictures there are, one after another in time; 1 unless it moves.
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
