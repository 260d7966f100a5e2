/// PNG files made by hand, without libpng: every field can be wrong.
struct PNGFile {
    var width: Int
    var height: Int
    var depth = 8
    /// 0 grey, 2 colours, 3 palette, 4 grey and alpha, 6 colours and alpha.
    var kind = 6
    var isInterlaced = false
    /// Chunks between the header and the pixels, those of the pixels, and those behind.
    var before: [(String, [UInt8])] = []
    var pixels: [(String, [UInt8])] = []
    var after: [(String, [UInt8])] = []

    init(_ width: Int, _ height: Int, depth: Int = 8, kind: Int = 6) {
        (self.width, self.height, self.depth, self.kind) = (width, height, depth, kind)
    }

    /// Colours and alpha of a picture.
    init(_ picture: Picture) {
        self.init(picture.width, picture.height)
        setRows { y in Array(picture.pixels[(y * picture.width * 4)..<((y + 1) * picture.width * 4)]) }
    }

    /// Sets rows of samples as the format packs them.
    mutating func setRows(_ row: (Int) -> [UInt8]) {
        pixels = [("IDAT", Self.zlib((0..<height).flatMap { [0] + row($0) }))]
    }

    /// The seven passes in which an interlaced picture is stored, of whole bytes for each pixel.
    mutating func setInterlacedRows(_ pixel: (Int, Int) -> [UInt8]) {
        isInterlaced = true
        let passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        var bytes: [UInt8] = []
        for (left, top, right, down) in passes where left < width {
            for y in stride(from: top, to: height, by: down) {
                bytes += [0] + stride(from: left, to: width, by: right).flatMap { pixel($0, y) }
            }
        }
        pixels = [("IDAT", Self.zlib(bytes))]
    }

    var data: Data {
        let header =
            UInt32(truncatingIfNeeded: width).bigBytes + UInt32(truncatingIfNeeded: height).bigBytes
            + [UInt8(depth), UInt8(kind), 0, 0, isInterlaced ? 1 : 0]
        let chunks = [("IHDR", header)] + before + pixels + after + [("IEND", [])]
        return Data([0x89] + Array("PNG\r\n\u{1A}\n".utf8) + chunks.flatMap { Self.chunk($0.0, $0.1) })
    }

    static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + content
        return UInt32(content.count).bigBytes + named + checksum(named).bigBytes
    }

    /// Data of zlib that are not compressed.
    static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var coded: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let end = min(start + 65_535, bytes.count)
            let count = UInt16(end - start)
            coded += [end == bytes.count ? 1 : 0] + count.littleBytes + (~count).littleBytes + bytes[start..<end]
            start = end
        } while start < bytes.count
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return coded + (b << 16 | a).bigBytes
    }

    private static let table: [UInt32] = (0..<256).map { n in
        (0..<8).reduce(UInt32(n)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    /// A file whose chunks have the checksums of what they contain, as far as they can be told apart.
    static func withChecksums(_ file: Data) -> Data {
        var bytes = [UInt8](file)
        var start = 8
        while start + 12 <= bytes.count {
            let length = bytes[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) }
            let end = start + 8 + length
            guard end + 4 <= bytes.count else { break }
            bytes.replaceSubrange(end..<(end + 4), with: checksum(Array(bytes[(start + 4)..<end])).bigBytes)
            start = end + 4
        }
        return Data(bytes)
    }

    /// CRC-32.
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
    }
}

/// Exif data that say an orientation, in either order of bytes, among other things.
func exif(_ orientation: Int, isBigEndian: Bool = true) -> [UInt8] {
    func short(_ value: Int) -> [UInt8] { isBigEndian ? UInt16(value).bigBytes : UInt16(value).littleBytes }
    func long(_ value: Int) -> [UInt8] { isBigEndian ? UInt32(value).bigBytes : UInt32(value).littleBytes }
    let model = short(0x0110) + short(2) + long(4) + Array("ABC\0".utf8)
    let turn = short(0x0112) + short(3) + long(1) + short(orientation) + short(0)
    return Array((isBigEndian ? "MM" : "II").utf8) + short(42) + long(8) + short(2) + model + turn + long(0)
}
