/// The limits for pictures, which servers choose, and the size they are decoded at.
///
/// Limits are checked before anything is decoded or allocated: the header of a file is enough to refuse it.
public struct ImageDecodingOptions: Sendable, Hashable, Codable {
    /// The most bytes a file may have: 256 MiB.
    public var maximumInputBytes = 256 << 20
    /// The most pixels a stored picture may have: 100 million.
    public var maximumPixels = 100_000_000
    /// The longest side a stored picture may have, in pixels: 32,767.
    public var maximumDimension = 32_767
    /// The most memory that the pixels may take at the size they are stored in, all frames together: 512 MiB. A decoder
    /// may need as much again while it works.
    public var maximumDecodedBytes = 512 << 20
    /// The most frames that ``EncodedImage/decodeFrames()`` decodes: 1,000.
    public var maximumFrames = 1_000

    /// Dimensions that are enough, in pixels of the picture as it is shown; nil, as it is here, for all there are.
    ///
    /// Where the format can be decoded at a smaller size with less work, the result is the smallest that covers this
    /// one and has the proportions of the picture. JPEG knows a half, a quarter and an eighth of its size, WebP any
    /// size unless it is animated; all others are decoded as they are. No picture is made larger.
    public var targetSize: PixelSize?

    /// Whether pictures are turned as their Exif data say. They are.
    public var appliesOrientation = true

    /// The limits above, at full size.
    public init() {}

    /// Reads options that were encoded; what is missing is as in new ones.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys, place: WritableKeyPath<Self, Value>) throws {
            if let value = try values.decodeIfPresent(Value.self, forKey: key) { self[keyPath: place] = value }
        }
        try read(.maximumInputBytes, place: \.maximumInputBytes)
        try read(.maximumPixels, place: \.maximumPixels)
        try read(.maximumDimension, place: \.maximumDimension)
        try read(.maximumDecodedBytes, place: \.maximumDecodedBytes)
        try read(.maximumFrames, place: \.maximumFrames)
        targetSize = try values.decodeIfPresent(PixelSize.self, forKey: .targetSize)
        try read(.appliesOrientation, place: \.appliesOrientation)
    }
}

extension ImageDecodingOptions {
    func check(byteCount: Int) throws(ImageError) {
        guard byteCount > 0 else { throw ImageError(.empty, text: "There is no picture in an empty body") }
        guard byteCount <= maximumInputBytes else {
            throw .limit(
                "A picture of \(byteCount) bytes is more than maximumInputBytes, \(maximumInputBytes)",
                format: nil
            )
        }
    }

    /// - Throws: If a picture has no pixels, or more than it may, or is longer.
    func check(_ header: ImageHeader) throws(ImageError) {
        let (size, format) = (header.storedSize, header.format)
        guard size.width > 0, size.height > 0 else {
            throw ImageError(.malformed, format: format, text: "A \(format) picture of \(size) pixels has none")
        }
        guard max(size.width, size.height) <= maximumDimension else {
            throw .limit(
                "A \(format) picture of \(size) pixels is longer than maximumDimension, \(maximumDimension)",
                format: format
            )
        }
        let (pixels, overflows) = size.width.multipliedReportingOverflow(by: size.height)
        guard !overflows, pixels <= maximumPixels else {
            throw .limit(
                "A \(format) picture of \(size) pixels has more than maximumPixels, \(maximumPixels)",
                format: format
            )
        }
    }

    /// - Throws: If so many frames of such a size take more memory than they may.
    func check(_ size: PixelSize, frames: Int = 1, format: ImageFormat) throws(ImageError) {
        guard frames <= maximumFrames else {
            throw .limit(
                "A \(format) picture with \(frames) frames has more than maximumFrames, \(maximumFrames)",
                format: format
            )
        }
        let byteCount = try Image.byteCount(width: size.width, height: size.height)
        let (total, overflows) = byteCount.multipliedReportingOverflow(by: frames)
        guard !overflows, total <= maximumDecodedBytes else {
            let counted = frames == 1 ? "" : "\(frames) frames of "
            throw .limit(
                "A \(format) picture with \(counted)\(size) pixels takes more memory than maximumDecodedBytes, "
                    + "\(maximumDecodedBytes)",
                format: format
            )
        }
    }

    /// The options for a decoder, with the target size of the picture as it is stored.
    func stored(_ orientation: ImageOrientation) -> ImageDecodingOptions {
        guard orientation.exchangesSides, let target = targetSize, appliesOrientation else { return self }
        var options = self
        options.targetSize = target.exchanged
        return options
    }
}

extension ImageError {
    fileprivate static func limit(_ text: String, format: ImageFormat?) -> ImageError {
        ImageError(.limit, format: format, text: text)
    }
}
