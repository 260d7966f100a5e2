import CAFImageFixtures
import Foundation

/// One small file of each format that is decoded.
struct SampleFile: Sendable {
    let name: String
    let type: String
    let width: Int
    let height: Int
    let data: Data
}

enum SampleFiles {
    struct CannotMake: Error {}

    private static let pixels = (0..<(12 * 8)).flatMap { number -> [UInt8] in
        [UInt8(number), UInt8(255 - number), 40, 255]
    }

    static func all() throws -> [SampleFile] {
        var options = caff_jpeg_options()
        (options.space, options.quality) = (CAFF_COLOURS, 90)
        var (jpegCount, webpCount) = (0, 0)
        let (jpeg, webp) = (caff_jpeg(pixels, 12, 8, options, &jpegCount), caff_webp(pixels, 12, 8, -1, &webpCount))
        defer {
            caff_free(jpeg)
            caff_free(webp)
        }
        guard let jpeg, let webp else { throw CannotMake() }
        return [
            SampleFile(
                name: "jpeg",
                type: "image/jpeg",
                width: 12,
                height: 8,
                data: Data(bytes: jpeg, count: jpegCount)
            ),
            SampleFile(
                name: "webp",
                type: "image/webp",
                width: 12,
                height: 8,
                data: Data(bytes: webp, count: webpCount)
            ),
            SampleFile(name: "gif", type: "image/gif", width: 4, height: 3, data: animation),
        ]
    }

    /// A GIF of three grey frames, that stay for 50, 90 and 200 ms: 128 greys, codes of eight bits, none of which
    /// stands for more than one pixel.
    static let animation: Data = {
        let (width, height) = (4, 3)
        var bytes = Array("GIF89a".utf8) + [UInt8(width), 0, UInt8(height), 0, 0x86, 0, 0]
        for grey in 0..<128 { bytes += [UInt8(2 * grey), UInt8(2 * grey), UInt8(2 * grey)] }
        for (grey, delay) in [(3, 5), (9, 9), (20, 20)] as [(UInt8, UInt8)] {
            bytes += [0x21, 0xF9, 4, 0, delay, 0, 0, 0]
            bytes += [0x2C, 0, 0, 0, 0, UInt8(width), 0, UInt8(height), 0, 0, 7]
            let codes = [0x80] + Array(repeating: grey, count: width * height) + [0x81]
            bytes += [UInt8(codes.count)] + codes + [0]
        }
        return Data(bytes + [0x3B])
    }()
}
