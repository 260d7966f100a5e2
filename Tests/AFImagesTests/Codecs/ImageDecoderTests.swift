/// A format of one colour: a word, width, height, and the bytes of a pixel.
private struct PlainDecoder: ImageDecoder {
    let format: ImageFormat
    var orientation = ImageOrientation.up

    private var word: [UInt8] { Array("plain:\(format.name):".utf8) }

    func file(_ width: UInt8, _ height: UInt8, _ pixel: [UInt8]) -> Data { Data(word + [width, height] + pixel) }

    func recognizes(_ start: Data) -> Bool { start.starts(with: word) }

    func header(of data: Data) throws(ImageError) -> ImageHeader {
        let fields = data.dropFirst(word.count)
        guard fields.count == 6 else { throw ImageError(.truncated, format: format, text: "cut off") }
        let size = PixelSize(width: Int(data[fields.startIndex]), height: Int(data[fields.startIndex + 1]))
        return ImageHeader(format: format, storedSize: size, orientation: orientation)
    }

    func decode(_ data: Data, header: ImageHeader, options: ImageDecodingOptions) throws(ImageError) -> Image {
        let (width, height) = (header.storedSize.width, header.storedSize.height)
        let pixels = (0..<(width * height)).flatMap { _ in data.suffix(4) }
        return try Image(width: width, height: height, pixels: pixels, format: format)
    }
}

/// Each test has a format of its own: the decoders there are belong to the process.
@Suite struct ImageDecoderTests {
    @Test func `a registered decoder decodes its format, until it is unregistered`() throws {
        let decoder = PlainDecoder(format: ImageFormat(name: "A"), orientation: .right)
        let file = decoder.file(3, 2, [1, 2, 3, 4])

        #expect(reason { try Image.decode(file) } == .unknownFormat)
        ImageDecoders.register(decoder)
        let image = try Image.decode(file, scale: 3)
        let frames = try EncodedImage(file).decodeFrames()

        #expect((image.width, image.height, image.scale) == (2, 3, 3))
        #expect(Picture(image) == .filled(2, 3, [1, 2, 3, 4]))
        #expect(frames == [ImageFrame(image: try Image.decode(file), delay: .zero)])
        #expect(ImageFormat.sniff(file) == decoder.format)
        #expect(ImageDecoders.formats.isSuperset(of: [decoder.format, .png, .jpeg, .webp, .gif]))
        #expect(ImageDecoders.unregister(decoder.format))
        #expect(!ImageDecoders.unregister(decoder.format))
        #expect(reason { try Image.decode(file) } == .unknownFormat)
    }

    @Test func `limits hold for registered decoders, and their errors arrive`() throws {
        let decoder = PlainDecoder(format: ImageFormat(name: "B"))
        ImageDecoders.register(decoder)
        defer { ImageDecoders.unregister(decoder.format) }
        var options = ImageDecodingOptions()
        options.maximumPixels = 100

        #expect(reason { try Image.decode(decoder.file(10, 10, [0, 0, 0, 0]), options: options) } == nil)
        #expect(reason { try Image.decode(decoder.file(10, 11, [0, 0, 0, 0]), options: options) } == .limit)
        #expect(reason { try Image.decode(decoder.file(0, 11, [0, 0, 0, 0]), options: options) } == .malformed)
        #expect(reason { try Image.decode(decoder.file(1, 1, [0])) } == .truncated)
    }

    @Test func `a decoder takes the place of one for the same format`() throws {
        let format = ImageFormat(name: "C")
        ImageDecoders.register(PlainDecoder(format: format))
        ImageDecoders.register(PlainDecoder(format: format, orientation: .left))
        defer { ImageDecoders.unregister(format) }

        #expect(try EncodedImage(PlainDecoder(format: format).file(1, 2, [0, 0, 0, 0])).header.orientation == .left)
    }
}
