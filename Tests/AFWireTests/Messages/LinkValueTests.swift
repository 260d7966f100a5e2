import AFBase
import AFFaults
import AFWire
import Testing

struct LinkValueTests {
    private static func list(_ lines: String...) -> [LinkValue] {
        var headers = HTTPHeaders()
        for line in lines { headers.append("Link", value: line) }
        return LinkValue.list(in: headers)
    }

    private static func targets(_ text: String) -> [String] {
        list(text).map { String(decoding: $0.target, as: UTF8.self) }
    }

    // MARK: - What a link has

    @Test(
        arguments: [
            ("</a>; rel=next", ["next"]), ("</a>;rel=\"next\"", ["next"]), ("</a> ; REL = \"Next\" ", ["next"]),
            ("</a>; rel=\"next  last\tHTTP://a.test/X\"", ["next", "last", "http://a.test/x"]),
            ("</a>; rel=next; rel=prev", ["next"]), ("</a>; rev=next", []), ("</a>", []), ("</a>; rel", []),
            ("</a>; rel=", []), ("</a>; rel=\"\"", []), ("</a>; x=\"rel=next\"", []),
            ("</a>; x=\"\\\"; rel=next\"", []),
            ("</a>;; rel=next", ["next"]), ("</a>; =x; rel=next", ["next"]), ("</a>; rel=\"next", ["next"]),
            ("</a>; rel*=UTF-8''next", []),
        ] as [(String, [String])]
    )
    func `relations are words without regard to case, of the first rel`(text: String, relations: [String]) {
        #expect(Self.list(text).map(\.relations) == [relations])
    }

    @Test func `attributes have the first value of their name, and the extended form goes before the plain one`() {
        let link = Self.list(
            "</a>; title=plain; title*=UTF-8'de'n%c3%a4chste; title=other; Type=\"text/html\"; hreflang=de; anchor=\"#b\""
        ).first

        #expect(link?.attributes == ["title": "nächste", "type": "text/html", "hreflang": "de"])
        #expect(link?.anchor == Array("#b".utf8))
    }

    @Test(arguments: ["UTF-8''%ff", "''a", "a", "UTF-16''a", "UTF-8''%4", "UTF-8'a"])
    func `an extended value that cannot be read leaves the plain one`(value: String) {
        #expect(Self.list("</a>; title*=\(value); title=plain").first?.attributes == ["title": "plain"])
    }

    // MARK: - Several of them

    @Test(
        arguments: [
            ("<a>,<b>", ["a", "b"]), ("<a> , , <b>;x,\t<c>", ["a", "b", "c"]), (",<a>,", ["a"]), ("<a,b;c>", ["a,b;c"]),
            ("<a>; x=\",<b>\", <c>", ["a", "c"]), ("<a>; x=y z, <b>", ["a", "b"]), ("<a> junk, <b>", ["a", "b"]),
            ("<a>; x=\"1\"2, <b>", ["a", "b"]), ("<a>; x=\", <b>", ["a"]), ("<a, <b>", ["a, <b"]), ("<>", [""]),
            ("", []), ("a", []), ("<a", []), ("a, <b>", []), ("<a>, b, <c>", ["a"]), ("<a><b>", ["a"]),
        ] as [(String, [String])]
    )
    func `T-ANS-04 links stand between commas outside of quotation marks`(text: String, targets: [String]) {
        #expect(Self.targets(text) == targets)
    }

    @Test func `each line has its own, and a broken one takes no other along`() {
        let links = Self.list("<a>; x=\"", "<b>, junk, <c>", "<d>")

        #expect(links.map { String(decoding: $0.target, as: UTF8.self) } == ["a", "b", "d"])
    }

    // MARK: - Bounds

    @Test func `T-ANS-05 no more than 256 links are read`() {
        #expect(Self.list(String(repeating: "<a>,", count: 300)).count == 256)
        #expect(Self.list(String(repeating: "<a>,", count: 200), String(repeating: "<b>,", count: 200)).count == 256)
    }

    @Test(arguments: ["<", "<>", "<a>,", "<a>;", ";a", ";a=b", ";a=\"", ";a=\"\\\"", ",", " ", "\"", ";a*=UTF-8''%41"])
    func `T-ANS-05 a field of 64 KiB is read in linear time`(piece: String) {
        for prefix in ["", "<a>", "<a>;rel=\"", "<a>;x=\"\","] {
            let text = prefix + String(repeating: piece, count: 65_536 / piece.utf8.count)

            let cost = CPUTime.of { _ = Self.list(text) }

            #expect(cost < CPUTime.limitFor64KiB, "\(prefix) then \(piece)")
        }
    }
}
