import AFRequest
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

struct RequestFreezerTests {
    @Test func `a plain GET is five lines`() throws {
        let frozen = try freeze("http://a.test/x?y=1#z")

        #expect(
            frozen.lines == ["GET /x?y=1 HTTP/1.1", "Host: a.test", "User-Agent: test/1", "Accept: */*", ""]
        )
        #expect(frozen.body.data == nil)
        #expect(frozen.body.framing == .none)
        #expect(frozen.head.traits.isIdempotent)
        #expect(!frozen.head.closesConnection)
    }

    @Test func `the head ends with one empty line`() throws {
        let bytes = try freeze("http://a.test/").headBytes

        #expect(bytes.suffix(4) == Array("\r\n\r\n".utf8)[...])
        #expect(bytes.count { $0 == 0x0A } == 5)
    }

    @Test func `a caller's fields come in their order and in their spelling`() throws {
        let frozen = try freeze("http://a.test/") { request in
            request.setValue("2", forHTTPHeaderField: "x-B")
            request.setValue("1", forHTTPHeaderField: "X-a")
            request.addValue("3", forHTTPHeaderField: "X-B")
            request.setValue("text/html", forHTTPHeaderField: "accept")
        }

        #expect(frozen.lines[2...] == ["x-B: 2,3", "X-a: 1", "accept: text/html", "User-Agent: test/1", ""])
    }

    @Test(arguments: [("a;b", "a\u{37E}b"), ("e\u{301}", "\u{E9}"), ("K", "\u{212A}"), ("\u{F900}", "\u{8C48}")])
    func `T-AUT-18 each request has its own fields, also where Unicode takes another's for the same`(
        one: String,
        other: String
    ) throws {
        #expect(one == other)
        for value in [one, other, one] {
            let frozen = try freeze("http://a.test/") { $0.setValue(value, forHTTPHeaderField: "X") }
            #expect(frozen.head.fields.firstBytes("X") == Array(value.utf8))
        }
    }

    @Test(arguments: [false, true])
    func `Connection: close of the session concerns no WebSocket, and every other request`(isFirst: Bool) throws {
        let defaults = HeaderDefaults(additionalHeaders: ["Connection": "close"], userAgent: "test/1")
        for isWebSocket in [isFirst, !isFirst, isFirst] {
            let frozen = try freeze("http://a.test/", defaults: defaults) { request in
                request.setValue("1", forHTTPHeaderField: "X")
                if isWebSocket { request.change { $0.wire.value.webSocket = WebSocketHandshake() } }
            }
            #expect(frozen.head.closesConnection == !isWebSocket)
        }
    }

    @Test func `a field that is set again keeps its place and its spelling`() throws {
        let frozen = try freeze("http://a.test/") { request in
            request.setValue("1", forHTTPHeaderField: "x-Case")
            request.setValue("2", forHTTPHeaderField: "X-B")
            request.setValue("3", forHTTPHeaderField: "X-CASE")
        }

        #expect(frozen.lines[2...3] == ["x-Case: 3", "X-B: 2"])
    }

    @Test func `additional headers are sent only where the request lacks them`() throws {
        let defaults = HeaderDefaults(
            additionalHeaders: ["X-A": "session", "x-b": "session", "User-Agent": "mine"],
            userAgent: "test/1"
        )

        let frozen = try freeze("http://a.test/", defaults: defaults) { request in
            request.setValue("request", forHTTPHeaderField: "x-a")
        }

        #expect(frozen.lines[2...] == ["x-a: request", "User-Agent: mine", "x-b: session", "Accept: */*", ""])
    }

    @Test func `Authorization set by the caller is sent`() throws {
        let frozen = try freeze("http://a.test/") { $0.setValue("Basic eDp5", forHTTPHeaderField: "Authorization") }

        #expect(frozen.lines.contains("Authorization: Basic eDp5"))
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5] as [UInt])
    func `only the policy that distrusts remote caches says so`(rawValue: UInt) throws {
        let policy = try #require(URLRequest.CachePolicy(rawValue: rawValue))

        let frozen = try freeze("http://a.test/") { $0.cachePolicy = policy }

        #expect(frozen.lines.contains("Cache-Control: no-cache") == (rawValue == 4))
        #expect(frozen.lines.contains("Pragma: no-cache") == (rawValue == 4))
    }

    @Test func `a caller's Cache-Control goes before the policy's`() throws {
        let frozen = try freeze("http://a.test/") { request in
            request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
            request.setValue("max-age=0", forHTTPHeaderField: "cache-control")
        }

        #expect(frozen.lines.filter { $0.lowercased().hasPrefix("cache-control") } == ["cache-control: max-age=0"])
    }

    // MARK: - Refusals

    @Test func `a request without a URL is refused`() {
        #expect(throws: RequestRejection(.url, rule: .missing)) { try freeze("http://a.test/") { $0.url = nil } }
    }

    @Test(arguments: ["a\nb", "a\r\nX-Evil: 1", "a\u{0}", "\u{7F}", "a\r\n b", "e\r\n\u{301}"])
    func `T-REQ-01 a value with a control is refused`(value: String) {
        let error = #expect(throws: RequestRejection.self) {
            try freeze("http://a.test/") { $0.setValue(value, forHTTPHeaderField: "X") }
        }
        #expect(error?.component == .fieldValue)
    }

    @Test(arguments: ["a\r\nX: y:b", "a:b\r\n", "a:\0", "\u{7F}:b", "a:\tb", "\n:"])
    func `T-REQ-25 Basic credentials of the caller's own that hold a control are refused`(pair: String) {
        let code = Data(pair.utf8).base64EncodedString()
        for value in ["Basic \(code)", "basic  \(code) ", "BASIC\t\(code)"] {
            let error = #expect(throws: RequestRejection.self) {
                try freeze("http://a.test/") { $0.setValue(value, forHTTPHeaderField: "authorization") }
            }
            #expect(error == RequestRejection(.credentials, rule: .control))
        }
        let defaults = HeaderDefaults(additionalHeaders: ["Authorization": "Basic \(code)"], userAgent: "t/1")
        #expect(defaults.rejection == RequestRejection(.credentials, rule: .control))
    }

    @Test func `T-REQ-25 other values of Authorization are sent as they are given`() throws {
        let clean = Data("Aladdin:open sesame \u{E9}".utf8).base64EncodedString()
        for value in ["Basic \(clean)", "Basic", "Basic ", "Basic DQo", "Basic *", "Bearer DQo=", "Basically DQo="] {
            let frozen = try freeze("http://a.test/") { $0.setValue(value, forHTTPHeaderField: "Authorization") }
            #expect(frozen.lines.contains { $0.hasPrefix("Authorization: Ba") || $0.hasPrefix("Authorization: Be") })
        }
        #expect(throws: Never.self) {
            try freeze("http://a.test/") { $0.setValue("Basic DQo=", forHTTPHeaderField: "X-Authorization") }
        }
    }

    @Test(arguments: ["", " ", "X:", "X Y", "X\r\nY", "Ü", "X\u{0}", "(x)"])
    func `T-REQ-02 a name that is no token is refused`(name: String) {
        let error = #expect(throws: RequestRejection.self) {
            try freeze("http://a.test/") { $0.setValue("1", forHTTPHeaderField: name) }
        }
        #expect(error?.component == .fieldName)
    }

    @Test(arguments: ["", "GET ", "GET /x HTTP/1.1\r\nX:", "G\nT", "CONNECT", "connect", "GÉT"])
    func `T-REQ-03 a method that is no token and CONNECT are refused`(method: String) {
        let error = #expect(throws: RequestRejection.self) {
            try freeze("http://a.test/") { $0.httpMethod = method }
        }
        #expect(error?.component == .method)
    }

    @Test func `T-REQ-03 the case of a method is kept, but for those that Foundation spells`() throws {
        #expect(try freeze("http://a.test/") { $0.httpMethod = "get" }.lines.first == "GET / HTTP/1.1")
        #expect(try freeze("http://a.test/") { $0.httpMethod = "patch" }.lines.first == "patch / HTTP/1.1")
    }

    @Test(arguments: ["GET", "HEAD", "TRACE"])
    func `T-REQ-03 T-REQ-16 a body where none may be is refused`(method: String) {
        #expect(throws: RequestRejection(.body, rule: .bodyNotAllowed)) {
            try freeze("http://a.test/") { request in
                request.httpMethod = method
                request.httpBody = Data([1])
            }
        }
    }

    @Test func `T-REQ-04 the request line of any URL fits the grammar`() throws {
        var random = FixedSeed(state: 41)
        var accepted = 0
        for _ in 0..<1000 {
            let scalars = (0..<12).map { _ in Unicode.Scalar(UInt32.random(in: 0x20...0x2FF, using: &random)) ?? "x" }
            let text = "http://a.test/" + String(String.UnicodeScalarView(scalars))
            guard let url = URL(string: text), let frozen = try? freeze(url) else { continue }
            accepted += 1
            #expect(frozen.lines.first?.wholeMatch(of: /GET \/[A-Za-z0-9\-._~!$&'()*+,;=:@\/?%]* HTTP\/1\.1/) != nil)
        }
        #expect(accepted > 300)
    }

    @Test(arguments: [
        "http://exa%0d%0aX/", "http://h%00.evil.test/", "http://h%2f10.0.0.1/", "http://h%40evil.test/",
        "http://h%3a80/", "http://h%23x/", "http://h\\@evil.test/", "http://a@b@c/", "http://[example.com]/",
        "http://h:99999/", "http://.h/", "http://h../", "http://:80/", "http://0x7f.1/", "http://2130706433/",
        "http://1.2.3/",
    ])
    func `T-REQ-05 T-REQ-06 T-REQ-07 T-REQ-11 host text Foundation accepts is refused`(text: String) throws {
        let url = try #require(URL(string: text), "Foundation has begun to refuse this; see F-06")

        #expect(throws: RequestRejection.self) { try freeze(url) }
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://a.test/", "data:,x", "a.test", "/x", "HTTPX://a.test/"])
    func `T-REQ-26 any other scheme is refused`(text: String) throws {
        let url = try #require(URL(string: text))

        let error = #expect(throws: RequestRejection.self) { try freeze(url) }
        #expect(error?.component == .scheme)
    }

    @Test func `T-REQ-26 the case of the scheme does not matter`() throws {
        #expect(try freeze("HTTP://a.test/").url.endpoint.scheme == .http)
        #expect(try freeze("hTTps://a.test/").url.endpoint.port == 443)
    }

    @Test func `T-REQ-27 a head of 256 KiB is the longest`() throws {
        func length(_ count: Int) throws -> Int {
            let value = String(repeating: "a", count: count)
            return try freeze("http://a.test/") { $0.setValue(value, forHTTPHeaderField: "X") }.headBytes.count
        }
        let overhead = try length(0)

        #expect(try length(262_144 - overhead) == 262_144)
        #expect(throws: RequestRejection(.head, rule: .tooLong)) { try length(262_145 - overhead) }
    }

    @Test func `an invalid additional header fails the request, not the session`() {
        let defaults = HeaderDefaults(additionalHeaders: ["X": "a\r\nb"], userAgent: "test/1")

        let error = #expect(throws: RequestRejection.self) { try freeze("http://a.test/", defaults: defaults) }
        #expect(error?.component == .fieldValue)
    }
}

extension RequestFreezerTests {
    @Test(arguments: [
        ([:], [:], "gzip"), (["Accept-Encoding": "br"], [:], "br"),
        (["accept-encoding": "br"], ["Range": "bytes=0-1"], "br"),
        (["Range": "bytes=0-1"], [:], "identity"), ([:], ["Range": "bytes=0-1"], "identity"),
        ([:], ["Range": "bytes=0-1", "Accept-Encoding": "br"], "br"),
    ])
    func `a part of a body is asked for as it is, unless the session or the caller names a coding`(
        session: [String: String],
        own: [String: String],
        expected: String
    ) throws {
        let defaults = HeaderDefaults(additionalHeaders: session, userAgent: "t/1", contentCodings: "gzip")
        let frozen = try freeze("http://a.test/", defaults: defaults) { request in
            for (name, value) in own { request.setValue(value, forHTTPHeaderField: name) }
        }

        #expect(frozen.values("Accept-Encoding") == [expected])
    }

    @Test func `a request with trailer fields announces them, and has no length`() throws {
        let frozen = try freeze("http://a.test/") { request in
            request.httpMethod = "PUT"
            request.httpBody = Data("abc".utf8)
            request.setValue("X-Mine", forHTTPHeaderField: "Trailer")
            request.trailers = RequestTrailers("X-A", "X-B") { [:] }
        }

        #expect(frozen.values("Trailer") == ["X-A, X-B"] && frozen.values("Content-Length").isEmpty)
        #expect(frozen.values("Transfer-Encoding") == ["chunked"] && frozen.body.data == Data("abc".utf8))
        #expect(frozen.body.trailers?.names == ["X-A", "X-B"])
        for method in ["GET", "POST"] {
            let error = #expect(throws: RequestRejection.self) {
                try freeze("http://a.test/") { request in
                    request.httpMethod = method
                    request.trailers = RequestTrailers("X-A") { [:] }
                }
            }
            #expect(error?.rule == .trailersNeedBody)
        }
    }
}
