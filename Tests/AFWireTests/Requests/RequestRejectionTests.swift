import AFWire
import Testing

struct RequestRejectionTests {
    @Test(arguments: [
        "http://user:CANARY@h\\/", "http://user:CANARY@@h/", "http://user:CANARY%40@h/", "http://user:CANARY/x@h/",
        "http://CANARY:1x@h:0/", "http://h/?token=CANARY\r\n", "http://h/?token=CANARY\\", "http://:CANARY@/",
        "http://user:CA NARY@h:0/", "http://user:CANARY@h%00/", "http://user:CANARY@1.2.3/",
    ])
    func `T-REQ-12 no rejection quotes user information or a query`(url: String) {
        let error = #expect(throws: RequestRejection.self) { try RequestURL(url) }

        #expect(error?.description.contains("CANARY") == false)
    }

    @Test func `T-REQ-12 no rejection quotes a field value`() {
        let error = #expect(throws: RequestRejection.self) {
            try "Bearer CANARY\n".withUTF8Bytes { value throws(RequestRejection) in
                try "Authorization".withUTF8Bytes { name throws(RequestRejection) in
                    _ = try RequestSyntax.trimmedFieldValue(value, of: name)
                }
            }
        }

        let expected =
            "the header field value of \"Authorization\" must not contain control characters, at byte 13"
        #expect(error?.description == expected)
    }

    @Test func `a rejection names part, rule, place and escaped text`() {
        let error = #expect(throws: RequestRejection.self) { try RequestURL("http://exa%0d%0aX/") }

        let expected = "the host of the URL must not be percent-encoded, at byte 10: \"exa%0d%0aX\""
        #expect(error?.description == expected)
    }

    @Test(arguments: [("ws://exa%0d/", 8), ("wss://exa%0d/", 9), ("http://exa%0d/", 10), ("https://exa%0d/", 11)])
    func `the place is counted in what the program wrote`(url: String, place: Int) {
        let error = #expect(throws: RequestRejection.self) { try RequestURL(url, opensWebSocket: true) }

        #expect(error?.position == place)
    }

    @Test func `T-MSG-57 a rejection is printable and short whatever it quotes`() {
        let host = String(repeating: "\u{1B}[31m\r\nü", count: 5000)

        let error = #expect(throws: RequestRejection.self) { try RequestURL("http://\(host)/") }

        let text = error?.description ?? ""
        #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(text.utf8.count < 400)
    }
}
