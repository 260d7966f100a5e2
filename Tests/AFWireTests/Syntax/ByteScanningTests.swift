import AFBase
import AFWire
import Testing

@Suite struct ByteScanningTests {
    private func number(_ text: String, _ read: (UnsafeRawBufferPointer) -> Int64?) -> Int64? {
        Array(text.utf8).withUnsafeBytes { read($0) }
    }

    @Test func `tokens are the bytes RFC 9110 names`() {
        let tokens = Set("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

        for byte in UInt8.min...UInt8.max { #expect(ByteScanning.isToken(byte) == tokens.contains(byte)) }
    }

    @Test func `only A to Z fold`() {
        for byte in UInt8.min...UInt8.max {
            let expected = (0x41...0x5A).contains(byte) ? byte + 32 : byte
            #expect(ASCII.folded(byte) == expected)
        }
    }

    @Test func `decimal numbers are digits up to 63 bits`() {
        #expect(number("0", ByteScanning.decimal) == 0)
        #expect(number("0012", ByteScanning.decimal) == 12)
        #expect(number("9223372036854775807", ByteScanning.decimal) == .max)
        for text in ["", "+1", "-1", " 1", "1 ", "1a", "9223372036854775808", "99999999999999999999"] {
            #expect(number(text, ByteScanning.decimal) == nil, "\(text)")
        }
    }

    @Test func `hexadecimal numbers are digits up to 63 bits`() {
        #expect(number("0", ByteScanning.hexadecimal) == 0)
        #expect(number("aBcDeF09", ByteScanning.hexadecimal) == 0xABCD_EF09)
        #expect(number("7fffffffffffffff", ByteScanning.hexadecimal) == .max)
        for text in ["", "+1", "-1", "0x1", "g", "@", "`", "8000000000000000", "10000000000000000"] {
            #expect(number(text, ByteScanning.hexadecimal) == nil, "\(text)")
        }
    }

    @Test func `optional white space is SP and HTAB`() {
        let text = Array("\t a \u{A0}\t ".utf8)

        text.withUnsafeBytes { bytes in
            #expect(Array(ByteScanning.trimmingOWS(bytes)) == Array("a \u{A0}".utf8))
        }
        [0x20, 0x09].withUnsafeBytes {
            #expect(ByteScanning.trimmingOWS(UnsafeRawBufferPointer(rebasing: $0[..<1])).isEmpty)
        }
    }
}
