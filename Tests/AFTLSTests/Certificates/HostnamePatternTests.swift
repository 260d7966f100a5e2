import AFTLS
import Testing

@Suite struct HostnamePatternTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let pattern: String
        let host: String
        let matches: Bool

        init(_ pattern: String, _ host: String, _ matches: Bool) {
            self.pattern = pattern
            self.host = host
            self.matches = matches
        }

        var testDescription: String { "\(pattern) \(matches ? "covers" : "does not cover") \(host)" }
    }

    static let plainRows: [Row] = [
        Row("example.com", "example.com", true), Row("EXAMPLE.com", "example.com", true),
        Row("example.com", "www.example.com", false), Row("www.example.com", "example.com", false),
        Row("example.com", "example.co", false), Row("example.co", "example.com", false),
        Row("example.com.", "example.com", false), Row(".example.com", "example.com", false),
        Row(".example.com", "www.example.com", false), Row("example..com", "example.com", false),
        Row("", "example.com", false), Row(".", "example.com", false), Row("localhost", "localhost", true),
        Row("a_b.example.com", "a_b.example.com", true), Row("xn--bcher-kva.test", "xn--bcher-kva.test", true),
        Row("bücher.test", "xn--bcher-kva.test", false), Row("example.com\0", "example.com", false),
        Row("example.com\0.evil.test", "example.com", false), Row("exa mple.com", "example.com", false),
        Row("example.com ", "example.com", false), Row("1.2.3.4", "1.2.3.4", false), Row("127.1", "127.1", false),
    ]

    static let wildcardRows: [Row] = [
        Row("*.example.com", "www.example.com", true), Row("*.EXAMPLE.com", "www.example.com", true),
        Row("*.example.com", "example.com", false), Row("*.example.com", "a.b.example.com", false),
        Row("*.example.com", ".example.com", false), Row("*.example.com", "wwwexample.com", false),
        Row("*.example.com", "www.example.org", false), Row("*.example.com", "www.example.com.evil.test", false),
        Row("*.b.example.com", "a.b.example.com", true), Row("*.example.com", "_x.example.com", true),
        Row("*.example.com", "xn--bcher-kva.example.com", true), Row("*.com", "example.com", false),
        Row("*", "example.com", false), Row("*", "localhost", false), Row("*.", "a.", false), Row("*.*", "a.b", false),
        Row("*.*.example.com", "a.b.example.com", false), Row("**.example.com", "a.example.com", false),
        Row("*..example.com", "a.example.com", false), Row("*.example..com", "a.example.com", false),
        Row("*.example.com.", "a.example.com", false), Row("*example.com", "aexample.com", false),
        Row("f*.example.com", "foo.example.com", false), Row("*o.example.com", "foo.example.com", false),
        Row("f*o.example.com", "foo.example.com", false), Row("foo.*.com", "foo.example.com", false),
        Row("a.*.example.com", "a.b.example.com", false), Row("example.*", "example.com", false),
        Row("*.example.*", "www.example.com", false), Row("xn--*.example.com", "xn--a.example.com", false),
        Row("xn--b*-kva.test.com", "xn--bcher-kva.test.com", false),
        Row("*.xn--bcher-kva.test", "a.xn--bcher-kva.test", true),
        Row("*.co.uk", "example.co.uk", true), Row("*.2.3.4", "1.2.3.4", false), Row("*.1", "127.1", false),
        Row("*.exämple.com", "a.xn--exmple-cua.com", false), Row("*\0.example.com", "a.example.com", false),
        Row("*.example.com\0", "a.example.com", false), Row("*.example.com\0.evil.test", "a.example.com", false),
        Row("?.example.com", "a.example.com", false), Row("*.example.com", "*.example.com", false),
        Row(" *.example.com", "a.example.com", false), Row("*-a.example.com", "b-a.example.com", false),
    ]

    @Test("an entry without a wildcard covers one name, T-TLS-36, T-TLS-39, T-TLS-40, T-TLS-44", arguments: plainRows)
    func exact(_ row: Row) {
        #expect(HostnameMatcher.matches(pattern: Array(row.pattern.utf8), host: row.host) == row.matches)
    }

    @Test("a wildcard is a whole left-most label above two others, T-TLS-41", arguments: wildcardRows)
    func wildcard(_ row: Row) {
        #expect(HostnameMatcher.matches(pattern: Array(row.pattern.utf8), host: row.host) == row.matches)
    }

    @Test("the longest names there can be are covered, and none longer")
    func longest() {
        let label = String(repeating: "a", count: 63)
        let parent = "\(label).\(label).\(label)"
        for (count, matches) in [(60, true), (61, true), (62, false)] {
            let host = "\(String(repeating: "b", count: count)).\(parent)"
            for pattern in [host, "*.\(parent)"] {
                #expect(HostnameMatcher.matches(pattern: Array(pattern.utf8), host: host) == matches)
            }
        }
    }

    @Test("only ASCII letters fold, T-TLS-43")
    func folding() {
        // Kelvin sign, long s, dotted and dotless i, sharp s, full width letters.
        let lookalikes = ["\u{212A}", "\u{17F}", "\u{130}", "\u{131}", "\u{DF}", "\u{FF4B}", "\u{FF33}"]
        for letter in lookalikes {
            for host in ["k.test", "s.test", "i.test", "ss.test"] {
                #expect(!HostnameMatcher.matches(pattern: Array("\(letter).test".utf8), host: host))
                #expect(!HostnameMatcher.matches(pattern: Array(host.utf8), host: "\(letter).test"))
            }
        }
        for byte in UInt8.min...UInt8.max {
            let isLetter = byte == UInt8(ascii: "k") || byte == UInt8(ascii: "K")
            #expect(HostnameMatcher.matches(pattern: [byte] + Array(".test".utf8), host: "k.test") == isLetter)
        }
    }

    @Test("every code point that folds to an ASCII letter somewhere is none here, T-TLS-43")
    func everyFold() {
        for value in 0x80...UInt32(0x1FFFF) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let folds = scalar.properties.lowercaseMapping + scalar.properties.uppercaseMapping
            guard folds.utf8.contains(where: { $0 < 0x80 }) else { continue }
            #expect(PeerName("\(scalar).test") == nil)
            #expect(!HostnameMatcher.matches(pattern: Array("\(scalar).test".utf8), host: "\(folds.prefix(1)).test"))
        }
    }

    @Test("a name that was never canonical matches nothing, T-TLS-38, T-TLS-39")
    func badReferences() {
        for host in [
            "", ".", ".example.com", "example.com.", "a..b", "1.2.3.4", "2.1", "0x7F.0x", "\0", "*.example.com",
        ] {
            #expect(!HostnameMatcher.matches(pattern: Array(host.utf8), host: host))
            #expect(!HostnameMatcher.matches(pattern: Array("*.example.com".utf8), host: host))
        }
    }
}
