import CAFImageCodecs
import Foundation

/// PNG by libpng; of an animated one, the picture that programs without animations show.
struct PNGDecoder: ImageDecoder {
    /// So many chunks are searched for the orientation, which may stand after all pixels.
    private static let mostChunks = 1 << 16

    var format: ImageFormat { .png }

    func recognizes(_ start: Data) -> Bool { ImageFormat.recognized(start) == .png }

    func header(of data: Data) throws(ImageError) -> ImageHeader {
        try data.reading { reader throws(ImageError) in
            guard reader.skip(8), let length = reader.big32() else { throw .cutOff(.png, data: data) }
            guard length == 13, reader.take("IHDR") else {
                guard reader.remaining >= 4 else { throw .cutOff(.png, data: data) }
                throw .damaged(.png, what: "it does not begin with its dimensions")
            }
            guard let width = reader.big32(), let height = reader.big32(), reader.skip(9) else {
                throw .cutOff(.png, data: data)
            }
            return ImageHeader(
                format: .png,
                storedSize: PixelSize(width: width, height: height),
                orientation: Self.orientation(in: reader)
            )
        }
    }

    private static func orientation(in chunks: ByteReader) -> ImageOrientation {
        var chunks = chunks
        for _ in 0..<mostChunks {
            guard let length = chunks.big32() else { break }
            if chunks.take("eXIf") { return chunks.part(length).flatMap(ImageOrientation.init(exif:)) ?? .up }
            guard chunks.skip(4 + length + 4) else { break }
        }
        return .up
    }

    func decode(_ data: Data, header: ImageHeader, options: ImageDecodingOptions) throws(ImageError) -> Image {
        let (call, size) = (CodecCall(header: header, data: data), header.storedSize)
        var hasAlpha: Int32 = 0
        let storage = try PixelStorage(size: size) { pixels throws(ImageError) in
            try data.lending { bytes, count throws(ImageError) in
                try call { text, room in
                    caf_png_decode(
                        bytes,
                        count,
                        UInt32(size.width),
                        UInt32(size.height),
                        pixels.codecBytes,
                        &hasAlpha,
                        text,
                        room
                    )
                }
            }
        }
        return Image(size: size, alpha: hasAlpha == 0 ? .opaque : .straight, format: .png, storage: storage)
    }
}
