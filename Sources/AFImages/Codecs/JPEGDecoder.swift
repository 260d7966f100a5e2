import CAFImageCodecs
import Foundation

/// JPEG by libjpeg-turbo: baseline and progressive, grey, in colours and in inks.
struct JPEGDecoder: ImageDecoder {
    var format: ImageFormat { .jpeg }

    func recognizes(_ start: Data) -> Bool { ImageFormat.recognized(start) == .jpeg }

    // MARK: Header

    func header(of data: Data) throws(ImageError) -> ImageHeader {
        try data.reading { reader throws(ImageError) in
            var orientation: ImageOrientation?
            guard reader.skip(2) else { throw .cutOff(.jpeg, data: data) }
            while let marker = Self.nextMarker(&reader) {
                // Markers without a segment: restarts, and TEM.
                if marker == 0x01 || (0xD0...0xD7).contains(marker) { continue }
                guard marker != 0xD9, marker != 0xDA else {
                    throw .damaged(.jpeg, what: "it does not say its dimensions")
                }
                guard let length = reader.big16() else { break }
                guard length >= 2 else { throw .damaged(.jpeg, what: "a segment is shorter than its length") }
                guard let segment = reader.part(length - 2) else { break }
                if Self.isFrame(marker) { return try Self.header(frame: segment, orientation: orientation ?? .up) }
                if marker == 0xE1 && orientation == nil { orientation = Self.orientation(in: segment) }
            }
            throw .cutOff(.jpeg, data: data)
        }
    }

    /// As the library, skips what is no marker.
    private static func nextMarker(_ reader: inout ByteReader) -> UInt8? {
        while let byte = reader.byte() {
            guard byte == 0xFF else { continue }
            var marker = reader.byte()
            while marker == 0xFF { marker = reader.byte() }
            if let marker, marker != 0 { return marker }
        }
        return nil
    }

    private static func isFrame(_ marker: UInt8) -> Bool {
        (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
    }

    private static func header(frame: ByteReader, orientation: ImageOrientation) throws(ImageError) -> ImageHeader {
        var frame = frame
        guard frame.skip(1), let height = frame.big16(), let width = frame.big16() else {
            throw .damaged(.jpeg, what: "it does not say its dimensions")
        }
        let size = PixelSize(width: width, height: height)
        return ImageHeader(format: .jpeg, storedSize: size, orientation: orientation)
    }

    private static func orientation(in segment: ByteReader) -> ImageOrientation? {
        var segment = segment
        guard segment.take("Exif\0\0"), let exif = segment.part(segment.remaining) else { return nil }
        return ImageOrientation(exif: exif)
    }

    // MARK: Pixels

    func decode(_ data: Data, header: ImageHeader, options: ImageDecodingOptions) throws(ImageError) -> Image {
        let (call, stored) = (CodecCall(header: header, data: data), header.storedSize)
        let eighths = Self.eighths(of: stored, for: options.targetSize)
        let size = Self.size(stored, eighths: eighths)
        let storage = try PixelStorage(size: size) { pixels throws(ImageError) in
            try data.lending { bytes, count throws(ImageError) in
                try call { text, room in
                    caf_jpeg_decode(
                        bytes,
                        count,
                        UInt32(stored.width),
                        UInt32(stored.height),
                        Int32(eighths),
                        options.maximumDecodedBytes,
                        pixels.codecBytes,
                        text,
                        room
                    )
                }
            }
        }
        return Image(size: size, alpha: .opaque, format: .jpeg, storage: storage)
    }

    /// The library computes any number of eighths, but only these faster than all eight.
    static func eighths(of stored: PixelSize, for target: PixelSize?) -> Int {
        guard let target else { return 8 }
        let covering = [1, 2, 4].first { eighths in
            let size = size(stored, eighths: eighths)
            return size.width >= target.width && size.height >= target.height
        }
        return covering ?? 8
    }

    private static func size(_ stored: PixelSize, eighths: Int) -> PixelSize {
        PixelSize(width: (stored.width * eighths + 7) / 8, height: (stored.height * eighths + 7) / 8)
    }
}
