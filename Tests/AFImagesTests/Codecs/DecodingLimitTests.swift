import CAFImageFixtures

/// Files of a few bytes that announce pictures without end.
@Suite struct DecodingLimitTests {
    private static func files(_ width: Int, _ height: Int) -> [(ImageFormat, Data)] {
        let sixteen = { (value: Int) in UInt16(truncatingIfNeeded: value) }
        let frame = [8] + sixteen(height).bigBytes + sixteen(width).bigBytes + [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]
        let bits = UInt32((width - 1) & 0x3FFF | ((height - 1) & 0x3FFF) << 14)
        return [
            (.png, PNGFile(width, height).data),
            (.jpeg, Data([0xFF, 0xD8]) + [0xFF, 0xC0] + sixteen(frame.count + 2).bigBytes + frame),
            (.gif, GIFFile(width, height, [.init(width: 1, height: 1, numbers: [1])]).data),
            (.webp, WebPFile.container(WebPFile.extended(flags: 0, width, height))),
            (.webp, WebPFile.container(WebPFile.chunk("VP8L", [0x2F] + bits.littleBytes))),
        ]
    }

    @Test func `T-IMG-01 a tiny file that announces a huge picture is refused by its header`() throws {
        for (format, data) in Self.files(60_000, 60_000).dropLast() {
            let error = #expect(throws: ImageError.self) { try EncodedImage(data) }
            #expect(error?.reason == .limit, "\(format)")
            #expect(error?.format == format)
            #expect(error?.text.contains("60000×60000") == true)
        }
        // Within the longest side, but too many pixels.
        for (format, data) in Self.files(16_000, 16_000) {
            let error = #expect(throws: ImageError.self) { try EncodedImage(data) }
            #expect(error?.reason == .limit, "\(format)")
            #expect(error?.text.contains("maximumPixels") == true)
        }
    }

    @Test("T-IMG-01 each limit is exact", arguments: 0..<5)
    func exactLimits(_ index: Int) throws {
        let data = Self.files(200, 100)[index].1
        func refused(_ change: (inout ImageDecodingOptions) -> Void) -> Bool {
            var options = ImageDecodingOptions()
            change(&options)
            return reason { try EncodedImage(data, options: options) } == .limit
        }

        #expect(!refused { $0.maximumDimension = 200 })
        #expect(refused { $0.maximumDimension = 199 })
        #expect(!refused { $0.maximumPixels = 20_000 })
        #expect(refused { $0.maximumPixels = 19_999 })
        #expect(!refused { $0.maximumInputBytes = data.count })
        #expect(refused { $0.maximumInputBytes = data.count - 1 })
        #expect(refused { $0.maximumPixels = -1 })
    }

    @Test func `T-IMG-01 what the pixels take in memory is limited before they are decoded`() throws {
        var options = ImageDecodingOptions()
        options.maximumDecodedBytes = 20 * 10 * 4 - 1
        for data in [
            PNGFile(.smooth(20, 10)).data, try JPEGFile.data(.smooth(20, 10)), try WebPFile.data(.smooth(20, 10)),
            GIFFile(20, 10, [GIFFile.filled(1, 20, 10)]).data,
        ] {
            let file = try EncodedImage(data, options: options)
            let error = #expect(throws: ImageError.self) { try file.decode() }
            #expect(error?.reason == .limit)
            #expect(error?.text.contains("maximumDecodedBytes") == true)
        }
    }

    private static let endsOfFields: [(Int, Int)] = {
        let sign = 1 << 31
        let all = (1 << 32) - 1
        return [(0, 0), (0, 1), (1, 0), (1, sign), (sign, 1), (all, all), (sign - 1, 2)]
    }()

    @Test("T-IMG-02 dimensions at the ends of their fields are errors", arguments: endsOfFields)
    func dimensions(_ width: Int, _ height: Int) {
        var options = ImageDecodingOptions()
        (options.maximumDimension, options.maximumPixels) = (.max, .max)
        options.maximumDecodedBytes = .max
        let outcome = reason { try Image.decode(PNGFile(width, height).data, options: options) }

        let reasons: [ImageError.Reason?] = [.malformed, .limit, .dimensions, .outOfMemory]
        #expect(reasons.contains(outcome))
    }

    @Test func `T-IMG-02 zero is no dimension in any format`() {
        for (width, height) in [(0, 5), (5, 0), (0, 0)] {
            for (format, data) in Self.files(width, height).prefix(3) {
                #expect(reason { try Image.decode(data) } == .malformed, "\(format)")
            }
        }
        let lossy = WebPFile.chunk("VP8 ", [0, 0, 0, 0x9D, 1, 0x2A, 0, 0, 5, 0])
        #expect(reason { try Image.decode(WebPFile.container(lossy)) } == .malformed)
    }

    @Test func `T-IMG-03 what is compressed inside of chunks is not inflated`() throws {
        let picture = Picture.distinct(3, 3)
        var file = PNGFile(picture)
        // Data of zlib that cannot be inflated: a decoder that tried would fail.
        let bomb: [UInt8] = [0x78, 0x9C] + Array(repeating: 0xFF, count: 100_000)
        file.before = [
            ("iCCP", Array("a\0\0".utf8) + bomb), ("zTXt", Array("a\0\0".utf8) + bomb),
            ("iTXt", Array("a\0\u{1}\0\0\0".utf8) + bomb), ("sPLT", Array("a\0".utf8) + [8] + bomb),
            ("tEXt", Array("a\0".utf8) + bomb),
        ]
        file.after = file.before.dropFirst(1) + Array(repeating: ("zTXt", Array("a\0\0".utf8)), count: 20_000)

        #expect(try Picture(Image.decode(file.data)) == picture)
    }

    @Test func `T-IMG-03 pixels that would inflate beyond the picture are not taken`() throws {
        let picture = Picture.distinct(3, 3)
        var file = PNGFile(3, 3)
        let rows: [UInt8] = (0..<3).flatMap { y -> [UInt8] in [0] + picture.pixels[(y * 12)..<(y * 12 + 12)] }
        file.pixels = [("IDAT", PNGFile.zlib(rows + Array(repeating: 0, count: 1 << 20)))]

        #expect(try Picture(Image.decode(file.data)) == picture)
    }

    @Test func `T-IMG-03 the frames of an animation are limited, in number and all together`() throws {
        let gif = GIFFile(10, 10, Array(repeating: GIFFile.filled(1, 10, 10), count: 1_001)).data
        let webp = try WebPFile.animation(10, 10, Array(repeating: .init(picture: .distinct(10, 10)), count: 30))
        var few = ImageDecodingOptions()
        few.maximumFrames = 29
        var small = ImageDecodingOptions()
        small.maximumDecodedBytes = 30 * 400 - 1

        #expect(reason { try EncodedImage(gif).decodeFrames() } == .limit)
        #expect(reason { try EncodedImage(webp, options: few).decodeFrames() } == .limit)
        #expect(reason { try EncodedImage(webp, options: small).decodeFrames() } == .limit)
        #expect(throws: Never.self) { try EncodedImage(gif).decode() }
        #expect(try EncodedImage(webp).decodeFrames().count == 30)
    }

    @Test func `an empty file is no picture`() {
        #expect(reason { try Image.decode(Data()) } == .empty)
    }

    @Test(
        "T-IMG-18 a scale that is no number or out of bounds is an error before anything is decoded",
        arguments: [0, -1, .nan, .infinity, 1e300, 1001]
    )
    func scales(_ scale: Double) {
        #expect(reason { try Image.decode(PNGFile(.distinct(2, 2)).data, scale: scale) } == .scale)
    }
}
