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
            if input.count.isMultiple(of: 3) { options.targetSize = PixelSize(width: 2, height: 2) }
            guard let file = try? EncodedImage(Data(input), options: options) else { return }
            if let image = try? file.decode() {
                try expect(image.width * image.height <= 1 << 20, "it has \(image.width) x \(image.height) pixels")
            }
            _ = try? file.decodeFrames()
        }
    }

    private static let pngSeeds: [[UInt8]] = {
        let pixels = Data((0..<64).map { UInt8($0 * 4) })
        guard let image = try? Image(width: 4, height: 4, pixels: pixels), let data = try? image.pngData() else {
            return []
        }
        let png = Array(data)
        // Behind the first chunk; with no checksum that is right, which only costs libpng the orientation.
        let turned = png[..<33] + big(UInt32(exif.count)) + Array("eXIf".utf8) + exif + [0, 0, 0, 0] + png[33...]
        return [png, Array(turned)]
    }()

    /// The orientation alone: turned to the right.
    private static let exif =
        Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]

    private static func big(_ number: UInt32) -> [UInt8] { little(number).reversed() }

    /// One grey pixel; and turned.
    private static let jpegSeeds: [[UInt8]] = {
        let pixel =
            [0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
            + [0xFF, 0xC0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0]
            + [0xFF, 0xC4, 0, 20, 0, 1] + [UInt8](repeating: 0, count: 16)
            + [0xFF, 0xC4, 0, 20, 0x10, 1] + [UInt8](repeating: 0, count: 16)
            + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x3F, 0xFF, 0xD9]
        let turned = [0xFF, 0xE1, 0, UInt8(exif.count + 8)] + Array("Exif\u{0}\u{0}".utf8) + exif
        return [[0xFF, 0xD8] + pixel, [0xFF, 0xD8] + turned + pixel]
    }()

    /// One frame; and two that are shown again and again.
    private static let gifSeeds: [[UInt8]] = {
        let screen = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let frame: [UInt8] = [
            0x21, 0xF9, 4, 1, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0,
        ]
        let loops = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        return [screen + frame + [0x3B], screen + loops + frame + frame + [0x3B]]
    }()

    /// One pixel; and an animation of it, turned.
    private static let webpSeeds: [[UInt8]] = {
        let pixel =
            Array("VP8L".utf8) + [13, 0, 0, 0, 0x2F, 0, 0, 0, 0x10, 7, 0x10, 0x11, 0x11, 0x88, 0x88, 0xFE, 7, 0]
        let frame = [UInt8](repeating: 0, count: 12) + [50, 0, 0, 0] + pixel
        let animation =
            chunk("VP8X", [0x0A] + [UInt8](repeating: 0, count: 9)) + chunk("ANIM", [0, 0, 0, 0, 0, 0])
            + chunk("ANMF", frame) + chunk("ANMF", frame) + chunk("EXIF", exif)
        let extended = chunk("VP8X", [0x08] + [UInt8](repeating: 0, count: 9)) + pixel + chunk("EXIF", exif)
        return [pixel, animation, extended].map { chunk("RIFF", Array("WEBP".utf8) + $0) }
    }()

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(UInt32(content.count)) + content
    }
}
