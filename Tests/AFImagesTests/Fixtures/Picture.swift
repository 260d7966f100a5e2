/// Pixels to compare with.
struct Picture: Equatable {
    let width: Int
    let height: Int
    var pixels: [UInt8]

    init(width: Int, height: Int, pixels: [UInt8]) {
        (self.width, self.height, self.pixels) = (width, height, pixels)
    }

    /// A picture of what a function says of each column and row.
    init(_ width: Int, _ height: Int, _ pixel: (Int, Int) -> [UInt8]) {
        var pixels: [UInt8] = []
        for y in 0..<height { for x in 0..<width { pixels += pixel(x, y) } }
        self.init(width: width, height: height, pixels: pixels)
    }

    init(_ image: Image) {
        self.init(width: image.width, height: image.height, pixels: image.withUnsafeBytes { [UInt8]($0) })
    }

    /// No two of its pixels are the same, up to 256 × 256.
    static func distinct(_ width: Int, _ height: Int) -> Picture {
        Picture(width, height) { x, y in [UInt8(truncatingIfNeeded: x), UInt8(truncatingIfNeeded: y), 40, 255] }
    }

    /// Without edges, so that little of it is lost.
    static func smooth(_ width: Int, _ height: Int) -> Picture {
        Picture(width, height) { x, y in
            [
                UInt8(40 + 160 * x / width), UInt8(40 + 160 * y / height), UInt8(80 + 80 * (x + y) / (width + height)),
                255,
            ]
        }
    }

    /// With all of alpha.
    static func translucent(_ width: Int, _ height: Int) -> Picture {
        Picture(width, height) { x, y in
            [UInt8(17 * x % 256), UInt8(29 * y % 256), UInt8((x * y) % 256), UInt8((x * 31 + y * 57) % 256)]
        }
    }

    static func filled(_ width: Int, _ height: Int, _ pixel: [UInt8]) -> Picture {
        Picture(width, height) { _, _ in pixel }
    }

    subscript(x: Int, y: Int) -> [UInt8] { Array(pixels[(4 * (y * width + x))..<(4 * (y * width + x + 1))]) }

    /// As it is shown, by what Exif says of where the first row and the first column are.
    func turned(_ orientation: Int) -> Picture {
        let (w, h) = (width, height)
        return Picture(orientation < 5 ? w : h, orientation < 5 ? h : w) { x, y in
            switch orientation {
            case 2: self[w - 1 - x, y]
            case 3: self[w - 1 - x, h - 1 - y]
            case 4: self[x, h - 1 - y]
            case 5: self[y, x]
            case 6: self[y, h - 1 - x]
            case 7: self[w - 1 - y, h - 1 - x]
            case 8: self[w - 1 - y, x]
            default: self[x, y]
            }
        }
    }

    /// The largest difference of two bytes; nil if the dimensions differ.
    func difference(from other: Picture) -> Int? {
        guard width == other.width, height == other.height else { return nil }
        return zip(pixels, other.pixels).map { abs(Int($0) - Int($1)) }.max()
    }
}

extension Image {
    init(_ picture: Picture, alpha: Alpha = .straight) throws {
        try self.init(width: picture.width, height: picture.height, pixels: picture.pixels, alpha: alpha)
    }
}

/// The reason for which something fails; nil if it does not.
func reason<Value>(_ body: () throws -> Value) -> ImageError.Reason? {
    do {
        _ = try body()
        return nil
    } catch let error as ImageError {
        return error.reason
    } catch {
        Issue.record(error)
        return nil
    }
}

/// Numbers that a seed decides.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension FixedWidthInteger {
    var bigBytes: [UInt8] { Swift.withUnsafeBytes(of: bigEndian) { [UInt8]($0) } }
    var littleBytes: [UInt8] { Swift.withUnsafeBytes(of: littleEndian) { [UInt8]($0) } }
}
