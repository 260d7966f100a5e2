import AFTLS
import Testing

@Suite struct HostPatternTests {
    private static let matching: [(String, String)] = [
        ("api.example.com", "api.example.com"), ("API.Example.COM.", "api.example.com"),
        ("api.example.com", "API.EXAMPLE.COM."), ("localhost", "localhost"),
        ("*.example.com", "a.example.com"), ("*.EXAMPLE.com", "_a-1.example.COM"), ("*.internal", "host.internal"),
        ("**.example.com", "a.example.com"), ("**.example.com", "a.b.c.example.com"),
        ("192.0.2.1", "192.0.2.1"), ("::1", "[0:0::1]"), ("[2001:db8::1]", "2001:DB8:0::1"),
        ("xn--bcher-kva.example", "XN--BCHER-KVA.example"), ("192.0.2.1", "::ffff:192.0.2.1"),
        ("::FFFF:c000:201", "192.0.2.1"), ("[::ffff:192.0.2.1]", "[::ffff:c000:201]"),
    ]

    @Test("a pattern matches its hosts, T-TLS-28", arguments: matching)
    func matches(pattern: String, host: String) throws {
        #expect(try HostPattern(pattern).matches(#require(PeerName(host))))
    }

    @Test(
        "the patterns of a host are those that match it, the most specific first, T-TLS-28",
        arguments: [
            "a.b.example.com", "example.com", "com", "192.0.2.1", "::ffff:192.0.2.1", "::1",
        ]
    )
    func listed(host: String) throws {
        let name = try #require(PeerName(host))
        let labels = host.split(separator: ".")
        let domains = labels.indices.map { labels[$0...].joined(separator: ".") }
        let all = domains.flatMap { [$0, "*.\($0)", "**.\($0)"] }.compactMap { try? HostPattern($0) }

        let expected = all.filter { $0.matches(name) }.sorted { $0.specificity > $1.specificity }

        #expect(HostPattern.matching(name) == expected)
    }

    private static let differing: [(String, String)] = [
        ("api.example.com", "example.com"), ("api.example.com", "xapi.example.com"),
        ("api.example.com", "a.api.example.com"), ("example.com", "example.com.evil.test"),
        ("example.com", "api.example.com"), ("example.com", "notexample.com"),
        ("*.example.com", "example.com"), ("*.example.com", "a.b.example.com"), ("*.example.com", "aexample.com"),
        ("**.example.com", "example.com"), ("**.example.com", "evilexample.com"),
        ("**.example.com", "a.example.com.evil.test"), ("*.2.1", "192.0.2.1.test"),
        ("192.0.2.1", "192.0.2.10"), ("192.0.2.1", "::ffff:192.0.2.2"), ("::1", "::2"),
        ("192.0.2.1", "::192.0.2.1"), ("192.0.2.1", "64:ff9b::192.0.2.1"),
        ("*.internal", "internal"), ("*.example.com", "192.0.2.1"), ("**.example.com", "::1"),
    ]

    @Test("a pattern matches nothing else: no parts, no parents, no other addresses, T-TLS-28", arguments: differing)
    func differs(pattern: String, host: String) throws {
        let made = try? HostPattern(pattern)
        #expect(try made?.matches(#require(PeerName(host))) != true)
    }

    @Test(
        "what is no pattern is refused, and the error names it, T-TLS-28",
        arguments: [
            "", ".", "*", "**", "*.", "**.", "***.example.com", "a*.example.com", "*a.example.com", "a.*.com",
            "*.*.example.com", "**.*.example.com", "*.**.com", "example.*", ".example.com", "a..example.com",
            "example.com..", "*.192.0.2.1", "**.::1", "*.[::1]", "bücher.example", "ex\u{212A}.example",
            "a b.example", "https://example.com", "example.com:443", "example.com/a", "a\0.example",
            String(repeating: "a", count: 64) + ".example", String(repeating: "a.", count: 127) + "a", "xn--.example",
            "xn--a-.example",
            "example.com\n",
        ]
    )
    func refused(pattern: String) {
        let error = #expect(throws: HostPatternError.self) { try HostPattern(pattern) }
        #expect(error?.pattern == pattern)
        #expect(error?.message.isEmpty == false)
        #expect(error?.description.utf8.contains { $0 < 0x20 } == false)
    }

    private static let reasons: [(String, String)] = [
        ("", "missing"), ("*.", "missing"), ("**.", "missing"),
        ("a*.example.com", "star"), ("*.*.example.com", "star"), ("bücher*.example", "star"),
        ("bücher.example", "xn--"), ("\u{80}", "xn--"),
        ("https://example.com", "host only"), ("example.com:443", "host only"), ("example.com/a", "host only"),
        ("a b.example", "not a host name"), ("\u{7F}.example", "not a host name"), ("a..b", "not a host name"),
        ("*.192.0.2.1", "address alone"), ("**.[::1]", "address alone"),
    ]

    @Test("the error says what is wrong", arguments: reasons)
    func reason(pattern: String, word: String) {
        let error = #expect(throws: HostPatternError.self) { try HostPattern(pattern) }
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
    }

    @Test("a domain of one letter has hosts of one letter below it")
    func shortest() throws {
        #expect(try HostPattern("*.b").matches(#require(PeerName("a.b"))))
        #expect(try !HostPattern("*.b").matches(#require(PeerName("b"))))
        #expect(try !HostPattern("*.b").matches(#require(PeerName("ab"))))
        #expect(try HostPattern("192.0.2.1").specificity == HostPattern("a").specificity)
    }

    @Test("patterns are equal in their canonical spelling")
    func canonical() throws {
        #expect(try HostPattern("*.Example.com.") == HostPattern("*.example.com"))
        #expect(try HostPattern("*.Example.com.").description == "*.example.com")
        #expect(try HostPattern("**.a.B").description == "**.a.b")
        #expect(try HostPattern("[::1]").description == HostPattern("0::1").description)
        #expect(try HostPattern("*.example.com") != HostPattern("**.example.com"))
        #expect(try Set([HostPattern("A.b"), HostPattern("a.B.")]).count == 1)
    }

    @Test("the most specific pattern is the exact one, then one label, then the longest domain, T-TLS-28")
    func specificity() throws {
        let ordered = ["a.b.example.com", "*.b.example.com", "**.b.example.com", "**.example.com", "**.com"]
        let numbers = try ordered.map { try HostPattern($0).specificity }

        #expect(numbers == numbers.sorted(by: >))
        #expect(Set(numbers).count == numbers.count)
    }

    @Test("random hosts match as a naive reading says, and never two patterns equally well, T-TLS-28")
    func property() throws {
        var random = SeededGenerator(seed: 28)
        let labels = ["a", "b", "A", "example", "com", "x-y", "_s", "aexample", "1"]
        func name(_ most: Int) -> String {
            var parts = (0..<Int.random(in: 1...most, using: &random)).map { _ in labels.randomElement(using: &random)!
            }
            if parts.last == "1" { parts[parts.count - 1] = "com" }
            return parts.joined(separator: ".")
        }
        var matches = 0
        for _ in 0..<5_000 {
            let dot = Bool.random(using: &random) ? "." : ""
            let host = name(4) + dot
            let texts = (0..<6).map { _ in ["", "*.", "**."].randomElement(using: &random)! + name(3) }
            let patterns = try texts.map { try HostPattern($0) }
            let peer = try #require(PeerName(host))
            for (text, pattern) in zip(texts, patterns) {
                let expected = Self.oracle(text, host)
                #expect(pattern.matches(peer) == expected, "\(text) \(host)")
                matches += expected ? 1 : 0
            }
            let found = Set(patterns.filter { $0.matches(peer) })
            #expect(Set(found.map(\.specificity)).count == found.count, "\(found) \(host)")
        }
        #expect(matches > 500)
    }

    /// By lists of labels, without any of the code under test.
    private static func oracle(_ pattern: String, _ host: String) -> Bool {
        func labels(_ text: String) -> [String] { text.lowercased().split(separator: ".").map(String.init) }
        let (pattern, host) = (labels(pattern), labels(host))
        switch pattern.first {
        case "*": return host.count == pattern.count && host.dropFirst() == pattern.dropFirst()
        case "**": return host.count >= pattern.count && host.suffix(pattern.count - 1) == pattern.dropFirst()
        default: return host == pattern
        }
    }
}
