@Suite("Percent escaping")
struct PercentEscapingTests {
    @Test("13.2.15 reserved characters are escaped, / and ? are not")
    func reserved() {
        #expect(
            HTTPRequestSerializer.percentEscapedString(from: ":#[]@!$&'()*+,;=?/")
                == "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D?/"
        )
        #expect(HTTPRequestSerializer.percentEscapedString(from: "a b") == "a%20b")
    }

    @Test("13.2.16 emoji of several scalars past fifty units stay whole")
    func clusters() {
        let faces = "👴🏿👷🏻👮🏽" + String(repeating: "👴🏿👷🏻👮🏽", count: 7)
        let expected = "%F0%9F%91%B4%F0%9F%8F%BF%F0%9F%91%B7%F0%9F%8F%BB%F0%9F%91%AE%F0%9F%8F%BD"

        #expect(
            HTTPRequestSerializer.percentEscapedString(from: "!" + faces) == "%21"
                + String(repeating: expected, count: 8)
        )
    }

    @Test("14 requests: tilde, period and hyphen stay; quotes, commas and asterisks do not")
    func kept() {
        let kept = "ABCXYZabcxyz0189-._~/?"

        #expect(HTTPRequestSerializer.percentEscapedString(from: kept) == kept)
        #expect(
            HTTPRequestSerializer.percentEscapedString(from: "',*\"<>\\^`{|}") == "%27%2C%2A%22%3C%3E%5C%5E%60%7B%7C%7D"
        )
        #expect(HTTPRequestSerializer.percentEscapedString(from: "") == "")
    }

    @Test("14 requests: what looks escaped is escaped again")
    func percent() {
        #expect(HTTPRequestSerializer.percentEscapedString(from: "%20%") == "%2520%25")
    }

    @Test("14 requests: long text does not crash, and takes one pass")
    func long() {
        let text = String(repeating: "ü", count: 1 << 17)

        #expect(HTTPRequestSerializer.percentEscapedString(from: text).utf8.count == 6 << 17)
    }

    @Test("control characters, NUL and line breaks are escaped")
    func controls() {
        #expect(HTTPRequestSerializer.percentEscapedString(from: "\0\r\n\t\u{7F}") == "%00%0D%0A%09%7F")
    }

    @Test("any text comes back when it is unescaped, and has only characters of a query", arguments: 0..<50)
    func random(seed: UInt64) {
        var dice = SplitMix(seed: seed)
        let text = RandomParameters.text(&dice, upTo: 80)

        let escaped = HTTPRequestSerializer.percentEscapedString(from: text)

        #expect(escaped.removingPercentEncoding == text)
        #expect(
            escaped.utf8.allSatisfy {
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?%".utf8.contains($0)
            }
        )
    }
}
