import AFBase
import AFFaults
import AFWire
import Testing

/// 64 KiB of what makes careless parsers quadratic or worse.
struct EvilShapeTests {
    private static let pieces: [[UInt8]] =
        [
            "\"", "\\", "\\\"", "\"\\", ",", ";", "=", "=\"", "a=", "a=\"\",", " ", "\t", ", ", "a", "a,", "a ", "a b,",
            "@", "'", "%", "%4", "%41", "/", "a/", "a=b;", "a=b,", ";a", "; ", "Basic ", "Basic a,", "Basic a=b,",
            "a=b c=d,", "Sun, ", "0", "-", ".", "(", "<",
        ].map { Array($0.utf8) } + [[0xA0], [0x80], [0xFF], [0x00], [0xC3]]

    private struct Parser: Sendable {
        let name: String
        /// What leads a careless parser into its worst loop.
        let prefixes: [String]
        let parse: @Sendable (UnsafeRawBufferPointer) -> Void
    }

    private static let parsers = [
        Parser(name: "WWW-Authenticate", prefixes: ["", "a b=\""]) { _ = Challenge.list($0) },
        Parser(name: "Content-Type", prefixes: ["text/html;a=", "text/html;a=\""]) { _ = MediaType($0)?.charset },
        Parser(name: "Content-Disposition", prefixes: ["", "a b=\"", "a;filename=\"", "a;filename*=UTF-8''"]) {
            _ = ContentDisposition($0)
        },
        Parser(name: "Cache-Control", prefixes: ["", "max-age=\""]) { bytes in
            var control = CacheControl()
            control.add(bytes)
        },
        Parser(name: "Date", prefixes: [""]) { _ = HTTPDate.seconds($0) },
        Parser(name: "percent", prefixes: [""]) { _ = PercentEncoding.decode($0) },
        Parser(name: "base64", prefixes: [""]) { _ = Base64.decode($0) },
        Parser(name: "escape", prefixes: [""]) { _ = EscapedText($0) },
    ]

    @Test(arguments: parsers.indices)
    func `T-MSG-36 T-REQ-31 every evil shape of 64 KiB is read in linear time`(index: Int) {
        let parser = Self.parsers[index]
        for prefix in parser.prefixes {
            for piece in Self.pieces {
                let text = Array(prefix.utf8) + Self.doubled(piece, upTo: 65_536)

                let cost = CPUTime.of { text.withUnsafeBytes(parser.parse) }

                #expect(cost < CPUTime.limitFor64KiB, "\(parser.name): \(prefix) then \(EscapedText(piece))")
            }
        }
    }

    @Test(arguments: [31, 32, 33] as [UInt64])
    func `no parser traps on random text`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).flatMap { _ in
                Self.pieces.randomElement(using: &random) ?? []
            }
            for parser in Self.parsers { bytes.withUnsafeBytes(parser.parse) }
        }
    }

    /// Doubling copies whole blocks, which is fast without optimisation too.
    private static func doubled(_ piece: [UInt8], upTo length: Int) -> [UInt8] {
        var bytes = piece
        while bytes.count * 2 <= length { bytes += bytes }
        return bytes + bytes.prefix(length - bytes.count)
    }
}
