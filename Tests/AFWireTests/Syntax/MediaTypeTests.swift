import AFWire
import Testing

struct MediaTypeTests {
    @Test(
        arguments: [
            ("text/html", "text/html", nil), ("TEXT/HTML", "text/html", nil), (" text/html ", "text/html", nil),
            ("text/html;charset=UTF-8", "text/html", "utf-8"), ("text/html; charset=\"UTF-8\"", "text/html", "utf-8"),
            ("text/html ; Charset=utf-8", "text/html", "utf-8"), ("text/html; a=b; charset=x", "text/html", "x"),
            ("text/html;;charset=x", "text/html", "x"), ("text/html; charset=a; charset=b", "text/html", "a"),
            ("text/html; charset=\"u\\tf-8\"", "text/html", "utf-8"), ("text/html; charset", "text/html", nil),
            ("text/html; charset=", "text/html", nil), ("text/html; charset=\"\"", "text/html", nil),
            ("text/html; charset=\"x", "text/html", nil), ("text/html; a=\"b;charset=x\"", "text/html", nil),
            ("text/html; a=\";\\\"\"; charset=x", "text/html", "x"),
            ("application/vnd.a+json", "application/vnd.a+json", nil),
            ("*/*", "*/*", nil), ("text/html;", "text/html", nil),
            ("text/html; bad; charset=x", "text/html", "x"), ("text/html; =a; charset=x", "text/html", "x"),
            ("text/html; charset=; charset=x", "text/html", "x"), ("text/html; a=b c; charset=x", "text/html", "x"),
            ("text/html; a \";\" b; charset=x", "text/html", "x"), ("text/html; a=\"; charset=x", "text/html", nil),
            ("text/html; a \"; charset=x", "text/html", nil),
        ] as [(String, String, String?)]
    )
    func `a media type is read without regard to case`(text: String, essence: String, charset: String?) {
        let type = MediaType(text)

        #expect(type?.essence == essence)
        #expect(type?.charset == charset)
        #expect(text.withUTF8Bytes { MediaType.essence(of: $0) } == essence)
        let isPage = text.withUTF8Bytes { MediaType($0, of: "text/html") } == type
        #expect(isPage == (essence == "text/html"))
    }

    @Test(arguments: [
        "", " ", "text", "text/", "/html", "/", "text html", "text/ html", "text /html", "text/html, text/plain",
        "text/html charset=utf-8", "te\u{212A}t/html\u{0}", "text/ht(ml", "\"text\"/html", "text/html/x", ";charset=x",
    ])
    func `T-MSG-56 type and subtype are both required`(text: String) {
        #expect(MediaType(text) == nil)
        #expect(text.withUTF8Bytes { MediaType.essence(of: $0) } == nil)
        #expect(text.withUTF8Bytes { MediaType($0, of: "text/html") } == nil)
    }

    @Test(arguments: [
        "../../etc/passwd", "utf 8", "\u{1B}[31m", "a\u{0}b", "ü", "utf-8;x", "(utf-8)",
        String(repeating: "x", count: 41), String(repeating: "x", count: 60_000),
    ])
    func `T-MSG-55 a charset that cannot be a name is none`(name: String) {
        #expect(MediaType("text/html; charset=\"\(name)\"")?.charset == nil)
        #expect(MediaType("text/html; charset=\"\(name)\"")?.essence == "text/html")
    }

    @Test func `parameters keep their order and lose their quotes`() {
        let type = MediaType("multipart/mixed; Boundary=\"a b\"; x=1; Y=\"\\\"\"")

        #expect(type?.parameters.map(\.name) == ["boundary", "x", "y"])
        #expect(type?.parameters.map { String(decoding: $0.value, as: UTF8.self) } == ["a b", "1", "\""])
    }
}
