import AFImages
import CDecoders
import Foundation

/// Decodes pictures with our library and with the C libraries called directly.
///
/// usage: decodebench make FOLDER              pictures of 12 megapixels
///        decodebench compare FILE ROUNDS      by turns; prints a line of JSON with what each computed, in milliseconds
///        decodebench ours|direct FILE ROUNDS  only that, for programs that count instructions
@main
struct DecodeBench {
    static func main() throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, words.count) {
        case ("make", 2): try make(in: URL(fileURLWithPath: words[1]))
        case ("compare", 3): try compare(Data(contentsOf: URL(fileURLWithPath: words[1])), Int(words[2]) ?? 1)
        case ("ours", 3), ("direct", 3):
            let data = try Data(contentsOf: URL(fileURLWithPath: words[1]))
            for _ in 0..<(Int(words[2]) ?? 1) { _ = try words[0] == "ours" ? ours(data) : direct(data) }
        default:
            FileHandle.standardError.write(
                Data("usage: decodebench make FOLDER | compare|ours|direct FILE ROUNDS\n".utf8)
            )
            exit(2)
        }
    }

    // MARK: One picture

    /// - Returns: How many bytes of pixels there are.
    private static func ours(_ data: Data) throws -> Int { try Image.decode(data).byteCount }

    private static func direct(_ data: Data) throws -> Int {
        try data.withUnsafeBytes { file in
            let bytes = file.bindMemory(to: UInt8.self).baseAddress
            var count = 0
            let pixels =
                switch ImageFormat.sniff(data) {
                case .png: cdec_png(bytes, file.count, &count)
                case .webp: cdec_webp(bytes, file.count, &count)
                default: cdec_jpeg(bytes, file.count, &count)
                }
            guard let pixels else { throw CocoaError(.fileReadCorruptFile) }
            free(pixels)
            return count
        }
    }

    // MARK: Comparing

    private static func compare(_ data: Data, _ rounds: Int) throws {
        guard try ours(data) == direct(data) else { throw CocoaError(.fileReadCorruptFile) }
        var times: [String: [Double]] = ["ours": [], "direct": []]
        for round in 0..<rounds {
            // Whoever is second finds the caches as the first has left them.
            for name in round % 2 == 0 ? ["ours", "direct"] : ["direct", "ours"] {
                let start = cdec_computed()
                _ = try name == "ours" ? ours(data) : direct(data)
                times[name]?.append(Double(cdec_computed() - start) / 1e6)
            }
        }
        print(String(decoding: try JSONEncoder().encode(times), as: UTF8.self))
    }

    // MARK: Making pictures

    /// As cameras make them: light that changes slowly, edges, and noise.
    private static func make(in folder: URL) throws {
        let (width, height) = (4000, 3000)
        var pixels = [UInt8](repeating: 255, count: width * height * 4)
        var noise: UInt32 = 1
        for y in 0..<height {
            for x in 0..<width {
                noise = noise &* 1_664_525 &+ 1_013_904_223
                let grain = Int(noise >> 28)
                let tile = (x / 97 + y / 61) % 5 * 12
                let at = 4 * (y * width + x)
                pixels[at] = UInt8(x * 160 / width + tile + grain)
                pixels[at + 1] = UInt8(y * 160 / height + tile + grain)
                pixels[at + 2] = UInt8((x + y) * 160 / (width + height) + 48 - tile + grain)
            }
        }
        func write(_ name: String, _ encode: (inout Int) -> UnsafeMutablePointer<UInt8>?) throws {
            var count = 0
            guard let bytes = encode(&count) else { throw CocoaError(.fileWriteUnknown) }
            try Data(bytesNoCopy: bytes, count: count, deallocator: .free).write(
                to: folder.appendingPathComponent(name)
            )
        }
        let (w, h) = (UInt32(width), UInt32(height))
        try write("photo.jpg") { cdec_make_jpeg(pixels, w, h, 0, &$0) }
        try write("progressive.jpg") { cdec_make_jpeg(pixels, w, h, 1, &$0) }
        try write("photo.webp") { cdec_make_webp(pixels, w, h, &$0) }
        let image = try Image(width: width, height: height, pixels: pixels, alpha: .opaque)
        try image.pngData().write(to: folder.appendingPathComponent("photo.png"))
        let clear = try Image(width: width, height: height, pixels: pixels)
        try clear.pngData().write(to: folder.appendingPathComponent("alpha.png"))
    }
}
