import Testing

@testable import AFTLS

@Suite struct PeerNameTests {
    static let hosts: [(String, String)] = [
        ("example.com", "example.com"), ("Example.COM", "example.com"), ("example.com.", "example.com"),
        ("localhost", "localhost"), ("a_b.example.com", "a_b.example.com"), ("1.a", "1.a"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"), ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("xn--fiqs8s", "xn--fiqs8s"), ("a--b.test", "a--b.test"), ("1.2.3.4.test", "1.2.3.4.test"), ("a.", "a"),
        ("xn--p1ai", "xn--p1ai"), ("a.0xg", "a.0xg"), ("a.0xag", "a.0xag"), ("a.0x-", "a.0x-"), ("a.x1", "a.x1"),
        ("test.83", "test.83"), ("a.1", "a.1"), ("A.0x1F", "a.0x1f"), ("1.a.2", "1.a.2"), ("a.0X", "a.0x"),
        ("0xg", "0xg"), ("0xg1", "0xg1"),
    ]

    @Test("a host has one canonical form, T-TLS-44", arguments: hosts)
    func canonical(_ host: String, _ name: String) {
        #expect(PeerName(host) == .dns(name))
    }

    static let refusedHosts: [String] = [
        "", ".", "..", ".example.com", "example.com..", "a..b", "exa\0mple.com", "example.com\0", "exämple.com",
        "example。com", "\u{212A}.com", "*.example.com", "a b.com", " a.com", "a.com ", "a/b", "a@b", "a:b", "a%b",
        "%",
        "xn--example-.com", "xn--.com", "xn--a.com", "xn--abc-.test", "xn--99999999.com", "xn--a-ecp!.com",
        "127.1", "127.0.0.1.", "2130706433", "0x7f000001", "0x7f.1", "1.0x1f", "0X", "0X7F.1", "7.0xabcdef", "1.",
        "1.2.3.4.5", "256.1.1.1",
        "01.2.3.4", "1.2.3", "09.1", "[1.2.3.4]", "[example.com]", "[]", "[", "[::1", "::1]", "[::1]x", "::1%",
        "fe80::1%a\0b", "1.2.3.4%eth0", ":::", "12345::", "::ffff:1.2.3.456", "[[::1]]",
    ]

    @Test("a name that may mean another host is refused, T-TLS-38, T-TLS-39, T-TLS-40", arguments: refusedHosts)
    func refused(_ host: String) {
        #expect(PeerName(host) == nil)
    }

    @Test("a name has no empty label, neither first nor last nor between")
    func emptyLabels() {
        for name in ["", ".", "a.", ".a", "a..b", "a.b."] { #expect(!DNSName.isValid(name.utf8)) }
        for name in ["a", "a.b", "-.1"] { #expect(DNSName.isValid(name.utf8)) }
    }

    @Test("a label consists of letters, digits, hyphens and underscores")
    func bytes() {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8)
        for byte in UInt8.min ... .max where byte != UInt8(ascii: ".") {
            #expect(DNSName.isValid([byte]) == allowed.contains(byte), "\(byte)")
        }
    }

    @Test("labels and names have the lengths of the DNS")
    func lengths() {
        let label = String(repeating: "a", count: 63)
        let longest = "\(label).\(label).\(label).\(String(repeating: "a", count: 61))"

        #expect(PeerName(label) == .dns(label))
        #expect(PeerName(label + "a") == nil)
        #expect(PeerName(longest) == .dns(longest))
        #expect(PeerName(longest + ".") == .dns(longest))
        #expect(PeerName(longest + "a") == nil)
        #expect(PeerName(String(repeating: "a.", count: 100_000)) == nil)
    }

    static let addressRows: [(String, [UInt8])] = [
        ("192.0.2.1", [192, 0, 2, 1]), ("::1", [UInt8](repeating: 0, count: 15) + [1]),
        ("[::1]", [UInt8](repeating: 0, count: 15) + [1]),
        ("[0:0:0:0:0:0:0:1]", [UInt8](repeating: 0, count: 15) + [1]),
        ("0000:0000::0001", [UInt8](repeating: 0, count: 15) + [1]),
        ("fe80::1%eth0", [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]),
        ("[FE80::1%25eth0]", [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]),
        ("::ffff:192.0.2.1", [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 1]),
    ]

    @Test("an address is its bytes, without brackets and zone, T-TLS-37", arguments: addressRows)
    func addresses(_ host: String, _ bytes: [UInt8]) {
        #expect(PeerName(host) == .ip(bytes))
    }

    @Test("the description of a name is readable, also of one that no parser made")
    func description() {
        #expect(PeerName("[2001:DB8::1]")?.description == "2001:db8::1")
        #expect(PeerName("A.test")?.description == "a.test")
        #expect(PeerName.dns("a\u{7}\u{202E}b").description == "a\\u{7}\\u{202e}b")
        #expect(PeerName.ip([1]).description == "an address of 1 bytes")
    }
}
