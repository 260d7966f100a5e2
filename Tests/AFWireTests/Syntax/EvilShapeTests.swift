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

    private static let prefixes = [
        "", "\"", "a ", "a=\"", "text/html;a=\"", "attachment; filename*=UTF-8''", "max-age=",
    ]

    private static let parsers: [(String, @Sendable (UnsafeRawBufferPointer) -> Void)] = [
        ("WWW-Authenticate", { _ = Challenge.list($0) }),
        ("Content-Type", { _ = MediaType($0)?.charset }),
        ("Content-Disposition", { _ = ContentDisposition($0) }),
        (
            "Cache-Control",
            { bytes in
                var control = CacheControl()
                control.add(bytes)
            }
        ),
        ("Date", { _ = HTTPDate.seconds($0) }),
        ("percent", { _ = PercentEncoding.decode($0) }),
        ("base64", { _ = Base64.decode($0) }),
        ("escape", { _ = EscapedText($0) }),
    ]

    @Test(arguments: prefixes.indices)
    func `T-MSG-36 T-REQ-31 every evil shape of 64 KiB is read in linear time`(index: Int) {
        let prefix = Array(Self.prefixes[index].utf8)
        for piece in Self.pieces {
            let body = Array(repeatElement(piece, count: 65_536 / piece.count).joined())
            for (name, parse) in Self.parsers {
                let cost = CPUTime.of { (prefix + body).withUnsafeBytes(parse) }

                #expect(cost < CPUTime.limitFor64KiB, "\(name): \(EscapedText(prefix)) then \(EscapedText(piece))")
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
            for (_, parse) in Self.parsers { bytes.withUnsafeBytes(parse) }
        }
    }
}
