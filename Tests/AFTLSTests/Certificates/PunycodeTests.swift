import Testing

@testable import AFTLS

@Suite struct PunycodeTests {
    @Test(
        "labels decode and encode back",
        arguments: [
            ("bcher-kva", "bücher"), ("fiqs8s", "中国"), ("mnchen-3ya", "münchen"), ("80ak6aa92e", "аррӏе"),
            ("egbpdaj6bu4bxfgehfvwxn", "ليهمابتكلموشعربي؟"), ("3B-ww4c5e180e575a65lsy2b", "3B是這個組合"),
            ("-with-super-monkeys-pc58ag80a8qai00g7n9n", "安室奈美恵-with-super-monkeys"), ("ls8h", "💩"),
        ]
    )
    func roundTrip(_ label: String, _ text: String) {
        let scalars = text.unicodeScalars.map(\.value)

        #expect(Punycode.encode(scalars).map { String(decoding: $0, as: UTF8.self) } != nil)
        if label == label.lowercased() {
            #expect(Punycode.decode(label.utf8) == scalars)
            #expect(Punycode.isCanonical(label.utf8))
        }
    }

    @Test(
        "a label that says nothing, overflows or is malformed is none",
        arguments: [
            "", "example-", "-", "a-", "a", "99999999", "zzzzzzzzzzzzzzzzzzzzzzz", "a-99999", "bücher", "a!",
            "0000000000000", "-fiqs8s", "ls8h=", "99999a",
        ]
    )
    func refused(_ label: String) {
        #expect(!Punycode.isCanonical(label.utf8))
    }

    @Test("no sequence of bytes traps, and what is accepted has one spelling")
    func random() {
        var generator = SeededGenerator(seed: 7)
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789-".utf8)
        for _ in 0..<20_000 {
            let label = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            if Punycode.isCanonical(label), let scalars = Punycode.decode(label) {
                #expect(Punycode.encode(scalars) == label)
            }
        }
    }
}
