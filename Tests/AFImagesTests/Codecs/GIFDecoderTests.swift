@Suite struct GIFDecoderTests {
    private func grey(_ number: Int) -> [UInt8] { GIFFile.grey(number) }

    @Test func `T-IMG-17 colours arrive as the palette has them`() throws {
        let numbers = (0..<143).map { UInt8($0 % 128) }
        let image = try Image.decode(GIFFile(13, 11, [.init(width: 13, height: 11, numbers: numbers)]).data)

        #expect(Picture(image) == Picture(13, 11) { x, y in grey((y * 13 + x) % 128) })
        #expect(image.alpha == .opaque)
        #expect(image.format == .gif)
    }

    @Test("T-IMG-17 interlaced pictures of any height", arguments: 1...20)
    func interlaced(_ height: Int) throws {
        let numbers = (0..<(3 * height)).map { UInt8($0) }
        let frame = GIFFile.Frame(width: 3, height: height, numbers: numbers, isInterlaced: true)

        let image = try Image.decode(GIFFile(3, height, [frame]).data)

        #expect(Picture(image) == Picture(3, height) { x, y in grey(y * 3 + x) })
    }

    @Test func `what no frame covers, and what is transparent, is clear`() throws {
        let frame = GIFFile.Frame(left: 1, top: 1, width: 2, height: 1, numbers: [5, 6], transparent: 6)

        let image = try Image.decode(GIFFile(4, 3, [frame]).data)

        #expect(image.alpha == .straight)
        #expect(Picture(image) == Picture(4, 3) { x, y in (x, y) == (1, 1) ? grey(5) : [0, 0, 0, 0] })
    }

    @Test func `frames that reach beyond the screen are cut`() throws {
        let numbers = (0..<12).map { UInt8($0) }
        let frame = GIFFile.Frame(left: 2, top: 1, width: 4, height: 3, numbers: numbers)
        let outside = GIFFile.Frame(left: 60_000, top: 60_000, width: 1, height: 1, numbers: [1], disposal: 2)

        let frames = try EncodedImage(GIFFile(4, 3, [frame, outside, outside]).data).decodeFrames()

        #expect(
            Picture(frames[0].image)
                == Picture(4, 3) { x, y in x > 1 && y > 0 ? grey((y - 1) * 4 + x - 2) : [0, 0, 0, 0] }
        )
        #expect(Picture(frames[2].image) == Picture(frames[0].image))
    }

    @Test func `frames are composed by their disposal methods`() throws {
        let file = GIFFile(
            4,
            2,
            [
                GIFFile.filled(1, 4, 2) { ($0.delay, $0.disposal) = (10, 1) },
                GIFFile.filled(2, 2, 2) { ($0.delay, $0.disposal) = (1, 3) },
                GIFFile.filled(3, 1, 1) { ($0.left, $0.disposal, $0.delay) = (3, 2, 0) },
                GIFFile.filled(4, 1, 1) { ($0.top, $0.delay) = (1, 65_535) },
                GIFFile.filled(5, 1, 1) { ($0.left, $0.hasControl) = (1, false) },
            ]
        )

        let frames = try EncodedImage(file.data).decodeFrames()
        let numbers = frames.map { frame in
            (0..<8).map { index in
                let pixel = Picture(frame.image)[index % 4, index / 4]
                return pixel[3] == 0 ? "." : "\(pixel[0] / 2)"
            }.joined()
        }

        #expect(numbers == ["11111111", "22112211", "11131111", "111.4111", "151.4111"])
        let expected: [Duration] = [.milliseconds(100), .milliseconds(100), .milliseconds(100), .milliseconds(655_350)]
        #expect(frames.map(\.delay) == expected + [.milliseconds(100)])
        #expect(try Picture(Image.decode(file.data)) == Picture(frames[0].image))
    }

    @Test func `a frame may have colours of its own, and one without any is damaged`() throws {
        var frame = GIFFile.filled(7, 2, 2)
        frame.colours = (0..<128).map { [UInt8($0), 0, 200] }
        var file = GIFFile(2, 2, [frame])

        #expect(try Picture(Image.decode(file.data)) == .filled(2, 2, [7, 0, 200, 255]))
        file.colours = nil
        #expect(try Picture(Image.decode(file.data)) == .filled(2, 2, [7, 0, 200, 255]))
        file.frames[0].colours = nil
        #expect(reason { try Image.decode(file.data) } == .malformed)
    }

    @Test func `T-IMG-04 files cut off behind their first frame are cut off`() throws {
        let data = GIFFile(2, 2, [GIFFile.filled(1, 2, 2), GIFFile.filled(2, 2, 2)]).data

        #expect(reason { try Image.decode(data.dropLast()) } == .truncated)
        #expect(reason { try Image.decode(data.dropLast(6)) } == .truncated)
        #expect(throws: Never.self) { try Image.decode(data + Data(count: 9)) }
    }

    @Test func `T-IMG-05 impossible screens and frames are errors`() throws {
        let frame = GIFFile.filled(1, 2, 2)
        for file in [
            GIFFile(0, 2, [frame]), GIFFile(2, 0, [frame]), GIFFile(1, 2, [frame]), GIFFile(2, 2, []),
            GIFFile(2, 2, [GIFFile.filled(1, 0, 2)]), GIFFile(2, 2, [.init(width: 2, height: 2, numbers: [1, 2])]),
        ] {
            #expect(reason { try Image.decode(file.data) } == .malformed)
        }
        var unknown = GIFFile(2, 2, [frame]).data
        unknown[unknown.count - 1] = 0x55
        #expect(reason { try Image.decode(unknown) } == .malformed)
    }
}
