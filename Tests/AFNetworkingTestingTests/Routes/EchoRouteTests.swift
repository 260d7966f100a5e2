import AFNetworkingTesting
import Foundation
import Testing

@Suite struct EchoRouteTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.echo)
    }

    @Test func `anything answers with the request`() throws {
        let reply = try Visit(
            server,
            "/anything/deep?a=1&b=x%20y&a=2",
            method: "PATCH",
            ["X-One: 1", "X-Two: a", "X-Two: b", "Content-Type: application/json"],
            body: #"{"k": ["v\n", 1.5e3, true]}"#.utf8
        )

        let json = try reply.json()
        #expect(reply["content-type"] == "application/json")
        #expect(json["method"] as? String == "PATCH")
        #expect(json["url"] as? String == "http://test.example:81/anything/deep?a=1&b=x%20y&a=2")
        let arguments = try #require(json["args"] as? [String: Any])
        #expect(arguments["a"] as? [String] == ["1", "2"])
        #expect(arguments["b"] as? String == "x y")
        let headers = try #require(json["headers"] as? [String: Any])
        #expect(headers["X-One"] as? String == "1")
        #expect(headers["X-Two"] as? [String] == ["a", "b"])
        #expect(json["data"] as? String == #"{"k": ["v\n", 1.5e3, true]}"#)
        #expect((json["json"] as? [String: Any])?.keys.sorted() == ["k"])
    }

    @Test func `forms are split into fields and files`() throws {
        let type = "Content-Type: application/x-www-form-urlencoded"
        let form = try Visit(server, "/post", method: "POST", [type], body: "a=1+2&b=%C3%A9&a=3&c".utf8).json()
        let fields = try #require(form["form"] as? [String: Any])
        #expect(fields["a"] as? [String] == ["1 2", "3"])
        #expect(fields["b"] as? String == "é")
        #expect(fields["c"] as? String == "")
        #expect(form["data"] as? String == "")

        let body =
            "preamble\r\n--a b\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\ntext\r\n--a b\r\n"
            + "content-disposition: form-data; name=\"f\"; filename=\"x\\\".bin\"\r\nContent-Type: x/y\r\n\r\n"
            + "line\r\n\r\nline\r\n--a b--\r\nepilogue"
        let multipart = "Content-Type: Multipart/Form-Data; charset=utf-8; boundary=\"a b\""
        let parts = try Visit(server, "/put", method: "PUT", [multipart], body: body.utf8).json()
        #expect((parts["form"] as? [String: String]) == ["t": "text"])
        #expect((parts["files"] as? [String: String]) == ["f": "line\r\n\r\nline"])
    }

    @Test func `bytes that are not UTF-8 become a data URL, and text that is not JSON becomes null`() throws {
        let reply = try Visit(server, "/post", method: "POST", body: [0xFF, 0x00]).json()
        #expect(reply["data"] as? String == "data:application/octet-stream;base64,/wA=")
        #expect(reply["json"] is NSNull)
    }

    @Test(arguments: [
        ("1", true), ("-0.5E+3", true), ("\"\\u00e9\\n\"", true), ("[]", true), ("{ }", true),
        (" [1 , {\"a\":[ ]} ] ", true),
        ("", false), ("01", false), ("1.", false), ("{\"a\"}", false),
        ("[1}", false), ("nul", false), ("\"\t\"", false), ("\"\\x\"", false), ("1 2", false), ("[", false),
        ("]", false),
    ])
    func `JSON is recognized`(text: String, isJSON: Bool) throws {
        let reply = try Visit(server, "/post", method: "POST", body: text.utf8).json()
        #expect(!(reply["json"] is NSNull) == isJSON)
    }

    @Test(arguments: [(512, true), (20_000, false)])
    func `JSON is parsed up to the depth that Foundation reads`(depth: Int, isRead: Bool) throws {
        let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let reply = try Visit(server, "/anything", method: "POST", body: deep.utf8)
        #expect(reply.status == 200)
        #expect(reply.text.contains("\"json\": [[[") == isRead)
        #expect(reply.text.contains("\"json\": null") != isRead)
    }

    @Test func `the named routes accept their methods only`() throws {
        for (path, method) in [
            ("get", "GET"), ("post", "POST"), ("put", "PUT"), ("patch", "PATCH"), ("delete", "DELETE"),
        ] {
            #expect(try Visit(server, "/\(path)", method: method).json()["method"] as? String == method)
            #expect(try Visit(server, "/\(path)", method: "OPTIONS").status == 405)
        }
        let headers = try Visit(server, "/headers", ["X-A: b"]).json()["headers"] as? [String: String]
        #expect(headers?["X-A"] == "b")
        #expect(try Visit(server, "/user-agent", ["User-Agent: me/1"]).json()["user-agent"] as? String == "me/1")
    }

    @Test func `the query sets fields of the reply`() throws {
        let reply = try Visit(server, "/response-headers?Set-Cookie=a%3D1&Set-Cookie=b&content-type=x/y")
        #expect(reply.values("set-cookie") == ["a=1", "b"])
        #expect(reply.values("content-type") == ["x/y"])
    }

    @Test func `a list of statuses is answered in order`() throws {
        let statuses = try (0..<4).map { _ in try Visit(server, "/status/503,429,200").status }
        #expect(statuses == [503, 429, 200, 200])
        #expect(try Visit(server, "/status/418", method: "DELETE").status == 418)
        for path in ["/status/100", "/status/abc", "/status/200,", "/status/9999"] {
            #expect([200, 400].contains(try Visit(server, path).status))
        }
        #expect(try Visit(server, "/status/100").status == 400)
    }
}
