/// What is so about Swift and Foundation, and why there are rules and parsers of our own. Where one of these fails, the
/// platform has changed, and what was built on the fact wants another look.
@Suite("Facts about the platform")
struct PlatformFactTests {
    @Test(arguments: [
        ("http://exa%0d%0aX/", "exa\r\nX"), ("http://h%00.evil.test/", "h\0.evil.test"), ("http://h%2fx/", "h/x"),
        ("http://h%40x/", "h@x"), ("http://h\\@evil.test/", "evil.test"),
    ])
    func `F-06 the host of a URL is decoded, whatever it holds then`(url: String, host: String) throws {
        #expect(try #require(URL(string: url)).host.map { Array($0.utf8) } == Array(host.utf8))
    }

    @Test func `F-07 a line break is one character, and a combining mark hides the sign before it`() {
        #expect(!"a\r\nb".contains("\n" as Character) && !"a\r\nb".contains("\r" as Character))
        #expect("a\r\nb".split(separator: "\n").count == 1)
        #expect("a;\u{301}b=\"\u{301}".split(separator: ";").count == 1 && "\"\u{301}".firstIndex(of: "\"") == nil)
    }

    @Test func `F-09 numbers take signs, names and other bases`() {
        #expect(Int("+5") == 5 && Int("-0") == 0 && UInt64("+a", radix: 16) == 10)
        #expect(Double("nan")?.isNaN == true && Double("0x10") == 16)
    }

    @Test func `F-10 other text is equal, and other letters are folded and other blanks trimmed`() {
        #expect("\u{212A}".lowercased() == "k")
        #expect("\u{E9}" == "e\u{301}" && Set(["\u{E9}", "e\u{301}"]).count == 1)
        #expect("\u{A0}x\u{2000}".trimmingCharacters(in: .whitespaces) == "x")
    }

    @Test func `F-12 a file is written to where a link points, though nothing is there`() throws {
        let folder = try ScratchFolder()
        let (link, target) = (folder.file("link"), folder.file("target"))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        try Data("x".utf8).write(to: link)
        #expect(try Data(contentsOf: target) == Data("x".utf8))
    }

    @Test func `F-13 formatters use the user's calendar, and some read none of HTTP's dates`() {
        func formatter(_ locale: String, _ format: String) -> DateFormatter {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: locale)
            formatter.timeZone = TimeZone(identifier: "GMT")
            formatter.dateFormat = format
            return formatter
        }
        #expect(formatter("th_TH", "yyyy").string(from: Date(timeIntervalSince1970: 0)) == "2513")
        let format = "EEE, dd MMM yyyy HH:mm:ss zzz"
        #expect(formatter("ar_EG", format).date(from: "Sun, 06 Nov 1994 08:49:37 GMT") == nil)
        #expect(formatter("en_US_POSIX", format).date(from: "Sun, 06 Nov 1994 08:49:37 GMT") != nil)
    }

    @Test func `F-14 text of C ends at a NUL, and a part of data counts on from the whole`() {
        let bytes = Array("a\0b".utf8) + [0]
        #expect(bytes.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } == "a")
        #expect(Data([1, 2, 3])[1...].startIndex == 1)
    }

    @Test func `F-15 the path of a file is decoded, but for a NUL`() throws {
        let urls = [URL(string: "file:///a%00b%20c"), URL(fileURLWithPath: "/a\0b c")]
        for url in urls { #expect(try #require(url).path == "/a%00b c") }
    }
}
