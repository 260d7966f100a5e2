import AFWire

@testable import AFTransport

extension ProxyTests {
    @Suite("Exceptions from proxies")
    struct Exceptions {
        struct Row: CustomTestStringConvertible {
            let list: String
            let excepted: [String]
            let proxied: [String]

            var testDescription: String { list }
        }

        private static let rows: [Row] = [
            Row(
                list: "example.com",
                excepted: [
                    "example.com", "EXAMPLE.com", "example.com.", "www.example.com", "a.b.example.com",
                    "example.com:8080",
                ],
                proxied: [
                    "notexample.com", "example.com.evil.test", "example.org", "com", "xexample.com", "example.co",
                ]
            ),
            Row(
                list: ".example.com",
                excepted: ["www.example.com", "a.b.example.com", "www.example.com."],
                proxied: ["example.com", "notexample.com", "wwwexample.com"]
            ),
            Row(
                list: "*.example.com",
                excepted: ["www.example.com", "a.b.example.com"],
                proxied: ["example.com", "notexample.com"]
            ),
            Row(list: "*", excepted: ["example.com", "192.0.2.1", "[2001:db8::1]"], proxied: []),
            Row(list: "", excepted: [], proxied: ["example.com"]),
            Row(list: " , ,,  ", excepted: [], proxied: ["example.com", "192.0.2.1"]),
            Row(
                list: "  a.test ,\tb.test,,c.test  d.test",
                excepted: ["a.test", "b.test", "c.test", "d.test"],
                proxied: ["e.test", "test"]
            ),
            Row(list: "a.test\r\nb.test\u{B}c.test\u{E}", excepted: ["a.test", "b.test"], proxied: ["d.test"]),
            Row(
                list: "Example.COM",
                excepted: ["example.com", "www.EXAMPLE.com"],
                proxied: ["example.net"]
            ),
            Row(list: "example.com.", excepted: ["example.com", "www.example.com"], proxied: ["example.org"]),
            Row(
                list: "example.com:8080",
                excepted: ["example.com:8080", "www.example.com:8080"],
                proxied: ["example.com", "example.com:80", "example.com:808", "www.example.com"]
            ),
            Row(
                list: ".example.com:443",
                excepted: ["www.example.com:443"],
                proxied: ["www.example.com", "example.com:443"]
            ),
            Row(
                list: "192.0.2.1",
                excepted: ["192.0.2.1", "[::ffff:192.0.2.1]", "[::ffff:c000:201]", "192.0.2.1:99"],
                proxied: ["192.0.2.10", "192.0.2.2", "1.192.0.2.test", "[2001:db8::1]", "www.192.0.2.1.test"]
            ),
            Row(list: "192.0.2.1:80", excepted: ["192.0.2.1"], proxied: ["192.0.2.1:81"]),
            Row(list: "::ffff:192.0.2.1", excepted: ["192.0.2.1", "[::ffff:192.0.2.1]"], proxied: ["192.0.2.2"]),
            Row(
                list: "2001:db8::1",
                excepted: ["[2001:db8::1]", "[2001:0db8:0:0::0001]", "[2001:db8::1]:8080"],
                proxied: ["[2001:db8::2]", "[2001:db8::1:1]", "192.0.2.1"]
            ),
            Row(list: "[2001:DB8::1]", excepted: ["[2001:db8::1]"], proxied: ["[2001:db8::2]"]),
            Row(
                list: "[2001:db8::1]:8080",
                excepted: ["[2001:db8::1]:8080"],
                proxied: ["[2001:db8::1]", "[2001:db8::1]:80"]
            ),
            Row(list: "fe80::1%eth0", excepted: ["[fe80::1]", "[fe80::1%25eth1]"], proxied: ["[fe80::2]"]),
            Row(list: "[fe80::1%25eth0]", excepted: ["[fe80::1]", "[fe80::1%25eth0]"], proxied: ["[fe80::2]"]),
            Row(
                list: "10.0.0.0/8",
                excepted: ["10.0.0.0", "10.255.255.255", "10.1.2.3", "[::ffff:10.1.2.3]"],
                proxied: ["11.0.0.0", "9.255.255.255", "110.0.0.1", "ten.test", "10.test"]
            ),
            Row(list: "10.1.2.3/8", excepted: ["10.9.9.9"], proxied: ["11.0.0.0"]),
            Row(list: "192.0.2.128/25", excepted: ["192.0.2.128", "192.0.2.255"], proxied: ["192.0.2.127"]),
            Row(list: "192.0.2.4/31", excepted: ["192.0.2.4", "192.0.2.5"], proxied: ["192.0.2.3", "192.0.2.6"]),
            Row(list: "192.0.2.4/32", excepted: ["192.0.2.4"], proxied: ["192.0.2.5"]),
            Row(list: "0.0.0.0/0", excepted: ["192.0.2.4", "1.1.1.1"], proxied: ["[2001:db8::1]", "a.test"]),
            Row(list: "::/0", excepted: ["192.0.2.4", "[2001:db8::1]"], proxied: ["a.test"]),
            Row(
                list: "2001:db8::/32",
                excepted: ["[2001:db8::1]", "[2001:db8:ffff::]"],
                proxied: ["[2001:db9::1]", "[2001:db7:ffff::]", "192.0.2.1"]
            ),
            Row(list: "[2001:db8::]/33", excepted: ["[2001:db8:7fff::1]"], proxied: ["[2001:db8:8000::1]"]),
            Row(list: "fd00::/8", excepted: ["[fd12:3456::1]", "[fdff::]"], proxied: ["[fc00::1]", "[fe00::1]"]),
            Row(
                list: "a.test,b.test:81,10.0.0.0/8,.c.test",
                excepted: ["a.test", "x.a.test", "b.test:81", "10.0.0.1", "x.c.test"],
                proxied: ["b.test", "c.test", "d.test", "11.0.0.1"]
            ),
            // An invalid entry excepts no host.
            Row(list: "10.0.0.0/33", excepted: [], proxied: ["10.0.0.0"]),
            Row(list: "10.0.0.0/", excepted: [], proxied: ["10.0.0.0"]),
            Row(list: "10.0.0.0/08", excepted: [], proxied: ["10.0.0.0"]),
            Row(list: "10.0.0/8", excepted: [], proxied: ["10.0.0.0"]),
            Row(list: "::/129", excepted: [], proxied: ["[2001:db8::1]"]),
            Row(list: "a.test/8", excepted: [], proxied: ["a.test"]),
            Row(list: "http://a.test", excepted: [], proxied: ["a.test", "http.test"]),
            Row(list: "a.*", excepted: [], proxied: ["a.test"]),
            Row(list: "*a.test", excepted: [], proxied: ["a.test", "ba.test"]),
            Row(list: "*:80", excepted: [], proxied: ["a.test"]),
            Row(list: "**", excepted: [], proxied: ["a.test"]),
            Row(list: ".", excepted: [], proxied: ["a.test"]),
            Row(list: "*.", excepted: [], proxied: ["a.test"]),
            Row(list: "..a.test", excepted: [], proxied: ["a.test", "b.a.test"]),
            Row(list: "a.test:", excepted: [], proxied: ["a.test"]),
            Row(list: "a.test:0", excepted: [], proxied: ["a.test"]),
            Row(list: "a.test:99999", excepted: [], proxied: ["a.test"]),
            Row(list: "[a.test]", excepted: [], proxied: ["a.test"]),
            Row(list: "[::1", excepted: [], proxied: ["[2001:db8::1]"]),
            Row(list: ".192.0.2.1", excepted: [], proxied: ["192.0.2.1"]),
            Row(list: "a.test;b.test", excepted: [], proxied: ["a.test", "b.test"]),
            Row(list: "\u{212A}.test", excepted: [], proxied: ["k.test"]),
            Row(list: "a\0.test", excepted: [], proxied: ["a.test"]),
        ]

        private func endpoint(_ place: String) throws -> Endpoint { try RequestURL("http://\(place)/").endpoint }

        @Test("T-PRX-12 a list excepts whom it says", arguments: rows)
        func list(_ row: Row) throws {
            let exceptions = ProxyExceptions(noProxy: row.list)

            for place in row.excepted { #expect(exceptions.contains(try endpoint(place)), "\(place)") }
            for place in row.proxied { #expect(!exceptions.contains(try endpoint(place)), "\(place)") }
        }

        @Test func `T-PRX-12 the table has 150 rows`() {
            #expect(Exceptions.rows.map { $0.excepted.count + $0.proxied.count }.reduce(0, +) >= 150)
        }

        @Test func `T-PRX-12 in a configuration a name is that host alone, and nonsense is refused`() throws {
            let exceptions = try ProxyExceptions(["example.com", " .a.test ", "", "10.0.0.0/8"])

            #expect(exceptions.contains(try endpoint("example.com")))
            #expect(!exceptions.contains(try endpoint("www.example.com")))
            #expect(exceptions.contains(try endpoint("b.a.test")))
            #expect(exceptions.contains(try endpoint("10.2.3.4")))
            for entry in ["a.*", "10.0.0.0/33", "a b", "a.test,b.test", "http://a.test"] {
                let error = #expect(throws: ProxyConfigurationError.self) { try ProxyExceptions([entry]) }
                #expect(error?.reason == .exception, "\(entry)")
            }
        }

        @Test func `T-PRX-20 this machine is reached without a proxy unless it is asked for`() throws {
            let here = [
                "localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.255.0.9", "[::1]", "[::ffff:127.0.0.1]",
                "0.0.0.0", "[::]",
            ]
            let there = [
                "localhost.test", "notlocalhost", "128.0.0.1", "126.255.255.255", "[::2]", "[::1:0]", "10.0.0.1",
                "1.0.0.0", "0.0.0.1", "0.127.0.0", "[::ffff:1.0.0.0]", "[::ffff:0.0.0.1]", "[::1:127.0.0.1]",
            ]
            var configuration = ProxyConfiguration(try ProxyServer("http://proxy.test"))
            let usual = ProxySelection(configuration, agent: HTTPHeaders())
            configuration.includesLoopback = true
            let all = ProxySelection(configuration, agent: HTTPHeaders())

            for place in here {
                #expect(try usual.route(for: try endpoint(place)) == nil, "\(place)")
                #expect(try all.route(for: try endpoint(place)) != nil, "\(place)")
            }
            for place in there { #expect(try usual.route(for: try endpoint(place)) != nil, "\(place)") }
        }

        @Test func `simple host names may be excepted`() throws {
            var configuration = ProxyConfiguration(try ProxyServer("http://proxy.test"))
            configuration.excludesSimpleHostnames = true
            let rules = ProxySelection(configuration, agent: HTTPHeaders())

            #expect(try rules.route(for: try endpoint("intranet")) == nil)
            #expect(try rules.route(for: try endpoint("intranet.test")) != nil)
            #expect(try rules.route(for: try endpoint("[2001:db8::1]")) != nil)
        }

        @Test func `T-PRX-12 random text never traps and excepts no host that it does not name`() throws {
            var random = SystemRandomNumberGenerator()
            let host = try endpoint("victim.test")
            let alphabet = Array("*.:[]/%@,-0123456789abcdef \u{e9}")
            for _ in 0..<3000 {
                let text = String((0..<Int.random(in: 0...24, using: &random)).map { _ in alphabet.randomElement()! })
                let excepts = ProxyExceptions(noProxy: text).contains(host)
                #expect(!excepts || text.split(whereSeparator: { " ,".contains($0) }).contains("*"), "\(text)")
                _ = try? ProxyExceptions([text])
                _ = try? ProxyServer(text)
            }
        }
    }
}
