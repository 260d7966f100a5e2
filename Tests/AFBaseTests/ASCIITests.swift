import AFBase
import Testing

@Suite("Names and numbers of protocols")
struct ASCIITests {
    @Test(arguments: [("ABZ[@az", "abz[@az"), ("\u{212A}É", "\u{212A}É"), ("", "")])
    func `lower case is that of ASCII letters alone`(text: String, lowered: String) {
        #expect(Array(ASCII.lowered(text).utf8) == Array(lowered.utf8))
    }

    @Test(arguments: [("abz{`AZ", "ABZ{`AZ"), ("ßı", "ßı"), ("", "")])
    func `upper case is that of ASCII letters alone`(text: String, uppered: String) {
        #expect(Array(ASCII.uppered(text).utf8) == Array(uppered.utf8))
    }

    @Test(arguments: [
        ("007", 7), ("9223372036854775807", Int64.max), ("9223372036854775808", nil), ("+1", nil), ("-1", nil),
        ("\u{0665}", nil), ("1\u{0301}", nil), (" 1", nil), ("", nil),
    ])
    func `a number is of ASCII digits alone`(text: String, number: Int64?) {
        #expect(ASCII.number(text) == number)
    }
}
