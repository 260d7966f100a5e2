import AFWire
import Testing

struct ContentDispositionTests {
    @Test(
        arguments: [
            ("attachment; filename=a.txt", "a.txt"), ("attachment; filename=\"a b.txt\"", "a b.txt"),
            ("attachment; FileName=\"a\\\"b\"", "a\"b"), ("inline;filename=a", "a"),
            ("attachment; filename*=UTF-8''%e2%82%ac%20rates", "€ rates"),
            ("attachment; filename*=utf-8'en'a.txt", "a.txt"),
            ("attachment; filename*=utf8''%e2%82%ac.txt", "€.txt"), ("attachment; filename*=UTF8''a", "a"),
            ("attachment; filename*=Utf-8'de'%C3%BC", "ü"), ("attachment; filename*=ISO-8859-1''%FC", "ü"),
            ("attachment; filename=plain; filename*=utf8''%ff", "plain"),
            ("attachment; filename=plain; filename*=utf08''x", "plain"),
            ("attachment; filename*=iso-8859-1''%A3%20rates", "£ rates"),
            ("attachment; filename=plain; filename*=UTF-8''better", "better"),
            ("attachment; filename*=UTF-8''better; filename=plain", "better"),
            ("attachment; filename=plain; filename*=UTF-16''x", "plain"),
            ("attachment; filename=plain; filename*=UTF-8''%ff", "plain"),
            ("attachment; filename=plain; filename*=UTF-8''%zz", "plain"),
            ("attachment; filename=plain; filename*=x", "plain"),
            ("attachment; filename*=UTF-8''..%2f..%2fetc%2fpasswd", "passwd"),
            ("attachment; filename*=UTF-8''%00", "_"), ("attachment", nil), ("attachment; filename=\"\"", nil),
            ("attachment; filename=\"..\"", nil), ("attachment; filename=\"/\"", nil),
            ("attachment; filename=\"x", nil),
            ("attachment; filename=\"ü.txt\"", "ü.txt"), ("attachment; x=\"filename=evil\"", nil),
            ("attachment; filename=a%2fb", "a%2fb"),
            // As browsers read what the RFC does not allow.
            ("filename=a.txt", "a.txt"), ("filename=\"a;b.txt\"", "a;b.txt"), (";filename=a", "a"),
            ("filename*=UTF-8''%e2%82%ac; filename=e", "€"), ("attachment; filename=a b.txt", "a b.txt"),
            ("attachment; filename=a b.txt ; x=y", "a b.txt"), ("attachment; filename=/etc/pass wd", "pass wd"),
            ("attachment; filename=../../.ssh/config", "config"), ("attachment; filename=..\\a.txt", "a.txt"),
            ("attachment; filename=folder/", nil), ("attachment; filename=..", nil), ("attachment; filename=", nil),
            ("attachment; filename=(1) [x], ü.txt", "(1) [x], ü.txt"), ("attachment; filename=a=b", "a=b"),
            ("attachment; filename=a\"b.txt", "a\"b.txt"), ("attachment; filename=\"a.txt\".exe", "a.txt"),
            ("attachment; filename = a.txt", "a.txt"), ("attachment; filename=a; filename=b", "a"),
            ("attachment; filename*=\"UTF-8''a%20b\"", "a b"),
            ("attachment; filename*=UTF-8''a; filename*=UTF-8''b", "a"),
            // What is malformed loses nothing behind it.
            ("attachment; x; filename=a", "a"), ("attachment; x=; filename=a", "a"),
            ("attachment; =x; filename=a", "a"), ("attachment; x y=\"z\"; filename=a", "a"),
            ("attachment; x=(y); filename=a", "a"), ("attach ment; filename=a", "a"), ("@; filename=a", "a"),
            ("attachment; \"x;filename=b\"; filename=a", "a"), ("attachment; x y=\";filename=b\"; filename=a", "a"),
            ("attachment; x=\"; filename=a", nil), ("attachment filename=a", nil), ("attachment; xfilename=a", nil),
        ] as [(String, String?)]
    )
    func `the file name is read by RFC 6266 and RFC 8187`(text: String, expected: String?) {
        #expect(ContentDisposition(text)?.fileName == expected)
    }

    @Test func `a name in Latin-1 is not lost`() {
        let bytes = Array("attachment; filename=\"".utf8) + [0xFC] + Array(".txt\"".utf8)

        #expect(bytes.withUnsafeBytes { ContentDisposition($0) }?.fileName == "ü.txt")
    }

    @Test func `the kind is read in lower case`() {
        #expect(ContentDisposition("ATTACHMENT; filename=a")?.kind == "attachment")
        #expect(ContentDisposition("filename=a")?.kind == nil)
        #expect(ContentDisposition("x; attachment")?.kind == "x")
        for text in ["", " ", ";", "\"attachment\"", "a b", "filename=", "=;=", "\"", "\"\\"] {
            #expect(ContentDisposition(text) == nil, "\(text)")
        }
    }

    @Test(
        arguments: [
            ("a.txt", "a.txt"), ("/etc/passwd", "passwd"), ("../../x", "x"), ("..\\..\\x", "x"), ("C:\\x", "x"),
            ("C:x", "C_x"), (".bashrc", "bashrc"), ("...", nil), (".", nil), ("..", nil), ("", nil), (" ", nil),
            ("a/", nil), ("a\\", nil), ("a.", "a"), ("a. .", "a"), (" a ", "a"), ("a\u{0}b", "a_b"), ("a\r\nb", "a__b"),
            ("a\u{7F}b", "a_b"), ("a\u{85}b", "a_b"), ("txt\u{202E}exe.jpg", "txt_exe.jpg"), ("a\u{200B}b", "a_b"),
            ("a\u{2066}b", "a_b"), ("\u{FEFF}a", "_a"), ("a\u{2028}b", "a_b"), ("üñí", "üñí"), ("🦆", "🦆"),
            ("a/\r\n/b", "b"), ("e\u{301}/x", "x"), ("/\u{301}", "\u{301}"), ("..\u{301}", "\u{301}"),
        ] as [(String, String?)]
    )
    func `T-FIL-08 a suggested name stays in its directory`(name: String, expected: String?) {
        #expect(FileNameSyntax.sanitized(name).map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }

    @Test(arguments: ["a", "ü", "€", "🦆", "a."])
    func `T-FIL-08 a suggested name is at most 200 bytes and whole characters`(piece: String) throws {
        let name = try #require(FileNameSyntax.sanitized(String(repeating: piece, count: 4096)))

        #expect((190...200).contains(name.utf8.count))
        #expect(!name.unicodeScalars.contains("\u{FFFD}"))
        #expect(!name.hasSuffix("."))
    }
}
