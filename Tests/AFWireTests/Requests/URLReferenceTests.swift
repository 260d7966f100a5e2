import AFBase
import AFWire
import Testing

@Suite("References")
struct URLReferenceTests {
    private func resolve(_ reference: String, _ base: String = "http://a/b/c/d;p?q") -> String {
        do throws(RequestRejection) {
            let base = try RequestURL(base)
            return try reference.withUTF8Bytes { bytes throws(RequestRejection) in
                try URLReference(bytes, relativeTo: base).text
            }
        } catch {
            return "\(error.component) \(error.rule)"
        }
    }

    /// RFC 3986 §5.4.1 and §5.4.2, but for an empty path, which is sent as `/`.
    private static let vectors: [(String, String)] = [
        ("g:h", "scheme notHTTP"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "scheme noAuthority"),
    ]

    @Test func `T-RED-17 the 42 vectors of RFC 3986 resolve as it says`() {
        #expect(Self.vectors.count == 42)
        for (reference, expected) in Self.vectors { #expect(resolve(reference) == expected, "\(reference)") }
    }

    @Test func `T-RED-17 the base gives scheme, host and port, and no user information`() {
        #expect(resolve("/x", "https://user:secret@h.test:8443/a/b?c") == "https://h.test:8443/x")
        #expect(resolve("//user:secret@g.test:81/x", "https://h.test/") == "https://g.test:81/x")
        #expect(resolve("https://user:secret@g.test/x", "http://h.test/") == "https://g.test/x")
        #expect(resolve("x", "http://h.test") == "http://h.test/x")
        #expect(resolve("/x", "http://[::1]:8080/") == "http://[::1]:8080/x")
        #expect(resolve("HTTPS://G.test/a/../b/./c") == "https://g.test/b/c")
    }

    @Test func `T-RED-17 the base gives the zone of a link-local address, and to no other host`() {
        let base = "http://[fe80::1%25eth0]:8080/a/b?c"
        #expect(resolve("/login", base) == "http://[fe80::1%25eth0]:8080/login")
        #expect(resolve("x", "https://[FE80:0::1%25eth0]/a/b") == "https://[fe80::1%25eth0]/a/x")
        #expect(resolve("?y#z", base) == "http://[fe80::1%25eth0]:8080/a/b?y#z")
        #expect(resolve("", base) == base)
        #expect(resolve("//[fe80::2]/x", base) == "http://[fe80::2]/x")
        #expect(resolve("http://[fe80::1]/x", base) == "http://[fe80::1]/x")
        #expect(resolve("http://[fe80::1%25eth1]/x", base) == "http://[fe80::1%25eth1]/x")
    }

    @Test func `T-RED-18 a fragment is inherited where there is none`() throws {
        let base = try RequestURL("http://a/b")
        func fragment(_ reference: String) throws -> String? {
            try reference.withUTF8Bytes { bytes throws(RequestRejection) in
                try URLReference(bytes, relativeTo: base, fragment: Array("old".utf8)).fragment
            }.map { String(decoding: $0, as: UTF8.self) }
        }

        #expect(try fragment("/c") == "old")
        #expect(try fragment("/c#new") == "new")
        #expect(try fragment("/c#") == "")
    }

    @Test func `T-RED-16 what stands in no URL is refused or encoded, and never cut`() {
        let long = String(repeating: "x", count: 100 << 10)
        let table: [(String, String)] = [
            ("/a\r\nX: y", "target control"), ("/a\nb", "target control"), ("/a\u{0}b", "target control"),
            ("/a\u{7F}", "target control"), ("/a\tb", "target control"), ("/#a\nb", "url control"),
            ("/a b", "http://a/a%20b"), ("/ü", "http://a/%C3%BC"), ("/a\"b<c>", "http://a/a%22b%3Cc%3E"),
            ("/a%zz", "http://a/a%25zz"), ("/a%2Fb", "http://a/a%2Fb"), ("/a\\b", "target backslash"),
            ("\\\\evil.test/x", "target backslash"), ("/\\evil.test/x", "target backslash"),
            ("http:\\\\evil.test", "scheme noAuthority"), ("http:///x", "host missing"), ("//", "host missing"),
            ("http://", "host missing"), ("http://a:99999/", "port portRange"), ("http://a:0/", "port portRange"),
            ("http://a@b@c/", "userInfo severalAtSigns"), ("http://a\\@b/", "userInfo backslash"),
            ("http://exa%0d%0aX/", "host percentInHost"), ("http://1.2.3/", "host numericHost"),
            ("http://[::1/", "host notIPv6"), ("http://a..b/", "host emptyLabel"), ("///x", "host missing"),
            ("file:///etc/passwd", "scheme notHTTP"), ("data:,x", "scheme notHTTP"), ("ftp://a/", "scheme notHTTP"),
            ("javascript:alert(1)", "scheme notHTTP"), ("unix:/run/x", "scheme notHTTP"), (long, "url tooLong"),
            (" /x", "http://a/b/c/%20/x"), ("#", "http://a/b/c/d;p?q#"), (":80/x", "http://a/b/c/:80/x"),
            ("1http://x/", "http://a/b/c/1http://x/"), ("a/b:c", "http://a/b/c/a/b:c"),
        ]
        for (reference, expected) in table { #expect(resolve(reference) == expected, "\(reference.prefix(40))") }
    }

    @Test func `T-RED-16 only controls are refused in a fragment`() {
        for byte in UInt8.min...0x7E where byte != UInt8(ascii: "%") {
            let isControl = byte < 0x20
            #expect((resolve("#a\(UnicodeScalar(byte))b") == "url control") == isControl, "\(byte)")
        }
        #expect(resolve("#a\u{7F}b") == "url control")
        #expect(resolve("#a\u{80}b") == "http://a/b/c/d;p?q#a%C2%80b")
    }

    @Test func `T-RED-16 a reference is measured as it came`() {
        let room = RequestURL.maximumLength - "http://a/".utf8.count

        #expect(resolve("http://a/" + String(repeating: "x", count: room)).hasPrefix("http://a/xxx"))
        #expect(resolve("http://a/" + String(repeating: "x", count: room + 1)) == "url tooLong")
        // The dots would leave next to nothing of it.
        #expect(resolve("http://a/" + String(repeating: "x/../", count: room / 5 + 1)) == "url tooLong")
        #expect(resolve("#" + String(repeating: "x", count: RequestURL.maximumLength)) == "url tooLong")
    }

    @Test func `T-RED-17 dots never reach into the authority, and three of them are a name`() {
        #expect(resolve("http://g.test/../x") == "http://g.test/x")
        #expect(resolve("//g.test/../../x") == "http://g.test/x")
        #expect(resolve("http://g.test?a/../b") == "http://g.test/?a/../b")
        #expect(resolve("/a/.../b") == "http://a/a/.../b")
        #expect(resolve("/a/...") == "http://a/a/...")
    }

    @Test func `T-RED-16 bytes above ASCII are encoded as they came`() throws {
        let base = try RequestURL("http://a/")
        let text = try ([0x2F, 0xFC, 0x80] as [UInt8]).withUnsafeBytes { bytes in
            Result { () throws(RequestRejection) in try URLReference(bytes, relativeTo: base).text }
        }.get()

        #expect(text == "http://a/%FC%80")
    }

    @Test func `T-RED-16 no bytes at all make it trap`() throws {
        let base = try RequestURL("https://h.test:8443/a/b/../c?d")
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("/.?#:@%\\ab0[]\r\n\u{0}; ".utf8) + [0x80, 0xFF]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &generator)).compactMap { _ in alphabet.randomElement() }
            let result = bytes.withUnsafeBytes { bytes in
                Result { () throws(RequestRejection) in try URLReference(bytes, relativeTo: base) }
            }
            guard case .success(let reference) = result else { continue }
            // What came out is accepted as it is.
            #expect(throws: Never.self) { try RequestURL(reference.url.text) }
        }
    }
}
