/// GIF files made by hand, of up to 128 colours: codes of eight bits, started anew before they would need nine.
struct GIFFile {
    struct Frame {
        var left = 0
        var top = 0
        var width: Int
        var height: Int
        /// A number of a colour for each pixel.
        var numbers: [UInt8]
        var delay = 0
        var disposal = 0
        var transparent: Int?
        var isInterlaced = false
        /// Colours of its own, of which there must be 128.
        var colours: [[UInt8]]?
        var hasControl = true
    }

    var width: Int
    var height: Int
    var frames: [Frame]
    /// Colours of all frames; nil for none.
    var colours: [[UInt8]]? = GIFFile.greys
    var comment = ""

    init(_ width: Int, _ height: Int, _ frames: [Frame]) {
        (self.width, self.height, self.frames) = (width, height, frames)
    }

    /// Colour n is twice that grey.
    static let greys: [[UInt8]] = (0..<128).map { Array(repeating: UInt8(2 * $0), count: 3) }

    static func grey(_ number: Int) -> [UInt8] { [UInt8(2 * number), UInt8(2 * number), UInt8(2 * number), 255] }

    /// A frame with one colour.
    static func filled(_ number: UInt8, _ width: Int, _ height: Int, _ change: (inout Frame) -> Void = { _ in })
        -> Frame
    {
        var frame = Frame(width: width, height: height, numbers: Array(repeating: number, count: width * height))
        change(&frame)
        return frame
    }

    var data: Data {
        var bytes = Array("GIF89a".utf8) + short(width) + short(height) + [colours == nil ? 0 : 0x86, 0, 0]
        bytes += (colours ?? []).flatMap { $0 }
        bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        if !comment.isEmpty { bytes += [0x21, 0xFE] + Self.blocks(Array(comment.utf8)) }
        return Data(bytes + frames.flatMap(encoded) + [0x3B])
    }

    private func encoded(_ frame: Frame) -> [UInt8] {
        var bytes: [UInt8] = []
        if frame.hasControl {
            let flags = UInt8(frame.disposal << 2) | (frame.transparent == nil ? 0 : 1)
            bytes += [0x21, 0xF9, 4, flags] + short(frame.delay) + [UInt8(frame.transparent ?? 0), 0]
        }
        let flags: UInt8 = (frame.colours == nil ? 0 : 0x86) | (frame.isInterlaced ? 0x40 : 0)
        bytes += [0x2C] + short(frame.left) + short(frame.top) + short(frame.width) + short(frame.height) + [flags]
        bytes += (frame.colours ?? []).flatMap { $0 }
        return bytes + [7] + Self.blocks(Self.codes(stored(frame)))
    }

    /// The rows in the order in which they are stored.
    private func stored(_ frame: Frame) -> [UInt8] {
        guard frame.isInterlaced else { return frame.numbers }
        let rows = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0, to: frame.height, by: $1)) }
        return rows.flatMap { Array(frame.numbers[($0 * frame.width)..<(($0 + 1) * frame.width)]) }
    }

    private static func codes(_ numbers: [UInt8]) -> [UInt8] {
        var codes: [UInt8] = []
        for (index, number) in numbers.enumerated() {
            if index % 100 == 0 { codes.append(0x80) }
            codes.append(number & 0x7F)
        }
        return codes + [0x81]
    }

    private static func blocks(_ bytes: [UInt8]) -> [UInt8] {
        stride(from: 0, to: bytes.count, by: 255).flatMap { start in
            let block = bytes[start..<min(start + 255, bytes.count)]
            return [UInt8(block.count)] + block
        } + [0]
    }

    private func short(_ value: Int) -> [UInt8] { UInt16(truncatingIfNeeded: value).littleBytes }
}
