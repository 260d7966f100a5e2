import CAFImageFixtures

/// JPEG files by the library's encoder.
enum JPEGFile {
    static func data(_ picture: Picture, _ change: (inout caff_jpeg_options) -> Void = { _ in }) throws -> Data {
        var options = caff_jpeg_options()
        options.space = CAFF_COLOURS
        options.quality = 100
        change(&options)
        var count = 0
        let bytes = caff_jpeg(picture.pixels, UInt32(picture.width), UInt32(picture.height), options, &count)
        defer { caff_free(bytes) }
        return Data(bytes: try #require(bytes), count: count)
    }

    /// The file with a segment behind its first two bytes.
    static func adding(_ marker: UInt8, _ content: [UInt8], to file: Data) -> Data {
        file.prefix(2) + [0xFF, marker] + UInt16(content.count + 2).bigBytes + content + file.dropFirst(2)
    }

    static func adding(exif: [UInt8], to file: Data) -> Data { adding(0xE1, Array("Exif\0\0".utf8) + exif, to: file) }
}

/// WebP files by the library's encoder, in containers made by hand.
enum WebPFile {
    /// - Parameter quality: Nil for one without loss.
    static func data(_ picture: Picture, quality: Float? = nil) throws -> Data {
        var count = 0
        let bytes = caff_webp(picture.pixels, Int32(picture.width), Int32(picture.height), quality ?? -1, &count)
        defer { caff_free(bytes) }
        return Data(bytes: try #require(bytes), count: count)
    }

    /// The chunks of a file, without what is around them.
    static func chunks(_ file: Data) -> [UInt8] { [UInt8](file.dropFirst(12)) }

    static func container(_ chunks: [UInt8]) -> Data {
        Data(Array("RIFF".utf8) + UInt32(chunks.count + 4).littleBytes + Array("WEBP".utf8) + chunks)
    }

    static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + UInt32(content.count).littleBytes + content + (content.count % 2 == 0 ? [] : [0])
    }

    static func extended(flags: UInt8, _ width: Int, _ height: Int) -> [UInt8] {
        chunk("VP8X", [flags, 0, 0, 0] + three(width - 1) + three(height - 1))
    }

    struct Frame {
        var picture: Picture
        var left = 0
        var top = 0
        var milliseconds = 100
        /// 1: taken away again; 2: put over what is there without mixing.
        var flags: UInt8 = 0
    }

    static func animation(_ width: Int, _ height: Int, _ frames: [Frame]) throws -> Data {
        var chunks = extended(flags: 0x12, width, height) + chunk("ANIM", [0, 0, 0, 0, 0, 0])
        for frame in frames {
            let content =
                three(frame.left / 2) + three(frame.top / 2) + three(frame.picture.width - 1)
                + three(frame.picture.height - 1) + three(frame.milliseconds) + [frame.flags]
            chunks += chunk("ANMF", content + Self.chunks(try data(frame.picture)))
        }
        return container(chunks)
    }

    static func three(_ value: Int) -> [UInt8] { Array(UInt32(truncatingIfNeeded: value).littleBytes.prefix(3)) }
}

/// One small file of each kind there is.
enum SampleFiles {
    static func all() throws -> [(name: String, data: Data)] {
        let (smooth, clear) = (Picture.smooth(13, 11), Picture.translucent(13, 11))
        var palette = PNGFile(9, 5, depth: 4, kind: 3)
        palette.before = [("PLTE", (0..<48).map { UInt8($0 * 5) }), ("tRNS", [0, 128]), ("tEXt", Array("a\0b".utf8))]
        palette.setRows { y in (0..<5).map { UInt8(($0 * 3 + y) % 16 * 17) } }
        var interlaced = PNGFile(clear)
        interlaced.setInterlacedRows { clear[$0, $1] }
        interlaced.before = [("eXIf", exif(6))]
        let jpeg = try JPEGFile.data(smooth)
        let frames = [
            GIFFile.filled(3, 8, 6) { $0.delay = 5 },
            GIFFile.filled(9, 4, 3) { ($0.left, $0.top, $0.disposal, $0.isInterlaced) = (2, 1, 3, true) },
            GIFFile.filled(20, 3, 3) { ($0.transparent, $0.disposal, $0.colours) = (20, 2, GIFFile.greys) },
        ]
        let lossless = try WebPFile.data(clear)
        return [
            ("PNG", PNGFile(clear).data), ("PNG palette", palette.data), ("PNG interlaced", interlaced.data),
            ("JPEG", JPEGFile.adding(exif: exif(8, isBigEndian: false), to: jpeg)),
            ("JPEG progressive", try JPEGFile.data(smooth) { ($0.is_progressive, $0.halves_colours) = (1, 1) }),
            ("JPEG inks", try JPEGFile.data(smooth) { ($0.space, $0.quality) = (CAFF_ADOBE_YCCK, 60) }),
            ("JPEG restarts", try JPEGFile.data(smooth) { ($0.restart_rows, $0.halves_colours) = (1, 1) }),
            ("JPEG arithmetic", try JPEGFile.data(smooth) { ($0.is_arithmetic, $0.quality) = (1, 50) }),
            ("WebP lossless", lossless), ("WebP lossy", try WebPFile.data(smooth, quality: 80)),
            ("WebP lossy with alpha", try WebPFile.data(clear, quality: 80)),
            (
                "WebP with Exif",
                WebPFile.container(
                    WebPFile.extended(flags: 0x18, 13, 11) + WebPFile.chunks(lossless) + WebPFile.chunk("EXIF", exif(5))
                )
            ),
            (
                "WebP animation",
                try WebPFile.animation(
                    13,
                    11,
                    [.init(picture: clear), .init(picture: .translucent(5, 5), left: 2, top: 4)]
                )
            ),
            ("GIF", GIFFile(8, 6, [frames[0]]).data), ("GIF animation", GIFFile(8, 6, frames).data),
        ]
    }
}
