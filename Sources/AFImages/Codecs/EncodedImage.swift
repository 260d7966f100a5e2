public import Foundation

/// A picture in its file format, of which only the header has been read.
///
/// Whether it can be decoded is known only when it has been: a file may be damaged anywhere.
///
/// ```swift
/// let file = try EncodedImage(data)
/// print(file.header.format, file.header.shownSize)
/// let image = try file.decode()
/// ```
public struct EncodedImage: Sendable {
    /// The file.
    public let data: Data
    /// What it says about the picture.
    public let header: ImageHeader
    /// How many pixels there are to a point, in either direction.
    public let scale: Double
    /// The limits it was found to be within, and the size it will be decoded at.
    public let options: ImageDecodingOptions

    private let decoder: any ImageDecoder

    /// Finds out the format of a file, by its first bytes, and reads its header.
    ///
    /// - Parameters:
    ///   - data: The file.
    ///   - scale: How many pixels there are to a point, from 0.001 to 1000.
    ///   - options: The limits it must be within.
    /// - Throws: If it is no picture that can be decoded, or beyond a limit.
    public init(_ data: Data, scale: Double = 1, options: ImageDecodingOptions = .init()) throws(ImageError) {
        try Image.check(scale: scale)
        try options.check(byteCount: data.count)
        // Slices have the indices of what they were cut from.
        let data = data.startIndex == 0 ? data : Data(data)
        guard let decoder = ImageDecoders.decoder(for: data.prefix(ImageFormat.sniffedBytes)) else {
            throw ImageFormat.undecodable(data)
        }
        let header = try decoder.header(of: data)
        try options.check(header)
        self.data = data
        self.header = header
        self.scale = scale
        self.options = options
        self.decoder = decoder
    }

    /// Decodes the picture, or the first frame of an animated one, and turns it as it is to be shown.
    ///
    /// Blocks the calling thread while it decodes; ``ImageDecodingQueue`` has threads for it.
    ///
    /// - Throws: If it is damaged, cut off or of a variant that is not decoded, or if there is no memory.
    public func decode() throws(ImageError) -> Image {
        let stored = options.stored(header.orientation)
        try options.check(header.storedSize, format: header.format)
        return try finished(decoder.decode(data, header: header, options: stored))
    }

    /// Decodes all frames of an animated picture, or the only one of any other.
    ///
    /// - Throws: As ``decode()``, and if all frames together are beyond a limit.
    public func decodeFrames() throws(ImageError) -> [ImageFrame] {
        let stored = options.stored(header.orientation)
        try options.check(header.storedSize, frames: header.frameCount, format: header.format)
        let frames = try decoder.decodeFrames(data, header: header, options: stored)
        var finished: [ImageFrame] = []
        for frame in frames { finished.append(ImageFrame(image: try self.finished(frame.image), delay: frame.delay)) }
        return finished
    }

    private func finished(_ image: Image) throws(ImageError) -> Image {
        let turned = options.appliesOrientation ? try image.turned(from: header.orientation) : image
        return turned.scaled(scale)
    }

    /// An estimate of the memory that ``decode()`` takes.
    var cost: Int {
        Self.cost([header.storedSize.width, header.storedSize.height, 4, header.orientation == .up ? 1 : 2])
    }

    /// An estimate of the memory that ``decodeFrames()`` takes.
    var costOfFrames: Int { Self.cost([cost, header.frameCount]) }

    /// The product of the factors, or the largest number if it overflows.
    private static func cost(_ factors: [Int]) -> Int {
        factors.reduce(1) { product, factor in
            let (next, overflows) = product.multipliedReportingOverflow(by: factor)
            return overflows ? Int.max : next
        }
    }
}

extension Image {
    /// Decodes a picture, or the first frame of an animated one.
    ///
    /// Blocks the calling thread while it decodes; ``ImageDecodingQueue`` has threads for it.
    ///
    /// - Parameters:
    ///   - data: A file in a format of ``ImageDecoders/formats``, which its first bytes tell.
    ///   - scale: How many pixels there are to a point, from 0.001 to 1000.
    ///   - options: The limits, and the size to decode at.
    /// - Throws: If it is no picture that can be decoded, damaged, cut off, or beyond a limit. The part that was
    ///   decoded until then is lost.
    public static func decode(
        _ data: Data,
        scale: Double = 1,
        options: ImageDecodingOptions = .init()
    ) throws(ImageError) -> Image {
        try EncodedImage(data, scale: scale, options: options).decode()
    }
}
