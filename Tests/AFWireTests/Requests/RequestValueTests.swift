import AFBase
import AFWire
import Testing

struct RequestValueTests {
    // MARK: - Ranges

    @Test func `T-REQ-29 ranges are written as RFC 9110 says`() throws {
        #expect(try ByteRange(from: 0).fieldValue == "bytes=0-")
        #expect(try ByteRange(from: 100, through: 199).fieldValue == "bytes=100-199")
        #expect(try ByteRange(from: 7, through: 7).fieldValue == "bytes=7-7")
        #expect(try ByteRange(last: 500).fieldValue == "bytes=-500")
        #expect(try ByteRange(from: .max, through: .max).fieldValue == "bytes=\(Int64.max)-\(Int64.max)")
    }

    @Test func `T-REQ-29 negative, reversed and empty ranges cannot be made`() {
        #expect(throws: RequestRejection(.range, rule: .negative)) { try ByteRange(from: -1) }
        #expect(throws: RequestRejection(.range, rule: .negative)) { try ByteRange(from: .min, through: 5) }
        #expect(throws: RequestRejection(.range, rule: .reversed)) { try ByteRange(from: 5, through: 4) }
        #expect(throws: RequestRejection(.range, rule: .reversed)) { try ByteRange(from: 5, through: -4) }
        #expect(throws: RequestRejection(.range, rule: .negative)) { try ByteRange(last: -1) }
        #expect(throws: RequestRejection(.range, rule: .empty)) { try ByteRange(last: 0) }
    }

    // MARK: - Basic credentials

    @Test func `T-REQ-25 Basic credentials are UTF-8 in Base64`() throws {
        // The two examples of RFC 7617.
        #expect(
            try BasicCredentials(user: "Aladdin", password: "open sesame").fieldValue
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        )
        #expect(try BasicCredentials(user: "test", password: "123£").fieldValue == "Basic dGVzdDoxMjPCow==")
        #expect(try BasicCredentials(user: "", password: "").fieldValue == "Basic Og==")
        #expect(try BasicCredentials(user: "u", password: "a:b").fieldValue == "Basic dTphOmI=")
    }

    @Test func `T-REQ-25 a colon in the user name and controls in either are refused`() {
        #expect(throws: RequestRejection(.credentials, rule: .colonInUser, at: 1)) {
            try BasicCredentials(user: "a:b", password: "")
        }
        for text in ["\r\n", "\n", "\u{0}", "\t", "\u{7F}", "e\r\n\u{301}"] {
            #expect(throws: RequestRejection.self) { try BasicCredentials(user: text, password: "") }
            #expect(throws: RequestRejection.self) { try BasicCredentials(user: "", password: text) }
        }
    }

    // MARK: - Heads

    private static func head(_ defaults: HeaderDefaults) throws -> RequestHead {
        let url = try RequestURL("http://a.test/")
        return try RequestHead(url: url, method: "POST", traits: MethodTraits("POST"), defaults: defaults)
    }

    @Test func `a request with the fields of the one before gets the same head`() throws {
        let defaults = HeaderDefaults(additionalHeaders: ["A": "1"], userAgent: "t/1")
        let (closing, other) = (RequestFields(["Connection": "close", "B": "2"]), RequestFields(["B": "3"]))

        for (fields, closes) in [(closing, true), (closing, true), (other, false), (closing, true)] {
            var head = try Self.head(defaults)
            try head.addAll(fields, with: defaults)
            #expect(head.closesConnection == closes)
            #expect(head.fields.first("b") == fields["B"] && head.fields.first("a") == "1")
            #expect(!head.fields.contains("Connection"))
        }
    }

    @Test func `what the caller expects, or says of caches, is not said twice`() throws {
        let defaults = HeaderDefaults(additionalHeaders: ["Expect": "session"], userAgent: "t/1")
        let own = RequestFields(["Expect": "own", "Pragma": "own", "Cache-Control": "own"])
        for (fields, expected) in [(own, ["own"]), (RequestFields(), ["session"])] {
            var head = try Self.head(defaults)
            try head.add(fields, hasBody: true)
            head.addExpectation(of: defaults)
            head.expectContinue()
            head.addNoCache()
            #expect(head.fields.values("Expect") == expected)
            for name in ["Pragma", "Cache-Control"] {
                #expect(head.fields.values(name) == [fields.isEmpty ? "no-cache" : "own"])
            }
        }
    }

    @Test func `a request goes without what the session expects where that is withheld`() throws {
        let defaults = HeaderDefaults(additionalHeaders: ["Expect": "session"], userAgent: "t/1")
        for isWithheld in [true, false] {
            var head = try Self.head(defaults)
            head.addExpectation(of: defaults) { $0 == "expect" && isWithheld }
            #expect(head.fields.contains("Expect") != isWithheld)
            head.expectContinue()
            #expect(head.fields.values("Expect") == [isWithheld ? "100-continue" : "session"])
        }
    }

    // MARK: - User agent

    @Test(arguments: [
        ("curl", "curl/1"), ("my tool", "mytool/1"), ("a\r\nX-Evil: 1", "aX-Evil1/1"), ("🦆", "AFNetworking/1"),
        ("ente🦆", "ente/1"), ("", "AFNetworking/1"), ("a/b", "ab/1"), ("(x)", "x/1"), ("ünï", "n/1"),
        ("\u{0}", "AFNetworking/1"),
    ])
    func `T-REQ-28 a program name becomes a token`(name: String, expected: String) {
        let library = "swift-afnetworking/\(PackageVersion.current)"
        #expect(UserAgent.product(programName: name) == "\(expected) \(library)")
    }

    @Test func `T-REQ-28 a long program name is cut`() {
        let agent = UserAgent.product(programName: String(repeating: "a", count: 100_000))
        #expect(agent.prefix { $0 != " " }.utf8.count == 66)
    }
}
