@testable import AFSerialization

/// Plain texts are joined with the base and parsed once. The result is that of resolving.
@Suite struct JoinedURLTests {
    private static let bases = [
        "http://h", "http://h/", "https://api.test/v1", "https://api.test:8443/v1/", "http://h/a/b/", "http://h/a//b/",
        "http://h/./a/", "http://h/a/../b/", "http://h/a?q=1", "http://h/#f", "http://user:pass@h/a/",
        "http://[::1]:80/x/",
        "http://h/%41/", "HTTP://H/", "unix:/run/socket",
    ]

    private func base(_ text: String) throws -> BaseURL { BaseURL(try #require(URL(string: text))) }

    @Test(arguments: bases)
    func `CVE-2022-35949 a joined URL is the resolved one, on the same server`(text: String) throws {
        let base = try base(text)
        var random = SeededGenerator(seed: 2)
        let pieces = [
            "a", "users", "1", "/", "?", "=", "&", ".", "..", ":", "//", "#", "%", "%41", " ", "@", "-_", "\\", "é",
        ]
        var joinedCount = 0
        for _ in 0..<4000 {
            let text = (0..<random.pick(0...6)).map { _ in pieces[random.pick(0...pieces.count - 1)] }.joined()
            guard let joined = base.joined(with: text) else { continue }
            joinedCount += 1
            let resolved = try base.resolve(text)
            #expect(joined.absoluteString == resolved.url.absoluteString, "\(text)")
            #expect(!resolved.leavesBase, "\(text)")
        }
        let mayJoin = !["?", "#", "//b", "/.", "unix"].contains { text.contains($0) }
        #expect(mayJoin == (joinedCount > 200), "\(joinedCount)")
    }

    @Test(arguments: [
        "", "//h/x", "http://h/", "a:b", "../x", "./x", "a/../x", "a/.x", "a//b", "%41", "a b", "#f", "?q", "a#f", "é",
        "\\x", "a\\b", "a=b", "@h", "a\u{0}",
    ])
    func `any other text is resolved`(text: String) throws {
        #expect(try base("http://h/v1/").joined(with: text) == nil)
    }

    @Test(arguments: [
        ("users", "http://h/v1/users"), ("/users", "http://h/users"), ("a/b.json", "http://h/v1/a/b.json"),
        ("a?x=1&y=/../", "http://h/v1/a?x=1&y=/../"), ("a/", "http://h/v1/a/"), ("/", "http://h/"),
    ])
    func `a plain text is joined`(text: String, url: String) throws {
        #expect(try base("http://h/v1").joined(with: text)?.absoluteString == url)
    }
}
