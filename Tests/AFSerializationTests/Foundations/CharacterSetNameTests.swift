@testable import AFSerialization

struct CharacterSetNameTests {
    @Test(
        "a character set is one by its ASCII letters, in either case",
        arguments: [
            ("MS_KANJI", String.Encoding.shiftJIS), ("ms_\u{212A}anji", .utf8), (" 'L1'\t", .isoLatin1),
            ("\u{A0}l1", .utf8), ("\"", .utf8), ("é", .utf8), ("", .utf8),
        ]
    )
    func characterSets(name: String, encoding: String.Encoding) {
        #expect(CharacterSetName.encoding(name) == encoding)
    }
}
