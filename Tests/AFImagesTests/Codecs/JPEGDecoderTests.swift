import CAFImageFixtures

@testable import AFImages

@Suite struct JPEGDecoderTests {
    private let smooth = Picture.smooth(45, 38)

    @Test(
        "T-IMG-17 colours arrive nearly as they were, in whatever way they are coded",
        arguments: [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (1, 1, 0, 0), (0, 0, 1, 0), (0, 1, 0, 1), (1, 0, 1, 2)]
    )
    func coding(_ progressive: Int32, _ halves: Int32, _ arithmetic: Int32, _ restarts: Int32) throws {
        let data = try JPEGFile.data(smooth) {
            ($0.is_progressive, $0.halves_colours) = (progressive, halves)
            ($0.is_arithmetic, $0.restart_rows) = (arithmetic, restarts)
        }

        let image = try Image.decode(data)

        #expect(image.alpha == .opaque)
        #expect(image.format == .jpeg)
        #expect(try #require(Picture(image).difference(from: smooth)) <= (halves == 1 ? 12 : 4))
    }

    @Test func `T-IMG-17 greys are greys`() throws {
        let image = try Image.decode(JPEGFile.data(smooth) { $0.space = CAFF_GREY })
        let expected = Picture(45, 38) { x, y in Array(repeating: smooth[x, y][0], count: 3) + [255] }

        #expect(try #require(Picture(image).difference(from: expected)) <= 3)
    }

    @Test(
        "T-IMG-17 inks are mixed, stored upside down by Adobe or not",
        arguments: [
            ([255, 0, 0, 0], [0, 255, 255]), ([0, 255, 0, 0], [255, 0, 255]), ([0, 0, 255, 0], [255, 255, 0]),
            ([0, 0, 0, 255], [0, 0, 0]), ([0, 0, 0, 0], [255, 255, 255]), ([100, 50, 0, 128], [77, 102, 127]),
        ] as [([UInt8], [UInt8])]
    )
    func inks(_ inks: [UInt8], _ light: [UInt8]) throws {
        let expected = Picture.filled(16, 16, light + [255])
        for (space, stored) in [(CAFF_INKS, inks), (CAFF_ADOBE_INKS, inks.map { 255 - $0 })] {
            let image = try Image.decode(JPEGFile.data(.filled(16, 16, stored)) { $0.space = space })
            #expect(try #require(Picture(image).difference(from: expected)) <= 3)
        }
        let data = try JPEGFile.data(.filled(16, 16, inks.map { 255 - $0 })) { $0.space = CAFF_ADOBE_YCCK }
        #expect(try #require(Picture(Image.decode(data)).difference(from: expected)) <= 4)
    }

    // MARK: - Smaller sizes

    @Test(
        "a smaller picture is the smallest that covers the target",
        arguments: [
            (1, 1, 8), (12, 8, 8), (13, 9, 8), (14, 9, 4), (13, 10, 4), (25, 17, 4), (26, 17, 2), (25, 18, 2),
            (50, 33, 2),
            (51, 33, 1), (50, 34, 1), (100, 65, 1), (5000, 1, 1), (0, 0, 8), (-1, -1, 8),
        ]
    )
    func target(_ width: Int, _ height: Int, _ divisor: Int) throws {
        let picture = Picture.smooth(100, 65)
        let data = try JPEGFile.data(picture)
        var options = ImageDecodingOptions()
        options.targetSize = PixelSize(width: width, height: height)

        let image = try Image.decode(data, options: options)

        #expect((image.width, image.height) == ((100 + divisor - 1) / divisor, (65 + divisor - 1) / divisor))
        let middle = Picture(image)[image.width / 2, image.height / 2]
        #expect(zip(middle, picture[50, 32]).allSatisfy { abs(Int($0) - Int($1)) < 16 })
    }

    @Test func `the size that is wanted is that of the picture as it is shown`() throws {
        let data = JPEGFile.adding(exif: exif(6), to: try JPEGFile.data(.smooth(200, 100)))
        var options = ImageDecodingOptions()
        options.targetSize = PixelSize(width: 20, height: 50)

        let image = try Image.decode(data, options: options)

        #expect((image.width, image.height) == (25, 50))
    }

    // MARK: - Damage and cost

    @Test func `T-IMG-03 a picture with more scans than encoders make is an error`() throws {
        let many = try JPEGFile.data(.smooth(64, 64)) { $0.scans_each_number = 1 }
        let few = try JPEGFile.data(.smooth(64, 64)) { $0.is_progressive = 1 }

        let error = #expect(throws: ImageError.self) { try Image.decode(many) }
        #expect(error?.reason == .limit)
        #expect(error?.text.contains("scans") == true)
        #expect(throws: Never.self) { try Image.decode(few) }
    }

    @Test func `T-IMG-01 a progressive picture may not take more memory than pixels may`() throws {
        let data = try JPEGFile.data(.smooth(400, 300)) { $0.is_progressive = 1 }
        var options = ImageDecodingOptions()
        options.maximumDecodedBytes = 400 * 300 * 4

        #expect(reason { try Image.decode(data, options: options) } == .limit)
        options.maximumDecodedBytes *= 4
        #expect(throws: Never.self) { try Image.decode(data, options: options) }
    }

    @Test func `T-IMG-05 pixels that the library would make up are an error`() throws {
        let data = try JPEGFile.data(.smooth(64, 64))
        let start = try #require(data.range(of: Data([0xFF, 0xDA]))).lowerBound
        // The end of the picture, in the middle of its coefficients.
        var cut = data
        cut[(start + 100)...(start + 101)] = Data([0xFF, 0xD9])
        // Restarts that were never announced.
        var restarted = data
        restarted[(start + 100)...(start + 101)] = Data([0xFF, 0xD3])

        #expect(reason { try Image.decode(cut) } == .malformed)
        #expect(reason { try Image.decode(restarted) } == .malformed)
    }

    @Test func `what stands between segments and behind the end is not looked at`() throws {
        let data = try JPEGFile.data(smooth)
        let padded = data.prefix(2) + Data([0xFF, 0xFF, 0xFF, 0xFE, 0, 4, 1, 2]) + data.dropFirst(2) + Data(count: 100)

        #expect(try Picture(Image.decode(padded)) == Picture(Image.decode(data)))
    }

    @Test func `kinds that are not decoded say so, and files without a frame that they are damaged`() throws {
        let data = try JPEGFile.data(smooth)
        let frame = try #require(data.range(of: Data([0xFF, 0xC0]))).lowerBound
        var lossless = data
        lossless[frame + 1] = 0xC3
        var twelve = data
        twelve[frame + 4] = 12
        var flat = data
        flat[(frame + 5)...(frame + 6)] = Data([0, 0])

        #expect(reason { try Image.decode(lossless) } == .unsupported)
        #expect(reason { try Image.decode(twelve) } == .unsupported)
        #expect(reason { try Image.decode(flat) } == .malformed)
        #expect(reason { try Image.decode(data.prefix(2) + Data([0xFF, 0xD9])) } == .malformed)
        #expect(reason { try Image.decode(data.prefix(2) + Data([0xFF, 0xE0, 0, 1])) } == .malformed)
        #expect(reason { try Image.decode(data.prefix(2) + Data([0xFF, 0xE0, 0xFF, 0xFF])) } == .truncated)
        #expect(reason { try Image.decode(data.prefix(2) + Data(repeating: 0xFF, count: 1000)) } == .truncated)
    }
}
