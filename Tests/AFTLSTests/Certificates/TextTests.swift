import Testing

@testable import AFTLS

@Suite struct TextTests {
    @Test(
        "a moment is written without a calendar",
        arguments: [
            (0, "1970-01-01 00:00:00 UTC"), (-1, "1969-12-31 23:59:59 UTC"), (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_793_534_400, "2026-11-01 12:00:00 UTC"), (4_107_542_399, "2100-02-28 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"), (253_402_300_799, "9999-12-31 23:59:59 UTC"),
            (-62_167_219_200, "0000-01-01 00:00:00 UTC"), (.max, "the distant future"), (.min, "the distant past"),
        ] as [(Int64, String)]
    )
    func dates(_ seconds: Int64, _ text: String) {
        #expect(DateText.utc(seconds) == text)
    }

    @Test("characters that are invisible or turn text around are escaped, and the text is bounded")
    func escaping() {
        #expect(ByteText.escaped(Array("a\0b\r\n\u{7F}".utf8)) == "a\\u{0}b\\u{d}\\u{a}\\u{7f}")
        #expect(ByteText.escaped("é\u{85}\u{202E}\u{200B}\u{2028}") == "é\\u{85}\\u{202e}\\u{200b}\\u{2028}")
        #expect(ByteText.escaped([0x61, 0xFF, 0xC3]) == "a\u{FFFD}\u{FFFD}")
        #expect(ByteText.escaped(String(repeating: "é", count: 200)).utf8.count == 256 + 3)
        #expect(ByteText.escaped([UInt8](repeating: 0, count: 1_000_000)).utf8.count < 260)
        #expect(ByteText.hex([0, 0xAB, 0xFF]) == "00abff")
    }
}
