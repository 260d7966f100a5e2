import AFWire
import Testing

struct EndpointTests {
    @Test(arguments: [
        ("http://example.com/", "example.com"), ("http://example.com:80/", "example.com"),
        ("http://example.com:8080/", "example.com:8080"), ("https://example.com:443/", "example.com"),
        ("https://example.com:80/", "example.com:80"), ("http://Example.COM.:1/", "example.com.:1"),
        ("https://a.test.", "a.test."),
        ("http://[2001:DB8::1]/", "[2001:db8::1]"), ("http://[::1]:65535/", "[::1]:65535"),
        ("http://user:pass@h:10000/", "h:10000"), ("http://10.0.0.1:9999/", "10.0.0.1:9999"),
    ])
    func `T-REQ-05 the Host field is built from the endpoint`(url: String, field: String) throws {
        let endpoint = try RequestURL(url).endpoint

        #expect(endpoint.hostField == field)
        #expect(String(decoding: endpoint.hostFieldBytes, as: UTF8.self) == field)
    }

    @Test func `T-REQ-10 a zone is kept to connect and never sent`() throws {
        let endpoint = try RequestURL("http://[fe80::1%25eth0]:8080/").endpoint

        #expect(endpoint.host.connectName == "fe80::1%eth0")
        #expect(endpoint.hostField == "[fe80::1]:8080")
        #expect(endpoint.urlField == "[fe80::1%25eth0]:8080")
        #expect(!endpoint.text.contains("eth0"))
    }

    @Test func `T-TLS-44 a final dot is for the resolver and for Host, and makes no other peer`() throws {
        let (absolute, plain) = (try RequestURL("http://A.Test.:81/x"), try RequestURL("http://a.test:81/x"))

        #expect(absolute.endpoint == plain.endpoint && absolute.endpoint.hashValue == plain.endpoint.hashValue)
        #expect(absolute.endpoint.host.text == "a.test" && absolute.endpoint.host.serverName == "a.test")
        #expect(absolute.endpoint.host.connectName == "a.test." && plain.endpoint.host.connectName == "a.test")
        #expect(absolute.endpoint.text == "a.test.:81" && absolute.endpoint.urlField == "a.test.:81")
        #expect(absolute.text == "http://a.test.:81/x" && absolute.localText == absolute.text)
    }

    @Test func `addresses have no name for SNI`() throws {
        #expect(try RequestURL("https://a.test./").endpoint.host.serverName == "a.test")
        #expect(try RequestURL("https://127.0.0.1/").endpoint.host.serverName == nil)
        #expect(try RequestURL("https://[::1]/").endpoint.host.serverName == nil)
    }

    @Test func `one peer has one endpoint whatever the spelling`() throws {
        let spellings = ["http://a.test/", "HTTP://A.Test:80/x", "http://u:p@a.test.:/?y", "http://a.test#z"]

        #expect(Set(try spellings.map { try RequestURL($0).endpoint }).count == 1)
    }

    @Test func `the same host under another scheme or port is another endpoint`() throws {
        let urls = ["http://a.test/", "https://a.test/", "http://a.test:443/", "https://a.test:80/"]

        #expect(Set(try urls.map { try RequestURL($0).endpoint }).count == 4)
    }

    @Test func `endpoints are equal only if scheme, host, port and zone are`() throws {
        let urls = [
            "http://a.test/", "https://a.test:80/", "http://a.test:81/", "http://b.test/", "https://b.test:81/",
            "http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fe80::2]/", "http://1.2.3.4/",
        ]
        let endpoints = try urls.map { try RequestURL($0).endpoint }

        for (index, one) in endpoints.enumerated() {
            for (number, other) in endpoints.enumerated() { #expect((one == other) == (index == number)) }
        }
    }

    @Test(arguments: ["a.", "1a.", "xn--a."])
    func `a name of one label may be absolute`(host: String) throws {
        let endpoint = try Endpoint(scheme: .http, host: host)

        #expect(endpoint.host.text == String(host.dropLast()) && endpoint.host.isAbsolute)
    }

    @Test func `T-REQ-05 the error for a host says which rule it breaks, and where`() {
        let label = String(repeating: "a", count: 64)
        let name = String(repeating: "a.", count: 127)
        let link = { (length: Int) in "[fe80::1%25\(String(repeating: "x", count: length - 12))]" }
        let table: [(String, RequestRejection.Rule, Int)] = [
            ("", .empty, 0), (".", .emptyLabel, 0), ("a b", .forbiddenByte, 1), ("a\u{1F}b", .control, 1),
            ("a.\(label).test", .labelTooLong, 2), (name + "b", .tooLong, 0),
            // What is longer than any address with a zone is not looked into.
            (link(80), .zoneNotAllowed, 8), (link(81), .notIPv6, 0), ("[]", .notIPv6, 0), ("[", .notIPv6, 0),
        ]
        for (host, rule, position) in table {
            let error = #expect(throws: RequestRejection.self) { try Endpoint(scheme: .http, host: host) }
            #expect(error?.rule == rule && error?.position == position, "\(host)")
        }
    }

    @Test(arguments: [(63, true), (64, false)])
    func `T-REQ-05 a label has at most 63 bytes`(length: Int, isAccepted: Bool) {
        let host = String(repeating: "a", count: length) + ".test"

        #expect(((try? Endpoint(scheme: .http, host: host)) != nil) == isAccepted)
    }

    @Test(arguments: [(253, true), (254, false)])
    func `T-REQ-05 a name has at most 253 bytes`(length: Int, isAccepted: Bool) {
        let label = String(repeating: "a", count: 49) + "."
        let host = String(repeating: label, count: 5) + String(repeating: "b", count: length - 250)

        #expect(((try? Endpoint(scheme: .http, host: host)) != nil) == isAccepted)
        #expect(((try? Endpoint(scheme: .http, host: host + ".")) != nil) == isAccepted)
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `T-REQ-05 every byte but those of names is refused in a host`(byte: UInt8) {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.".utf8)
        let host = Array("a".utf8) + [byte] + Array("b".utf8)

        let isAccepted = host.withUnsafeBytes { (try? Endpoint.Host($0, offset: 0)) != nil }

        #expect(isAccepted == allowed.contains(byte))
    }

    @Test func `T-REQ-05 letters of other alphabets do not fold into ours`() {
        #expect(throws: RequestRejection.self) { try Endpoint(scheme: .http, host: "\u{212A}.test") }
        #expect(throws: RequestRejection.self) { try Endpoint(scheme: .http, host: "e\u{301}.test") }
    }

    @Test func `port zero is refused`() {
        #expect(throws: RequestRejection(.port, rule: .portRange)) {
            try Endpoint(scheme: .http, host: "h", port: 0)
        }
    }
}
