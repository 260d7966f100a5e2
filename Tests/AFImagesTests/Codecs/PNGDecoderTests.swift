@Suite struct PNGDecoderTests {
    private func decoded(_ file: PNGFile) throws -> Picture { Picture(try Image.decode(file.data)) }

    /// Samples of so many bits in bytes.
    private static func packed(_ samples: [UInt8], _ depth: Int) -> [UInt8] {
        stride(from: 0, to: samples.count, by: 8 / depth).map { start -> UInt8 in
            samples[start..<(start + 8 / depth)].reduce(0) { byte, sample in
                depth == 8 ? sample : byte << depth | sample
            }
        }
    }

    // MARK: - Kinds of pixels

    @Test func `T-IMG-17 colours and alpha arrive as they were stored`() throws {
        let picture = Picture.translucent(21, 9)
        let image = try Image.decode(PNGFile(picture).data, scale: 2)

        #expect(Picture(image) == picture)
        #expect(image.alpha == .straight)
        #expect(image.format == .png)
        #expect(image.scale == 2)
        #expect("\(image)" == "PNG 21×9 at 2.0×")
    }

    @Test func `T-IMG-17 colours without alpha are opaque`() throws {
        var file = PNGFile(5, 3, kind: 2)
        file.setRows { y in (0..<5).flatMap { x in [UInt8(x), UInt8(y), 7] } }

        let image = try Image.decode(file.data)

        #expect(image.alpha == .opaque)
        #expect(Picture(image) == Picture(5, 3) { x, y in [UInt8(x), UInt8(y), 7, 255] })
    }

    @Test("T-IMG-17 greys of every depth are spread over a byte", arguments: [1, 2, 4, 8])
    func greys(_ depth: Int) throws {
        var file = PNGFile(8, 2, depth: depth, kind: 0)
        let most = (1 << depth) - 1
        func value(_ x: Int, _ y: Int) -> Int { (x * 5 + y) % (most + 1) }
        file.setRows { y in Self.packed((0..<8).map { UInt8(value($0, y)) }, depth) }

        let expected = Picture(8, 2) { x, y in Array(repeating: UInt8(value(x, y) * 255 / most), count: 3) + [255] }
        #expect(try decoded(file) == expected)
    }

    @Test("T-IMG-17 sixteen bits are rounded to eight", arguments: [0, 2, 4, 6])
    func sixteenBits(_ kind: Int) throws {
        let samples = [0: 1, 2: 3, 4: 2, 6: 4][kind] ?? 0
        var file = PNGFile(3, 2, depth: 16, kind: kind)
        func value(_ x: Int, _ y: Int, _ sample: Int) -> UInt16 { UInt16(x * 20_000 + y * 3000 + sample * 901) }
        file.setRows { y in
            (0..<3).flatMap { x -> [UInt8] in
                (0..<samples).flatMap { sample -> [UInt8] in value(x, y, sample).bigBytes }
            }
        }

        let expected = Picture(3, 2) { x, y in
            let bytes: [UInt8] = (0..<samples).map { UInt8((Double(value(x, y, $0)) / 257).rounded()) }
            switch kind {
            case 0: return [bytes[0], bytes[0], bytes[0], 255]
            case 2: return bytes + [255]
            case 4: return [bytes[0], bytes[0], bytes[0], bytes[1]]
            default: return bytes
            }
        }
        #expect(try decoded(file) == expected)
    }

    @Test("T-IMG-17 palettes of every depth, with transparency", arguments: [1, 2, 4, 8])
    func palettes(_ depth: Int) throws {
        var file = PNGFile(8, 1, depth: depth, kind: 3)
        let count = min(1 << depth, 16)
        var colours: [UInt8] = []
        for n in 0..<UInt8(count) { colours += [n * 3, n * 5, n * 7] }
        file.before = [("PLTE", colours), ("tRNS", [10])]
        file.setRows { _ in Self.packed((0..<8).map { UInt8($0 % count) }, depth) }

        let expected = Picture(8, 1) { x, _ in
            let n = UInt8(x % count)
            return [n * 3, n * 5, n * 7, n == 0 ? 10 : 255]
        }
        #expect(try decoded(file) == expected)
        #expect(try Image.decode(file.data).alpha == .straight)
    }

    @Test func `T-IMG-17 the transparent colour is transparent`() throws {
        var file = PNGFile(2, 1, kind: 2)
        file.before = [("tRNS", [0, 1, 0, 2, 0, 3])]
        file.setRows { _ in [1, 2, 3, 1, 2, 4] }

        #expect(try decoded(file).pixels == [1, 2, 3, 0, 1, 2, 4, 255])
    }

    @Test("T-IMG-17 interlaced pictures of all small sizes", arguments: 1...9)
    func interlaced(_ width: Int) throws {
        for height in 1...9 {
            let picture = Picture.translucent(width, height)
            var file = PNGFile(width, height)
            file.setInterlacedRows { picture[$0, $1] }
            #expect(try decoded(file) == picture, "\(width)×\(height)")
        }
    }

    @Test func `T-IMG-17 profiles and gamma change nothing`() throws {
        let picture = Picture.distinct(4, 4)
        var file = PNGFile(picture)
        file.before = [
            ("gAMA", UInt32(10_000).bigBytes), ("sRGB", [0]), ("cHRM", Array(repeating: 1, count: 32)),
            ("iCCP", Array("x\0\0".utf8) + PNGFile.zlib(Array(repeating: 9, count: 500))), ("pHYs", [0, 0]),
            ("bKGD", [9]), ("tIME", [255, 255, 99, 99, 99, 99, 99]), ("sBIT", [8, 8, 8, 8]),
        ]
        #expect(try decoded(file) == picture)
    }

    // MARK: - Damage

    @Test func `T-IMG-05 a wrong checksum is an error where pixels depend on it`() throws {
        var file = PNGFile(2, 1, kind: 3)
        file.before = [("tEXt", Array("a\0b".utf8)), ("PLTE", [1, 2, 3, 4, 5, 6]), ("tRNS", [7, 8])]
        file.setRows { _ in [0, 1] }
        let data = file.data
        func flipped(_ name: String) throws -> Data {
            let place = try #require(data.range(of: Data(name.utf8)))
            var damaged = data
            let length = damaged[(place.lowerBound - 4)..<place.lowerBound].reduce(0) { $0 << 8 | Int($1) }
            damaged[place.upperBound + length] ^= 1
            return damaged
        }

        for name in ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"] {
            #expect(reason { try Image.decode(flipped(name)) } == .malformed, "\(name)")
        }
        #expect(throws: Never.self) { try Image.decode(flipped("tEXt")) }
    }

    @Test func `T-IMG-04 fewer pixels than announced are an error, and what follows the end is not looked at`() throws {
        let picture = Picture.translucent(4, 4)
        var file = PNGFile(4, 4)
        file.pixels = [("IDAT", PNGFile.zlib([0] + Array(picture.pixels.prefix(16))))]

        #expect(reason { try Image.decode(file.data) } == .malformed)
        #expect(try Picture(Image.decode(PNGFile(picture).data + Data("<html>".utf8))) == picture)
    }

    @Test func `chunks in the wrong order or of impossible lengths are errors`() throws {
        let good = PNGFile(.translucent(4, 4))
        var twice = good
        twice.before = [("IHDR", Array(repeating: 1, count: 13))]
        var unknown = good
        unknown.before = [("AAAA", [1])]
        var without = PNGFile(4, 4, kind: 3)
        without.setRows { _ in [0, 0, 0, 0] }
        var depth = good
        depth.depth = 7

        for file in [twice, unknown, without, depth] {
            #expect(reason { try Image.decode(file.data) } == .malformed)
        }
        let signature = good.data.prefix(8)
        #expect(reason { try Image.decode(signature + PNGFile.chunk("IDAT", [])) } == .malformed)
        #expect(reason { try Image.decode(signature + UInt32.max.bigBytes + Data("IHDR".utf8)) } == .malformed)
        #expect(reason { try Image.decode(signature) } == .truncated)
    }

    // MARK: - Encoding

    @Test(
        "what was encoded is decoded to the same pixels",
        arguments: [(1, 1), (1, 50), (50, 1), (37, 23), (256, 256)]
    )
    func encoding(_ width: Int, _ height: Int) throws {
        let clear = Picture.translucent(width, height)
        let opaque = Picture.distinct(width, height)

        let decodedClear = try Image.decode(Image(clear).pngData())
        let decodedOpaque = try Image.decode(Image(opaque, alpha: .opaque).pngData())

        #expect(Picture(decodedClear) == clear)
        #expect(decodedClear.alpha == .straight)
        #expect(Picture(decodedOpaque) == opaque)
        #expect(decodedOpaque.alpha == .opaque)
    }

    @Test func `premultiplied pixels are divided again when they are encoded`() throws {
        let picture = Picture(256, 2) { x, y in [200, UInt8(y == 0 ? 100 : 255), 0, UInt8(x)] }
        let multiplied = try Image(picture).premultiplied()
        let again = Picture(try Image.decode(multiplied.pngData()))

        #expect(multiplied.alpha == .premultiplied)
        #expect(Picture(multiplied)[128, 0] == [100, 50, 0, 128])
        #expect(Picture(multiplied)[0, 0] == [0, 0, 0, 0])
        #expect(try multiplied.premultiplied().sharesPixels(with: multiplied))
        for x in 1..<256 {
            // One step of a premultiplied colour is so many of a straight one.
            let step = 255 / x / 2 + 1
            #expect(abs(Int(again[x, 0][0]) - 200) <= step, "\(x)")
            #expect(again[x, 1][1] == 255 && again[x, 0][3] == UInt8(x))
        }
    }

    @Test func `large pictures of noise are encoded whole`() throws {
        var generator = SeededGenerator(seed: 1)
        let noise = Picture(300, 400) { _, _ in (0..<4).map { _ in UInt8.random(in: 0...255, using: &generator) } }

        #expect(try Picture(Image.decode(Image(noise).pngData())) == noise)
    }
}
