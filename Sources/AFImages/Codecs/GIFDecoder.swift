import CAFImageCodecs
import Foundation

/// GIF by giflib, still and animated.
struct GIFDecoder: ImageDecoder {
    var format: ImageFormat { .gif }

    func recognizes(_ start: Data) -> Bool { ImageFormat.recognized(start) == .gif }

    // MARK: Header

    /// Reads the whole file, block by block: the header does not say how many frames there are, and a file that ends
    /// after its first frame must be found truncated.
    func header(of data: Data) throws(ImageError) -> ImageHeader {
        try data.reading { reader throws(ImageError) in
            guard reader.skip(6), let width = reader.little16(), let height = reader.little16(),
                Self.skipColours(&reader, behind: 2)
            else { throw .cutOff(.gif, data: data) }
            var header = ImageHeader(format: .gif, storedSize: PixelSize(width: width, height: height), frameCount: 0)
            while let block = reader.byte() {
                switch block {
                case 0x21:
                    guard reader.skip(1), Self.skipBlocks(&reader) else { throw .cutOff(.gif, data: data) }
                case 0x2C:
                    guard let size = Self.skipFrame(&reader) else { throw .cutOff(.gif, data: data) }
                    // The work of reading a frame depends on its own size, not on that of the screen.
                    guard size.width * size.height <= width * height else {
                        throw .damaged(
                            .gif,
                            what: "a frame of \(size) pixels is larger than its screen of \(width)×\(height)"
                        )
                    }
                    header.frameCount += 1
                case 0x3B:
                    guard header.frameCount > 0 else { throw .damaged(.gif, what: "it has no frame") }
                    return header
                default:
                    throw .damaged(.gif, what: "a block of an unknown kind")
                }
            }
            throw .cutOff(.gif, data: data)
        }
    }

    /// Skips flags, other bytes, and the table of colours that the flags announce.
    private static func skipColours(_ reader: inout ByteReader, behind others: Int) -> Bool {
        guard let flags = reader.byte(), reader.skip(others) else { return false }
        return flags & 0x80 == 0 || reader.skip(3 << (Int(flags & 0x07) + 1))
    }

    private static func skipBlocks(_ reader: inout ByteReader) -> Bool {
        while let length = reader.byte(), reader.skip(Int(length)) {
            if length == 0 { return true }
        }
        return false
    }

    /// - Returns: Its size.
    private static func skipFrame(_ reader: inout ByteReader) -> PixelSize? {
        guard reader.skip(4), let width = reader.little16(), let height = reader.little16(),
            skipColours(&reader, behind: 0), reader.skip(1), skipBlocks(&reader)
        else { return nil }
        return PixelSize(width: width, height: height)
    }

    // MARK: Pixels

    func decode(_ data: Data, header: ImageHeader, options: ImageDecodingOptions) throws(ImageError) -> Image {
        try codec.decode(data, header: header, frames: 1)[0].image
    }

    func decodeFrames(
        _ data: Data,
        header: ImageHeader,
        options: ImageDecodingOptions
    ) throws(ImageError) -> [ImageFrame] {
        try codec.decode(data, header: header, frames: header.frameCount)
    }

    private var codec: FrameCodec {
        FrameCodec(
            open: caf_gif_frames_open,
            next: caf_gif_frames_next,
            close: caf_gif_frames_close,
            unit: .milliseconds(10)
        )
    }
}
