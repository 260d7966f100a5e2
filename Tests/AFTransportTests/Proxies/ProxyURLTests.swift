@testable import AFTransport

extension ProxyTests {
    @Suite("URLs of proxies")
    struct URLs {
        private static let accepted: [(String, ProxyServer.Kind, String, Int, String?)] = [
            ("http://proxy.test:3128", .http, "proxy.test", 3128, nil),
            ("http://proxy.test:3128/", .http, "proxy.test", 3128, nil),
            ("HTTP://Proxy.Test:3128", .http, "proxy.test", 3128, nil),
            ("http://proxy.test", .http, "proxy.test", 80, nil),
            ("https://proxy.test", .https, "proxy.test", 443, nil),
            ("socks5://proxy.test", .socks5, "proxy.test", 1080, nil),
            ("socks5h://proxy.test", .socks5h, "proxy.test", 1080, nil),
            ("proxy.test:3128", .http, "proxy.test", 3128, nil),
            ("proxy.test", .http, "proxy.test", 80, nil),
            ("http://192.0.2.1:8080", .http, "192.0.2.1", 8080, nil),
            ("http://[2001:db8::1]:8080", .http, "[2001:db8::1]", 8080, nil),
            ("[2001:DB8:0::1]:8080", .http, "[2001:db8::1]", 8080, nil),
            ("http://me@proxy.test", .http, "proxy.test", 80, "me"),
            ("http://me:secret@proxy.test", .http, "proxy.test", 80, "me"),
            ("me:secret@proxy.test:8080", .http, "proxy.test", 8080, "me"),
            ("http://m%40e:p%3A%25%2F@proxy.test", .http, "proxy.test", 80, "m@e"),
            ("http://me:a:b@proxy.test", .http, "proxy.test", 80, "me"),
            ("socks5h://a%3Ab:c@proxy.test", .socks5h, "proxy.test", 1080, "a:b"),
            ("http://proxy.test.:80", .http, "proxy.test", 80, nil),
        ]

        private static let refused: [(String, ProxyConfigurationError.Reason)] = [
            ("", .host),
            ("http://", .host),
            ("http:///", .host),
            ("http://:3128", .host),
            ("ftp://proxy.test", .scheme),
            ("socks://proxy.test", .scheme),
            ("socks4://proxy.test", .scheme),
            ("://proxy.test", .scheme),
            ("http ://proxy.test", .scheme),
            ("http://proxy.test:0", .port),
            ("http://proxy.test:65536", .port),
            ("http://proxy.test:080", .port),
            ("http://proxy.test:", .port),
            ("http://proxy.test:+80", .port),
            ("http://proxy.test:80:81", .port),
            ("http://proxy.test/path", .path),
            ("http://proxy.test//", .path),
            ("http://proxy.test?query", .path),
            ("http://proxy.test#fragment", .path),
            ("http://proxy.test\\@evil.test", .path),
            ("http://a@b@proxy.test", .credentials),
            ("http://@proxy.test", .credentials),
            ("http://:secret@proxy.test", .credentials),
            ("http://me:%0d%0aX@proxy.test", .credentials),
            ("http://me:%@proxy.test", .credentials),
            ("http://me:%ff@proxy.test", .credentials),
            ("http://a%3Ab:c@proxy.test", .credentials),
            ("http://pro xy.test", .host),
            ("http://proxy.test ", .host),
            ("http://pr%6fxy.test", .host),
            ("http://proxy..test", .host),
            ("http://2001:db8::1", .host),
            ("http://[2001:db8::1", .host),
            ("http://[proxy.test]", .host),
            ("http://1.2.3", .host),
            ("http://me:pass/word@proxy.test", .path),
        ]

        @Test("T-PRX-15 a URL means one proxy", arguments: accepted)
        func accepts(text: String, kind: ProxyServer.Kind, host: String, port: Int, user: String?) throws {
            let server = try ProxyServer(text)

            #expect(server.kind == kind && server.host == host && server.port == port && server.user == user)
            #expect(!"\(server)".contains("secret"))
        }

        @Test("T-PRX-15 what is no URL of a proxy is refused, and not shown", arguments: refused)
        func refuses(text: String, reason: ProxyConfigurationError.Reason) {
            let error = #expect(throws: ProxyConfigurationError.self) { try ProxyServer(text) }

            #expect(error?.reason == reason)
            #expect(error?.description.contains("secret") == false && error?.description.contains("pass/") == false)
        }

        @Test func `T-PRX-15 parts are held to the same rules`() {
            #expect(throws: ProxyConfigurationError.self) { try ProxyServer(.http, host: "proxy.test", port: 0) }
            #expect(throws: ProxyConfigurationError.self) { try ProxyServer(.http, host: "proxy.test", port: 70_000) }
            #expect(throws: ProxyConfigurationError.self) { try ProxyServer(.http, host: "p/q") }
            #expect(throws: ProxyConfigurationError.self) { try ProxyServer(.http, host: "p", password: "secret") }
            #expect(throws: ProxyConfigurationError.self) { try ProxyServer(.http, host: "p", user: "a\r\nb") }
            #expect(throws: ProxyConfigurationError.self) {
                try ProxyServer(.socks5, host: "p", user: String(repeating: "u", count: 256))
            }
            #expect((try? ProxyServer(.socks5, host: "2001:db8::1"))?.host == "[2001:db8::1]")
        }

        @Test func `a dump shows no password`() throws {
            var text = ""
            dump(try ProxyServer("http://me:secret@proxy.test"), to: &text)
            #expect(!text.contains("secret") && !text.contains("me:"))
        }
    }
}
