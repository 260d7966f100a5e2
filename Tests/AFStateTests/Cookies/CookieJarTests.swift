import AFURLTypes
import AFWire
import Foundation
import Testing

@testable import AFState

extension CookieRules {
    struct Jar {
        private let cookies = Cookies()

        @Test func `the examples of RFC 6265 section 3 come true`() throws {
            try cookies.receive("SID=31d4d96e407aad42", from: "http://example.com/")
            #expect(try cookies.sent(to: "http://example.com/any") == "SID=31d4d96e407aad42")
            #expect(try cookies.sent(to: "http://www.example.com/") == nil)
            cookies.storage.removeCookies(since: .distantPast)

            try cookies.receive("SID=31d4d96e407aad42; Path=/; Domain=example.com", from: "http://example.com/x/y")
            #expect(try cookies.sent(to: "http://www.example.com/") == "SID=31d4d96e407aad42")
            cookies.storage.removeCookies(since: .distantPast)

            try cookies.receive(
                "SID=31d4d96e407aad42; Path=/; Secure; HttpOnly",
                "lang=en-US; Path=/; Domain=example.com",
                from: "https://example.com/"
            )
            #expect(try cookies.sent(to: "https://example.com/") == "SID=31d4d96e407aad42; lang=en-US")
            try cookies.receive("lang=; Expires=Sun, 06 Nov 1960 08:49:37 GMT", from: "https://example.com/")
            #expect(try cookies.sent(to: "https://example.com/") == "SID=31d4d96e407aad42; lang=en-US")
            try cookies.receive(
                "lang=; Path=/; Domain=example.com; Expires=Sun, 06 Nov 1960 08:49:37 GMT",
                from: "https://example.com/"
            )
            #expect(try cookies.sent(to: "https://example.com/") == "SID=31d4d96e407aad42")
        }

        @Test("secured cookies never go in the clear, T-COO-10")
        func secured() throws {
            try cookies.receive("s=1; Secure", "p=1", from: "https://host.com/")

            #expect(try cookies.sent(to: "https://host.com:8443/") == "s=1; p=1")
            #expect(try cookies.sent(to: "http://host.com/") == "p=1")
            #expect(try cookies.sent(to: "http://host.com:443/") == "p=1")
            #expect(try cookies.receive("x=1; Secure", from: "http://host.com/") == 1)
        }

        @Test("a cookie set in the clear covers no secured cookie, T-COO-11")
        func covering() throws {
            // The path of the secured one, of the other, and whether the other is refused.
            let pairs: [(String, String, Bool)] = [
                ("/", "/", true), ("/", "/a", true), ("/", "/a/", true), ("/", "/a/b", true), ("/a", "/", false),
                ("/a", "/a", true), ("/a", "/a/", true), ("/a", "/a/b", true), ("/a", "/ab", false),
                ("/a", "/b", false), ("/a/", "/a", false), ("/a/", "/a/", true), ("/a/", "/a/b", true),
                ("/a/", "/ab", false), ("/a/b", "/a", false), ("/a/b", "/a/b", true), ("/a/b", "/a/b/c", true),
                ("/a/b", "/a/bc", false), ("/login", "/", false), ("/login", "/login/en", true),
                ("/login", "/log", false), ("/login", "/loginx", false), ("/", "", true), ("/x/y", "", true),
                ("/x", "", true), ("/x/y/z", "", false), ("/%61", "/a", false),
            ]
            #expect(pairs.count == 27)
            for (secured, plain, isRefused) in pairs {
                let cookies = Cookies()
                try cookies.receive("n=real; Secure; Path=\(secured)", from: "https://host.com/x/y/z")
                let refused = try cookies.receive("n=forged; Path=\(plain)", from: "http://host.com/x/y/z")
                #expect((refused == 1) == isRefused, "\(secured) and \(plain)")
                #expect(cookies.storage.cookies?.count == (isRefused ? 1 : 2))
            }
            // Also from above and below, and for another name not at all.
            try cookies.receive("n=real; Secure; Path=/", from: "https://www.example.com/")
            #expect(try cookies.receive("n=forged; Domain=example.com; Path=/", from: "http://example.com/") == 1)
            #expect(try cookies.receive("n=forged; Path=/", from: "http://a.www.example.com/") == 1)
            #expect(try cookies.receive("n=1; Path=/", from: "http://other.example.com/") == 0)
            #expect(try cookies.receive("m=1; Path=/", from: "http://www.example.com/") == 0)
            #expect(try cookies.receive("n=new; Path=/", from: "https://www.example.com/") == 0)
            #expect(try cookies.sent(to: "https://www.example.com/") == "n=new; m=1")
        }

        @Test("a deletion needs the same name, domain and path, T-COO-19")
        func deletion() throws {
            let gone = "Max-Age=0"
            try cookies.receive("a=1; Path=/x; Domain=example.com", from: "http://www.example.com/")
            for line in [
                "a=; \(gone)", "a=; \(gone); Path=/; Domain=example.com", "a=; \(gone); Path=/x",
                "A=; \(gone); Path=/x; Domain=example.com",
            ] {
                try cookies.receive(line, from: "http://www.example.com/")
                #expect(try cookies.sent(to: "http://example.com/x") == "a=1", "\(line)")
            }
            try cookies.receive("a=; \(gone); Path=/x; Domain=.EXAMPLE.com", from: "http://example.com/")
            #expect(try cookies.sent(to: "http://example.com/x") == nil)
            #expect(cookies.storage.isEmpty)
        }

        @Test("thousands of cookies make no request fail, T-COO-20")
        func flood() throws {
            let lines = (0..<2000).map { Array("n\($0)=\(String(repeating: "v", count: 3000))".utf8) }
            let question = try CookieRules.question("http://a.example.com/")
            #expect(cookies.storage.receive(lines, for: question, now: 1000) == 1950)
            #expect(cookies.storage.cookies?.count == 50)
            let field = try #require(try cookies.sent(to: "http://a.example.com/"))
            #expect(field.utf8.count <= 8190)
            #expect(field.contains("n0="))

            for number in 0..<200 {
                try cookies.receive("d=1; Path=/\(number)", "s\(number)=1", from: "http://h\(number).com/")
                try cookies.receive("m\(number)=\(number)", from: "http://many.com/")
            }
            let sent = try #require(try cookies.sent(to: "http://many.com/"))
            #expect(sent.split(separator: ";").count == 50)

            for number in 0..<150 {
                try cookies.receive("c\(number)=", "x\(number)=1; Domain=deep.com", from: "http://a.b.c.deep.com/")
            }
            #expect(try #require(try cookies.sent(to: "http://a.b.c.deep.com/")).split(separator: ";").count <= 150)
        }

        @Test("as many go with a request as may, and fit, T-COO-20")
        func requestLimits() throws {
            let lines = ["a=1", "b=2", "c=333", "d=4"]
            for (count, bytes, expected) in [
                (2, 100, "a=1; b=2"), (3, 100, "a=1; b=2; c=333"), (4, 22, "a=1; b=2; c=333; d=4"),
                (4, 20, "a=1; b=2; c=333; d=4"),
                (4, 19, "a=1; b=2; c=333"), (4, 14, "a=1; b=2; d=4"), (4, 8, "a=1; b=2"), (4, 7, "a=1"), (4, 3, "a=1"),
                (4, 2, nil),
            ] as [(Int, Int, String?)] {
                var limits = CookieLimits.standard
                (limits.perRequest, limits.requestBytes) = (count, bytes)
                let cookies = Cookies(limits: limits)
                for line in lines { try cookies.receive(line, from: "http://example.com/") }
                #expect(try cookies.sent(to: "http://example.com/") == expected, "\(count) of \(bytes) bytes")
            }
        }

        @Test("no equals sign counts for a cookie without a name, T-COO-20")
        func requestLimitWithoutName() throws {
            for (bytes, expected) in [(3, "abc"), (2, nil)] as [(Int, String?)] {
                var limits = CookieLimits.standard
                limits.requestBytes = bytes
                let cookies = Cookies(limits: limits)
                try cookies.receive("abc", from: "http://example.com/")
                #expect(try cookies.sent(to: "http://example.com/") == expected, "\(bytes) bytes")
            }
        }

        @Test("ended, then unsecured, then unused cookies give way, T-COO-20")
        func eviction() throws {
            var cookies = Cookies()
            for number in 0..<50 {
                let mark = number < 2 ? "; Max-Age=1" : number < 4 ? "" : "; Secure"
                try cookies.receive("c\(number)=1\(mark)", from: "https://host.com/\(number)/")
            }
            func names() -> Set<String> { Set(cookies.storage.cookies?.map(\.name) ?? []) }
            // Used, and therefore not the first of its kind to go.
            #expect(try cookies.sent(to: "https://host.com/2/x") == "c2=1")
            cookies.now += 2

            try cookies.receive("n1=1; Secure", "n2=1; Secure", from: "https://host.com/")
            #expect(names().isSuperset(of: ["c2", "c3", "c4", "n1", "n2"]))
            try cookies.receive("n3=1; Secure", from: "https://host.com/")
            #expect(!names().contains("c3"))
            #expect(names().contains("c2"))
            try cookies.receive("n4=1; Secure", "n5=1; Secure", from: "https://host.com/")
            #expect(!names().contains("c2"))
            #expect(!names().contains("c4"))
            #expect(names().count == 50)
        }

        @Test("a site that stores much loses its own cookies, on however many hosts, T-COO-21")
        func quota() throws {
            var limits = CookieLimits.standard
            (limits.perDomain, limits.total) = (5, 40)
            let cookies = Cookies(limits: limits)
            try cookies.receive("victim=1; Max-Age=1000", from: "http://victim.com/")
            for number in 0..<100 { try cookies.receive("n\(number)=1", from: "http://evil.com/") }
            #expect(cookies.storage.cookies?.count == 6)
            for number in 0..<500 {
                try cookies.receive("n\(number)=1; Secure", from: "https://h\(number % 90).evil.com/")
            }

            #expect(try cookies.sent(to: "http://victim.com/") == "victim=1")
            #expect(cookies.storage.cookies?.count == 40)
        }

        @Test("of many cookies stored in one go the same stay, T-COO-21", arguments: [1, 8, 9, 500])
        func bulk(count: Int) throws {
            var limits = CookieLimits.standard
            (limits.perDomain, limits.total) = (5, 40)
            func content(_ name: String, _ host: String, isSecure: Bool) -> CookieContent {
                CookieContent(
                    name: Array(name.utf8),
                    value: [0x31],
                    domain: host,
                    isHostOnly: true,
                    path: [0x2F],
                    expires: 1000,
                    isSecure: isSecure
                )
            }
            let first = (0..<40).map { content("a", "host\($0).com", isSecure: false) }
            let then = (0..<count).map { content("b", "new\($0).com", isSecure: $0 % 2 == 0) }
            var (one, many) = (CookieJar(limits: limits), CookieJar(limits: limits))
            for (contents, isLast) in [(first, false), (then, true)] {
                for content in contents {
                    try one.store(content, isSecured: true, now: 0, suffixes: .builtIn)
                    try many.store(content, isSecured: true, now: 0, suffixes: .builtIn, isOneOfMany: true)
                }
                if isLast { #expect(many.count == 40 + count) }
                many.evictExcess()
                #expect(one.count == 40 && many.count == 40)
            }
            #expect(Set(one.cookies.map(\.content.key)) == Set(many.cookies.map(\.content.key)))

            // A site that has more than it may have loses its own, on however many hosts.
            let before = many.cookies.map(\.content.key)
            for number in 0..<500 {
                let evil = content("c", "h\(number).evil.com", isSecure: true)
                try many.store(evil, isSecured: true, now: 0, suffixes: .builtIn, isOneOfMany: true)
            }
            many.evictExcess()
            let after = Set(many.cookies.map(\.content.key))
            #expect(many.count == 40 && after.count { $0.domain.hasSuffix("evil.com") } == 5)
            #expect(before.suffix(35).allSatisfy(after.contains))
        }

        @Test("paths match at slashes, byte for byte, T-COO-22")
        func paths() throws {
            for (cookie, request, matches) in [
                ("/foo", "/foo", true), ("/foo", "/foo/", true), ("/foo", "/foo/bar", true), ("/foo", "/foobar", false),
                ("/foo", "/fo", false), ("/foo/", "/foo", false), ("/foo/", "/foo/", true), ("/foo/", "/foo/b", true),
                ("/", "/", true), ("/", "/x", true), ("/Foo", "/foo", false), ("/a%2Fb", "/a/b", false),
                ("/a/b", "/a%2Fb", false), ("/%66oo", "/foo", false), ("/foo", "/foo?x=/foo", true),
                ("/foo", "/?x=/foo", false), ("//", "/", false), ("/foo", "/foo;p", false), ("/foo", "/foo%2F", false),
            ] {
                let cookies = Cookies()
                try cookies.receive("a=b; Path=\(cookie)", from: "http://host.com/")
                #expect((try cookies.sent(to: "http://host.com\(request)") != nil) == matches, "\(cookie), \(request)")
            }
            for (path, expected) in [
                ("", "/"), ("/", "/"), ("/foo", "/"), ("/foo/", "/foo"), ("/foo/bar", "/foo"), ("/a/b/c", "/a/b"),
                ("/a//b", "/a/"), ("/a%2Fb", "/"), ("?x=/a/b", "/"), ("/a/b?c/d/e", "/a"), ("/a/b#/c/d", "/a"),
            ] {
                let cookie = try CookieRules.admit("a=b", from: "http://host.com\(path)")
                #expect(String(decoding: cookie.path, as: UTF8.self) == expected, "\(path)")
                #expect(try CookieRules.admit("a=b; Path=x", from: "http://host.com\(path)").path == cookie.path)
            }
        }

        @Test("longer paths first, then older cookies, T-COO-23")
        func order() throws {
            try cookies.receive("r=1; Path=/", "d=1; Path=/a/b", "m=1; Path=/a", from: "http://host.com/")
            try cookies.receive("e=1; Path=/a/c", "d=2; Path=/a", "s=1; Path=/", from: "http://host.com/")
            // Replaced, it keeps its age.
            try cookies.receive("r=2; Path=/", from: "http://host.com/")

            #expect(try cookies.sent(to: "http://host.com/a/b") == "d=1; m=1; d=2; r=2; s=1")
        }

        @Test("an expired cookie does not come back when the clock is set back, T-COO-29")
        func clock() throws {
            let day: Int64 = 86_400
            var cookies = Cookies()
            cookies.now = 1000 * day
            try cookies.receive("short=1; Max-Age=60", "long=1; Max-Age=\(300 * day)", from: "http://host.com/")

            cookies.now += 60
            #expect(try cookies.sent(to: "http://host.com/") == "long=1")
            cookies.now -= 10 * day
            #expect(try cookies.sent(to: "http://host.com/") == "long=1")

            // Stored while the clock was years ahead: not kept for years when it is right again.
            cookies.now += 9000 * day
            try cookies.receive("future=1; Max-Age=\(400 * day)", from: "http://host.com/")
            cookies.now = 1001 * day
            #expect(try cookies.sent(to: "http://host.com/") == "future=1")
            cookies.now += 400 * day
            #expect(try cookies.sent(to: "http://host.com/") == nil)
        }

        @Test func `cookies of one hop do not go to the next`() throws {
            try cookies.receive("hop=1; Path=/", from: "http://first.com/start")

            #expect(try cookies.sent(to: "http://second.com/start") == nil)
            #expect(try cookies.sent(to: "http://first.com/end") == "hop=1")
        }

        @Test func `bytes that are no text are sent as they came`() throws {
            let question = try CookieRules.question("http://host.com/")
            let line = Array("n=".utf8) + [0xFF, 0xFE, 0xC3]

            cookies.storage.receive([line], for: question, now: 1000)

            #expect(cookies.storage.cookieFieldBytes(for: question, now: 1000) == line)
            #expect(cookies.storage.cookies?.first?.value == "\u{FF}\u{FE}\u{C3}")
        }

        @Test func `cookies without a name are sent as their value`() throws {
            try cookies.receive("token", "n=", "=other; Path=/y", from: "http://host.com/x/")

            #expect(try cookies.sent(to: "http://host.com/x/") == "token; n=")
            #expect(try cookies.sent(to: "http://host.com/y") == "other")
        }
    }
}
