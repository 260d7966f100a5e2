import CAFImageCodecs
import Foundation

/// WebP by libwebp: with and without loss, with alpha, and animated.
struct WebPDecoder: ImageDecoder {
    var format: ImageFormat { .webp }

    func recognizes(_ start: Data) -> Bool { ImageFormat.recognized(start) == .webp }

    // MARK: Header

    func header(of data: Data) throws(ImageError) -> ImageHeader {
        try data.reading { reader throws(ImageError) in
            guard reader.skip(4), let length = reader.little32(), reader.skip(4), length >= 4,
                let chunks = reader.part(length - 4)
            else { throw .cutOff(.webp, data: data) }
            var first = chunks
            if first.take("VP8 ") { return try Self.header(size: Self.lossySize(first)) }
            if first.take("VP8L") { return try Self.header(size: Self.losslessSize(first)) }
            if first.take("VP8X") { return try Self.header(extended: first) }
            throw .damaged(.webp, what: "it does not begin with its dimensions")
        }
    }

    private static func header(size: PixelSize?) throws(ImageError) -> ImageHeader {
        guard let size else { throw .damaged(.webp, what: "it does not say its dimensions") }
        return ImageHeader(format: .webp, storedSize: size)
    }

    private static func lossySize(_ chunk: ByteReader) -> PixelSize? {
        var chunk = chunk
        guard chunk.skip(4 + 3), chunk.byte() == 0x9D, chunk.byte() == 0x01, chunk.byte() == 0x2A,
            let width = chunk.little16(), let height = chunk.little16()
        else { return nil }
        return PixelSize(width: width & 0x3FFF, height: height & 0x3FFF)
    }

    private static func losslessSize(_ chunk: ByteReader) -> PixelSize? {
        var chunk = chunk
        guard chunk.skip(4), chunk.byte() == 0x2F, let bits = chunk.little32() else { return nil }
        return PixelSize(width: 1 + bits & 0x3FFF, height: 1 + (bits >> 14) & 0x3FFF)
    }

    /// The header of a file in the extended format.
    private static func header(extended: ByteReader) throws(ImageError) -> ImageHeader {
        var chunks = extended
        guard let length = chunks.little32(), var first = chunks.part(length + length % 2), let flags = first.byte(),
            first.skip(3), let width = first.little24(), let height = first.little24()
        else { throw .damaged(.webp, what: "it does not say its dimensions") }
        var header = ImageHeader(format: .webp, storedSize: PixelSize(width: width + 1, height: height + 1))
        let frames = try readChunks(chunks, header: &header)
        let isAnimated = flags & 0x02 != 0
        guard !isAnimated || frames > 0 else { throw .damaged(.webp, what: "an animation without frames") }
        header.frameCount = isAnimated ? frames : 1
        return header
    }

    /// - Returns: How many frames there are.
    private static func readChunks(_ chunks: ByteReader, header: inout ImageHeader) throws(ImageError) -> Int {
        var (chunks, frames) = (chunks, 0)
        while chunks.remaining > 0 {
            let (isExif, isFrame) = (chunks.take("EXIF"), chunks.take("ANMF"))
            guard isExif || isFrame || chunks.skip(4), let length = chunks.little32(),
                var content = chunks.part(length), length % 2 == 0 || chunks.skip(1)
            else { throw .damaged(.webp, what: "a part of it is longer than it") }
            if isFrame { frames += 1 }
            guard isExif else { continue }
            // Some programs write the prefix that only JPEG needs.
            _ = content.take("Exif\0\0")
            header.orientation = content.part(content.remaining).flatMap(ImageOrientation.init(exif:)) ?? .up
        }
        return frames
    }

    // MARK: Pixels

    func decode(_ data: Data, header: ImageHeader, options: ImageDecodingOptions) throws(ImageError) -> Image {
        if header.frameCount > 1 || Self.isAnimation(data) {
            return try codec.decode(data, header: header, frames: 1)[0].image
        }
        let (call, stored) = (CodecCall(header: header, data: data), header.storedSize)
        let scaled = Self.covering(options.targetSize, stored: stored)
        let size = scaled ?? stored
        var hasAlpha: Int32 = 0
        let storage = try PixelStorage(size: size) { pixels throws(ImageError) in
            try data.lending { bytes, count throws(ImageError) in
                try call { text, room in
                    caf_webp_decode(
                        bytes,
                        count,
                        UInt32(stored.width),
                        UInt32(stored.height),
                        UInt32(scaled?.width ?? 0),
                        UInt32(scaled?.height ?? 0),
                        pixels.codecBytes,
                        &hasAlpha,
                        text,
                        room
                    )
                }
            }
        }
        return Image(size: size, alpha: hasAlpha == 0 ? .opaque : .straight, format: .webp, storage: storage)
    }

    func decodeFrames(
        _ data: Data,
        header: ImageHeader,
        options: ImageDecodingOptions
    ) throws(ImageError) -> [ImageFrame] {
        guard Self.isAnimation(data) else {
            return [ImageFrame(image: try decode(data, header: header, options: options), delay: .zero)]
        }
        return try codec.decode(data, header: header, frames: header.frameCount)
    }

    private static func isAnimation(_ data: Data) -> Bool {
        data.count > 20 && data.dropFirst(12).prefix(4).elementsEqual("VP8X".utf8) && data[20] & 0x02 != 0
    }

    /// The smallest size with the proportions of a picture that covers the target; nil if that is its own.
    static func covering(_ target: PixelSize?, stored: PixelSize) -> PixelSize? {
        guard let target else { return nil }
        let (width, height) = (max(target.width, 1), max(target.height, 1))
        guard width < stored.width, height < stored.height else { return nil }
        // Dimensions of WebP have 14 bits, those of its animations 24: no product overflows.
        if width * stored.height >= height * stored.width {
            return PixelSize(width: width, height: (width * stored.height + stored.width - 1) / stored.width)
        }
        return PixelSize(width: (height * stored.width + stored.height - 1) / stored.height, height: height)
    }

    private var codec: FrameCodec {
        FrameCodec(
            open: caf_webp_frames_open,
            next: caf_webp_frames_next,
            close: caf_webp_frames_close,
            unit: .milliseconds(1)
        )
    }
}
