import AFImages
import Foundation

extension FuzzTarget {
    /// Pictures, whole and by their frames.
    static let pictures = [
        picture("png", pngSeeds), picture("jpeg", jpegSeeds), picture("webp", webpSeeds), picture("gif", gifSeeds),
    ]

    private static func picture(_ name: String, _ seeds: [[UInt8]]) -> FuzzTarget {
        FuzzTarget(name, longest: 16 << 10, seeds: seeds) { input in
            var options = ImageDecodingOptions()
            options.maximumPixels = 1 << 20
            guard let file = try? EncodedImage(Data(input), options: options) else { return }
            if let image = try? file.decode() {
                try expect(image.width * image.height <= 1 << 20, "it has \(image.width) x \(image.height) pixels")
            }
            _ = try? file.decodeFrames()
        }
    }

    private static let pngSeeds: [[UInt8]] = {
        let pixels = Data((0..<64).map { UInt8($0 * 4) })
        let image = try? Image(width: 4, height: 4, pixels: pixels)
        return [image.flatMap { try? $0.pngData() }].compactMap { $0 }.map { Array($0) }
    }()

    /// One grey pixel.
    private static let jpegSeeds: [[UInt8]] = [
        [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
            + [0xFF, 0xC0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0]
            + [0xFF, 0xC4, 0, 20, 0, 1] + [UInt8](repeating: 0, count: 16)
            + [0xFF, 0xC4, 0, 20, 0x10, 1] + [UInt8](repeating: 0, count: 16)
            + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x3F, 0xFF, 0xD9]
    ]

    private static let gifSeeds: [[UInt8]] = [
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
            + [0x21, 0xF9, 4, 1, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
    ]

    private static let webpSeeds: [[UInt8]] = [
        Array("RIFF".utf8) + [26, 0, 0, 0] + Array("WEBPVP8L".utf8)
            + [13, 0, 0, 0, 0x2F, 0, 0, 0, 0x10, 7, 0x10, 0x11, 0x11, 0x88, 0x88, 0xFE, 7, 0]
    ]
}
