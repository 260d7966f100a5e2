import AFRequest
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

struct RequestIdentityTests {
    @Test(arguments: ["Host", "host", "HOST"])
    func `T-REQ-14 T-REQ-15 a caller's Host replaces ours, and the server is the URL's all the same`(name: String)
        throws
    {
        let frozen = try freeze("https://a.test:8443/") { request in
            request.setValue("X", forHTTPHeaderField: "X-First")
            request.setValue("other.test:99", forHTTPHeaderField: name)
        }

        #expect(frozen.lines[1] == "Host: other.test:99")
        #expect(frozen.values("Host").count == 1)
        #expect(frozen.url.endpoint.host.text == "a.test")
        #expect(frozen.url.endpoint.port == 8443)
        #expect(frozen.url.endpoint.host.serverName == "a.test")
    }

    @Test func `T-REQ-14 Host twice in other spelling is refused`() {
        let error = #expect(throws: RequestRejection.self) {
            try freeze("http://a.test/") { $0.allHTTPHeaderFields = ["Host": "b.test", "HOST": "c.test"] }
        }
        #expect(error?.component == .hostField)
    }

    @Test func `T-REQ-15 a Host among the additional headers yields to the request's`() throws {
        let defaults = HeaderDefaults(additionalHeaders: ["Host": "session.test"], userAgent: "test/1")

        #expect(try freeze("http://a.test/", defaults: defaults).values("Host") == ["session.test"])
        let frozen = try freeze("http://a.test/", defaults: defaults) {
            $0.setValue("request.test", forHTTPHeaderField: "host")
        }
        #expect(frozen.values("Host") == ["request.test"])
    }

    @Test(arguments: [
        "", " ", "a b", "a\r\nX: y", "a/b", "a?b", "a#b", "u@a", "a:0", "a:b", "a%00", "[::1", "[fe80::1%25eth0]",
        "1.2.3", "a,b", "ü.test", "a\\b", "http://a",
    ])
    func `T-REQ-15 a Host that is no host and port is refused`(value: String) {
        #expect(throws: RequestRejection.self) {
            try freeze("http://a.test/") { $0.setValue(value, forHTTPHeaderField: "Host") }
        }
        let defaults = HeaderDefaults(additionalHeaders: ["Host": value], userAgent: "test/1")
        #expect(throws: RequestRejection.self) { try freeze("http://a.test/", defaults: defaults) }
    }

    @Test(arguments: ["http://me:CANARY@a.test/x", "http://CANARY@a.test:80/x", "http://:CANARY@a.test/x?y#CANARY"])
    func `T-REQ-12 T-REQ-13 user information and fragment go nowhere`(text: String) throws {
        let frozen = try freeze(text)

        #expect(!String(decoding: frozen.headBytes, as: UTF8.self).contains("CANARY"))
        #expect(!frozen.url.text.contains("CANARY"))
        #expect(!"\(frozen.url.endpoint)".contains("CANARY"))
        #expect(frozen.lines[1] == "Host: a.test")
    }

    @Test func `T-REQ-22 the bytes depend on the request and the defaults and nothing else`() throws {
        var random = FixedSeed(state: 51)
        let urls = ["http://a.test/", "https://b.test:1/x", "http://[::1]/?q"]
        let defaults = [
            testDefaults, HeaderDefaults(additionalHeaders: ["X": "1", "Connection": "close"], userAgent: "test/1"),
        ]
        let recipes = (0..<40).map { _ in
            (
                url: urls.randomElement(using: &random) ?? "", defaults: Int.random(in: 0...1, using: &random),
                method: ["GET", "POST", "PUT"].randomElement(using: &random),
                value: ["a", "b", nil].randomElement(using: &random) ?? nil
            )
        }
        func head(_ index: Int) throws -> [UInt8] {
            let recipe = recipes[index]
            return try freeze(recipe.url, defaults: defaults[recipe.defaults]) { request in
                request.httpMethod = recipe.method
                request.setValue(recipe.value, forHTTPHeaderField: "X-V")
                if recipe.method != "GET" { request.httpBody = recipe.value.map { Data($0.utf8) } }
            }.headBytes
        }
        let first = try recipes.indices.map(head)

        for _ in 0..<400 {
            let index = Int.random(in: 0..<recipes.count, using: &random)

            #expect(try head(index) == first[index])
        }
    }

    @Test func `T-REQ-21 T-REQ-22 a frozen request keeps its body whatever happens to the request`() throws {
        var request = AFURLTypes.URLRequest(url: try #require(URL(string: "http://a.test/")))
        request.httpMethod = "PUT"
        request.httpBody = Data("first".utf8)
        let frozen = try RequestFreezer.freeze(request, defaults: testDefaults)

        request.httpBody?.append(contentsOf: "second".utf8)
        request.setValue("x", forHTTPHeaderField: "X")

        #expect(frozen.body.data == Data("first".utf8))
        #expect(frozen.values("Content-Length") == ["5"])
        #expect(frozen.values("X") == [])
    }

    @Test func `T-REQ-28 the default User-Agent is a token and a version`() throws {
        let request = AFURLTypes.URLRequest(url: try #require(URL(string: "http://a.test/")))

        let agent = try RequestFreezer.freeze(request).values("User-Agent")

        #expect(agent.count == 1)
        let products = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+\/1 swift-afnetworking\/[0-9.]+(?:-dev)?/
        #expect(agent.first?.wholeMatch(of: products) != nil)
    }

    @Test func `no Accept-Encoding is sent as long as nothing decodes`() throws {
        #expect(try freeze("http://a.test/").values("Accept-Encoding") == [])
    }
}
