@Suite struct ImageTests {
    @Test func `a picture has the pixels it was made of, and its copies share them`() throws {
        let pixels = Data((0..<24).map { UInt8($0) })

        let image = try Image(width: 3, height: 2, pixels: pixels, scale: 2)
        let copy = image

        #expect(image.withUnsafeBytes { Data($0) } == pixels)
        #expect((image.width, image.height, image.byteCount) == (3, 2, 24))
        #expect(image.size == CGSize(width: 1.5, height: 1))
        #expect(image.alpha == .straight)
        #expect(image.format == nil)
        #expect(copy.sharesPixels(with: image))
    }

    @Test func `pictures are equal if everything of them is`() throws {
        let pixels = Data(repeating: 7, count: 8)
        let image = try Image(width: 2, height: 1, pixels: pixels)

        #expect(try image == Image(width: 2, height: 1, pixels: pixels))
        #expect(try !image.sharesPixels(with: Image(width: 2, height: 1, pixels: pixels)))
        #expect(try image != Image(width: 1, height: 2, pixels: pixels))
        #expect(try image != Image(width: 2, height: 1, pixels: pixels, scale: 2))
        #expect(try image != Image(width: 2, height: 1, pixels: pixels, alpha: .premultiplied))
        #expect(try image != Image(width: 2, height: 1, pixels: pixels, format: .png))
        #expect(try image != Image(width: 2, height: 1, pixels: Data(repeating: 8, count: 8)))
    }

    private static let impossibleSizes: [(Int, Int)] = {
        let half = 1 << 32
        let most = Int.max
        let near: [(Int, Int)] = [(0, 1), (1, 0), (0, 0), (-1, 1), (1, -1), (-1, -1), (2, 2), (1, 2)]
        let far: [(Int, Int)] = [
            (most, 1), (1, most), (most, most), (Int.min, Int.min), (half, half), (half / 2, half / 4),
        ]
        return near + far
    }()

    @Test("T-IMG-02 sizes that overflow, are none or do not fit are errors", arguments: impossibleSizes)
    func sizes(_ width: Int, _ height: Int) {
        #expect(throws: ImageError.self) { try Image(width: width, height: height, pixels: Data(count: 4)) }
    }

    @Test(
        "T-IMG-18 a scale that is no number or out of bounds is an error",
        arguments: [0, -1, -0.0, .nan, .infinity, -.infinity, 1e300, .leastNonzeroMagnitude, 0.000_99, 1000.1]
    )
    func scales(_ scale: Double) {
        let error = #expect(throws: ImageError.self) {
            try Image(width: 1, height: 1, pixels: Data(count: 4), scale: scale)
        }
        #expect(error?.reason == .scale)
    }
}
