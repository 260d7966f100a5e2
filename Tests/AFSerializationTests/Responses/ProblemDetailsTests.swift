@testable import AFSerialization

/// What a server says about a failure.
struct ProblemDetailsTests {
    private static func response(_ type: String = "application/problem+json", status: Int = 403) throws
        -> HTTPURLResponse
    {
        let url = try #require(URL(string: "https://a.test/account/12"))
        let fields = ["Content-Type": type]
        return try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    private static func problem(_ json: String, type: String = "application/problem+json") throws -> ProblemDetails? {
        ProblemDetails(try response(type), body: Data(json.utf8))
    }

    private static let document = """
        {"type": "/problems/out-of-credit", "title": "You do not have enough credit.", "status": 403,
        "detail": "It costs 50.", "instance": "msgs/abc", "balance": 30, "accounts": ["/account/12"]}
        """

    @Test func `a problem has the members of the standard, and a program's own`() throws {
        struct OutOfCredit: Decodable, Equatable {
            let balance: Int
            let accounts: [String]
        }
        let problem = try #require(try Self.problem(Self.document))

        #expect(problem.type == "https://a.test/problems/out-of-credit")
        #expect(problem.title == "You do not have enough credit." && problem.detail == "It costs 50.")
        #expect(problem.status == 403 && problem.instance == "https://a.test/account/msgs/abc")
        #expect(try problem.decode(OutOfCredit.self) == OutOfCredit(balance: 30, accounts: ["/account/12"]))
        #expect(problem.words == "\"You do not have enough credit.: It costs 50.\"")
    }

    @Test(arguments: ["Application/Problem+JSON; charset=utf-8", "application/problem+json"])
    func `the type says that there is one`(type: String) throws {
        #expect(try Self.problem("{}", type: type)?.type == "about:blank")
        #expect(try Self.problem("{}", type: type)?.words == nil)
    }

    @Test(arguments: ["application/json", "application/problem+xml", "text/plain", "application/problem+jsonx", ""])
    func `a body of another type is none`(type: String) throws {
        #expect(try Self.problem(Self.document, type: type) == nil)
    }

    @Test(arguments: ["", "[]", "1", "\"a\"", "null", "{", "{} x", "<problem/>"])
    func `a body that is no object is none`(json: String) throws {
        #expect(try Self.problem(json) == nil)
    }

    @Test func `T-ANS-10 a member of another type is ignored, and takes no other along`() throws {
        let json = #"{"type": 1, "title": ["a"], "status": "403", "detail": {"b": 1}, "instance": null}"#
        let problem = try #require(try Self.problem(json))
        let kept = try #require(try Self.problem(#"{"status": 1e99, "title": "kept", "detail": true}"#))

        #expect(problem.type == "about:blank" && problem.title == nil && problem.status == nil)
        #expect(problem.detail == nil && problem.instance == nil && problem.words == nil)
        #expect(kept.status == nil && kept.words == "\"kept\"")
    }

    @Test func `T-ANS-09 a document that is long or deep is none`() throws {
        let long = "{\"title\": \"\(String(repeating: "a", count: ProblemDetails.bodyLimit))\"}"
        let deep = "{\"a\": " + String(repeating: "[", count: 30_000) + String(repeating: "]", count: 30_000) + "}"
        let fitting = "{\"title\": \"\(String(repeating: "a", count: ProblemDetails.bodyLimit - 13))\"}"

        #expect(try Self.problem(long) == nil)
        #expect(try Self.problem(deep) == nil)
        #expect(fitting.utf8.count == ProblemDetails.bodyLimit)
        #expect(try #require(try Self.problem(fitting)?.words).utf8.count <= 258)
    }

    @Test func `T-ANS-10 its words drive no terminal`() throws {
        let problem = try Self.problem(#"{"title": "\u001b[2J\u009b31m\r\nx", "detail": "a\"b"}"#)

        #expect(problem?.words == #""\x1b[2J\xc2\x9b31m\r\nx: a\"b""#)
    }

    // MARK: - In errors

    @Test func `the error about a status says what the server says`() throws {
        let response = try Self.response()
        let serializer = HTTPResponseSerializer()
        let error = #expect(throws: (any Error).self) {
            try serializer.validate(response, data: Data(Self.document.utf8))
        }
        let plain = #expect(throws: (any Error).self) { try serializer.validate(response, data: Data("{".utf8)) }

        let words = "\"You do not have enough credit.: It costs 50.\""
        #expect(error?.localizedDescription == "Request failed: forbidden (403). The server says: \(words)")
        #expect(plain?.localizedDescription == "Request failed: forbidden (403)")
    }

    @Test func `T-ANS-10 the status of the response is the one that counts`() throws {
        let serializer = HTTPResponseSerializer()
        let lie = Data(#"{"status": 200, "title": "OK"}"#.utf8)

        let error = #expect(throws: (any Error).self) {
            try serializer.validate(Self.response(status: 500), data: lie)
        }

        #expect(error?.localizedDescription == "Request failed: internal server error (500). The server says: \"OK\"")
    }
}
