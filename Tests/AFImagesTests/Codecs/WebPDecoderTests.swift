@testable import AFImages

@Suite struct WebPDecoderTests {
    private let smooth = Picture.smooth(45, 38)

    @Test func `T-IMG-17 without loss all pixels arrive`() throws {
        let (clear, opaque) = (Picture.translucent(45, 38), Picture.distinct(45, 38))
        // The encoder keeps no colours of transparent pixels.
        func visible(_ picture: Picture) -> Picture {
            Picture(45, 38) { x, y in clear[x, y][3] == 0 ? [0, 0, 0, picture[x, y][3]] : picture[x, y] }
        }

        let image = try Image.decode(WebPFile.data(clear))

        #expect(visible(Picture(image)) == visible(clear))
        #expect(image.alpha == .straight)
        #expect(image.format == .webp)
        #expect(try Picture(Image.decode(WebPFile.data(opaque))) == opaque)
        #expect(try Image.decode(WebPFile.data(opaque)).alpha == .opaque)
    }

    @Test func `T-IMG-17 with loss they arrive nearly, and alpha as it was`() throws {
        let image = try Image.decode(WebPFile.data(smooth, quality: 100))
        let faded = Picture(45, 38) { x, y in smooth[x, y].prefix(3) + [UInt8(x * 5)] }
        let fadedImage = try Image.decode(WebPFile.data(faded, quality: 100))

        #expect(try #require(Picture(image).difference(from: smooth)) <= 12)
        #expect(image.alpha == .opaque)
        #expect(fadedImage.alpha == .straight)
        #expect((0..<45).map { Picture(fadedImage)[$0, 20][3] } == (0..<45).map { UInt8($0 * 5) })
    }

    @Test(
        "a smaller picture is the smallest of its proportions that covers the target",
        arguments: [
            (30, 10, 30, 15), (10, 30, 60, 30), (1, 1, 2, 1), (99, 49, 99, 50), (100, 10, 100, 50), (10, 50, 100, 50),
            (400, 400, 100, 50), (0, -5, 2, 1),
        ]
    )
    func target(_ width: Int, _ height: Int, _ expectedWidth: Int, _ expectedHeight: Int) throws {
        var options = ImageDecodingOptions()
        options.targetSize = PixelSize(width: width, height: height)
        for quality in [nil, 90] as [Float?] {
            let picture = Picture.smooth(100, 50)
            let image = try Image.decode(WebPFile.data(picture, quality: quality), options: options)

            #expect((image.width, image.height) == (expectedWidth, expectedHeight))
            let middle = Picture(image)[image.width / 2, image.height / 2]
            #expect(zip(middle, picture[50, 25]).allSatisfy { abs(Int($0) - Int($1)) < 40 })
        }
    }

    // MARK: - Animations

    private func animation() throws -> Data {
        try WebPFile.animation(
            8,
            6,
            [
                .init(picture: .filled(8, 6, [255, 0, 0, 255]), milliseconds: 40),
                .init(picture: .filled(2, 2, [0, 255, 0, 255]), left: 4, top: 2, milliseconds: 0, flags: 1),
                .init(picture: .filled(2, 4, [0, 0, 255, 255]), left: 0, top: 2, milliseconds: 1000),
            ]
        )
    }

    @Test func `of an animation the first frame is decoded`() throws {
        let image = try Image.decode(animation(), scale: 2)

        #expect(Picture(image) == .filled(8, 6, [255, 0, 0, 255]))
        #expect(image.alpha == .opaque)
        #expect(image.scale == 2)
    }

    @Test func `all frames of an animation are whole pictures, with how long each is shown`() throws {
        let file = try EncodedImage(animation())
        let frames = try file.decodeFrames()

        #expect(file.header.frameCount == 3)
        #expect(frames.map(\.delay) == [.milliseconds(40), .milliseconds(100), .seconds(1)])
        #expect(
            Picture(frames[1].image)
                == Picture(8, 6) { x, y in
                    (4..<6).contains(x) && (2..<4).contains(y) ? [0, 255, 0, 255] : [255, 0, 0, 255]
                }
        )
        // The second was taken away again, down to nothing.
        #expect(Picture(frames[2].image)[4, 2] == [0, 0, 0, 0])
        #expect(Picture(frames[2].image)[1, 5] == [0, 0, 255, 255])
        #expect(frames[2].image.alpha == .straight)
    }

    @Test func `a picture that does not move has one frame`() throws {
        let frames = try EncodedImage(WebPFile.data(smooth)).decodeFrames()

        #expect(frames.map(\.delay) == [.zero])
        #expect(Picture(frames[0].image) == smooth)
    }

    // MARK: - Damage

    @Test func `T-IMG-05 parts that do not fit together are errors`() throws {
        let still = WebPFile.chunks(try WebPFile.data(smooth))
        func outcome(_ chunks: [UInt8]) -> ImageError.Reason? {
            reason { try Image.decode(WebPFile.container(chunks)) }
        }

        #expect(outcome(WebPFile.extended(flags: 0, 45, 38) + still) == nil)
        #expect(outcome(WebPFile.extended(flags: 0, 44, 38) + still) != nil)
        #expect(outcome(WebPFile.extended(flags: 2, 45, 38) + still) == .malformed)
        #expect(outcome(WebPFile.extended(flags: 0, 45, 38)) != nil)
        #expect(outcome(WebPFile.extended(flags: 0, 45, 38) + still + Array("EXIF".utf8) + [9, 0, 0, 0]) == .malformed)
        #expect(outcome(WebPFile.chunk("ABCD", [1])) == .malformed)
        #expect(outcome([]) == .malformed)
        #expect(outcome(WebPFile.chunk("VP8 ", Array(repeating: 0, count: 20))) == .malformed)
        #expect(outcome(WebPFile.chunk("VP8L", [0x2F, 0, 0, 0, 0])) != nil)
        #expect(reason { try Image.decode(Data("RIFF\u{0}\u{0}\u{0}\u{0}WEBP".utf8)) } == .truncated)
    }

    @Test func `T-IMG-04 bytes behind the container are not looked at`() throws {
        let data = try WebPFile.data(smooth)

        #expect(try Picture(Image.decode(data + Data(count: 50))) == Picture(Image.decode(data)))
    }
}
