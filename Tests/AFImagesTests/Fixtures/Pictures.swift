/// Pictures for tests.
enum Pictures {
    /// One of the dimensions of AFNetworking's logo, which costs 1 020 000 bytes.
    static let logo = plain(width: 850, height: 300)

    static func plain(width: Int, height: Int, value: UInt8 = 128) -> Image {
        let pixels = [UInt8](repeating: value, count: width * height * 4)
        guard let image = try? Image(width: width, height: height, pixels: pixels, alpha: .premultiplied) else {
            preconditionFailure("\(width) × \(height) is a picture")
        }
        return image
    }

    /// A file that noise keeps from becoming small.
    static func file(width: Int = 20, height: Int = 10, seed: UInt64 = 1) throws -> Data {
        var state = seed &* 2 &+ 1
        let pixels = (0..<(width * height * 4)).map { index -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: state >> 33)
        }
        return try Image(width: width, height: height, pixels: pixels, alpha: .opaque).pngData()
    }
}
