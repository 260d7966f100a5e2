import AFWire
import Testing

struct PercentEncodingTests {
    private static func decode(_ text: String) -> [UInt8]? {
        text.withUTF8Bytes { PercentEncoding.decode($0) }
    }

    @Test(arguments: ["%", "a%", "%4", "%z1", "%1z", "%%41", "%+1", "% 1", "%-1", "%0x", "%４１", "%4\u{0}"])
    func `T-REQ-31 what begins no triplet does not decode`(text: String) {
        #expect(Self.decode(text) == nil)
    }

    @Test func `T-REQ-31 decoding happens once`() {
        #expect(Self.decode("%2541") == Array("%41".utf8))
        #expect(Self.decode("%25%34%31") == Array("%41".utf8))
        #expect(Self.decode("%00%fF%Ff") == [0, 255, 255])
        #expect(Self.decode("") == [])
        #expect(Self.decode("+") == [0x2B])
    }

    @Test(arguments: [11, 12, 13] as [UInt64])
    func `T-REQ-31 encoding and decoding are inverse for any bytes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            for set in [ASCIISet.unreserved, .attribute] {
                let encoded = bytes.withUnsafeBytes { PercentEncoding.encode($0, allowed: set) }
                // `attribute` lets no percent sign through, nor does `unreserved`.
                #expect(encoded.withUnsafeBytes { PercentEncoding.decode($0) } == bytes)
            }
        }
    }

    @Test(arguments: [14, 15] as [UInt64])
    func `T-REQ-31 encoding what is encoded changes nothing`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("%%%%0123456789abcdefABCDEFxyz /?\u{0}\u{7F}".utf8) + [0x80, 0xFF]
        for _ in 0..<1000 {
            let bytes = (0..<Int.random(in: 0...20, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            }
            let once = bytes.withUnsafeBytes { PercentEncoding.encodeOnce($0, allowed: .target) }

            let twice = once.withUnsafeBytes { PercentEncoding.encodeOnce($0, allowed: .target) }

            #expect(twice == once, "\(bytes)")
            #expect(once.withUnsafeBytes { PercentEncoding.decode($0) } != nil, "\(bytes)")
        }
    }

    @Test func `T-REQ-31 the result is three times as long at most and exactly sized`() {
        let zeros = [UInt8](repeating: 0, count: 65_536)

        let encoded = zeros.withUnsafeBytes { PercentEncoding.encode($0, allowed: .unreserved) }

        #expect(encoded.count == 3 * 65_536)
        #expect(encoded.prefix(6) == Array("%00%00".utf8)[...])
    }

    @Test func `upper case digits are written, both are read`() {
        #expect(PercentEncoding.encode("\u{7F}/ü", allowed: .unreserved) == "%7F%2F%C3%BC")
        #expect(Self.decode("%c3%BC") == Array("ü".utf8))
    }
}
