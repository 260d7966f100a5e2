import AFBase
import AFWire
import Testing

struct EscapedTextTests {
    @Test(arguments: [
        ("plain", "plain"), ("", ""), ("a\r\nb", "a\\r\\nb"), ("\t", "\\t"), ("\\", "\\\\"), ("\"", "\\\""),
    ])
    func `T-MSG-57 line breaks and quotation marks are escaped`(text: String, expected: String) {
        #expect(EscapedText(text).text == expected)
        #expect(EscapedText(text).description == "\"\(expected)\"")
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `T-MSG-57 any byte becomes printable ASCII`(byte: UInt8) {
        let text = EscapedText([byte]).text

        #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(!text.isEmpty)
    }

    @Test(arguments: ["a", "\u{1B}", "\n", "\"", "ü"])
    func `T-MSG-57 a megabyte is cut to 256 bytes`(piece: String) {
        let text = EscapedText(String(repeating: piece, count: 1 << 20)).text

        #expect((250...256).contains(text.utf8.count))
        #expect(text.hasSuffix("..."))
    }
}
