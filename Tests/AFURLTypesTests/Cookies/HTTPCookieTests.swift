import AFRequest
import AFState
import Foundation
import Testing

@testable import AFURLTypes

extension CookieRules {
    struct Values {
        private let site = URL(string: "https://www.example.com/a/b")!

        private func cookie(_ changes: [HTTPCookiePropertyKey: Any?] = [:]) -> HTTPCookie? {
            var properties: [HTTPCookiePropertyKey: Any] = [
                .name: "n", .value: "v", .path: "/", .domain: "example.com",
            ]
            for (key, value) in changes { properties[key] = value }
            return HTTPCookie(properties: properties)
        }

        @Test func `a cookie needs a name, a value, a path and a place`() {
            #expect(cookie() != nil)
            for key in [.name, .value, .path, .domain] as [HTTPCookiePropertyKey] {
                #expect(cookie([key: nil as Any?]) == nil, "\(key.rawValue)")
            }
            #expect(cookie([.domain: nil as Any?, .originURL: site])?.domain == "www.example.com")
            #expect(cookie([.domain: nil as Any?, .originURL: "file:///x"]) == nil)
            #expect(cookie([.domain: ".Example.COM"])?.domain == ".example.com")
            #expect(cookie([.path: "\\"])?.path == "/")
            #expect(cookie([.path: "", .originURL: site])?.path == "/a")
        }

        @Test func `properties may be any strings, and the classes of Foundation`() {
            let date = Date(timeIntervalSince1970: 4_000_000_000)
            let expected = cookie([
                .secure: "TRUE", .expires: date, .version: "1", .port: "80", .domain: ".example.com",
                .commentURL: "http://example.com/why", .sameSitePolicy: HTTPCookieStringPolicy.sameSiteStrict,
            ])
            let line = "n=v;TRUE;1;80;.example.com;http://example.com/why;strict;/"
            let words = line.split { "=;".contains($0) }
            let substrings = HTTPCookie(properties: [
                .name: words[0], .value: words[1], .secure: words[2], .version: words[3], .port: words[4],
                .domain: words[5], .commentURL: words[6], .sameSitePolicy: words[7], .path: words[8], .expires: date,
            ])
            let objects = HTTPCookie(properties: [
                .name: NSString(string: "n"), .value: NSString(string: "v"), .path: NSString(string: "/"),
                .domain: NSString(string: ".example.com"), .secure: NSNumber(value: true),
                .version: NSNumber(value: 1), .port: NSNumber(value: 80),
                .expires: NSDate(timeIntervalSince1970: 4_000_000_000),
                .commentURL: NSURL(string: "http://example.com/why") as Any,
                .sameSitePolicy: NSString(string: "strict"),
            ])

            #expect(expected?.portList == [80] && expected?.isSecure == true)
            #expect(substrings == expected && objects == expected)
            // A control is refused whatever holds it.
            #expect(cookie([.value: "a\r\nX: y"[...]]) == nil && cookie([.value: NSString(string: "a;b")]) == nil)
            #expect(cookie([.secure: NSNumber(value: false)])?.isSecure == false)
        }

        @Test("a cookie that would be read as another cannot be made, T-COO-13")
        func injection() {
            for text in ["a;b", "a\r\nX: y", "a\nb", "a\0", "a\u{7F}", " a", "a ", "a\t", "a\u{1}b"] {
                #expect(cookie([.name: text]) == nil)
                #expect(cookie([.value: text]) == nil)
            }
            #expect(cookie([.name: "a=b"]) == nil)
            #expect(cookie([.name: "", .value: "a=b"]) == nil)
            #expect(cookie([.name: "", .value: ""]) == nil)
            #expect(cookie([.path: "/a;b"]) == nil)
            #expect(cookie([.value: String(repeating: "v", count: 4096)]) == nil)
            for domain in ["exa mple.com", "example.com/x", "example.com:80", "a\r\nb.com", "..com", "ex%41mple.com"] {
                #expect(cookie([.domain: domain]) == nil, "\(domain)")
            }
            #expect(cookie([.name: "__Host-a"]) == nil)
            #expect(cookie([.name: "__Host-a", .secure: "TRUE"])?.isSecure == true)
            #expect(cookie([.name: "__host-a", .secure: "TRUE", .domain: ".example.com"]) == nil)
            #expect(cookie([.name: "__Secure-a"]) == nil)
        }

        @Test("no flag is lost when a cookie is taken apart, T-COO-31")
        func roundTrip() throws {
            let date = Date(timeIntervalSince1970: 4_000_000_000)
            for number in 0..<128 {
                func bit(_ place: Int) -> Bool { number >> place & 1 == 1 }
                let original = try #require(
                    cookie([
                        .secure: bit(0) ? "TRUE" : nil, .httpOnly: bit(1) ? "TRUE" : nil,
                        .expires: bit(2) ? date : nil, .domain: bit(3) ? ".example.com" : "example.com",
                        .sameSitePolicy: bit(4) ? HTTPCookieStringPolicy.sameSiteStrict : nil,
                        .comment: bit(5) ? "what for" : nil, .commentURL: bit(5) ? "http://example.com/why" : nil,
                        .version: bit(6) ? "1" : nil, .port: bit(6) ? "80, 8080" : nil,
                    ])
                )

                let properties = try #require(original.properties)
                let copy = try #require(HTTPCookie(properties: properties))

                #expect(copy == original)
                #expect(copy.hashValue == original.hashValue)
                #expect(copy.isSecure == bit(0) && copy.isHTTPOnly == bit(1) && copy.isSessionOnly == !bit(2))
                #expect(copy.expiresDate == (bit(2) ? date : nil))
                #expect(copy.sameSitePolicy == (bit(4) ? .sameSiteStrict : nil))
                #expect(copy.version == (bit(6) ? 1 : 0))
                #expect(copy.portList == (bit(6) ? [80, 8080] : nil))
                #expect(copy.commentURL?.absoluteString == (bit(5) ? "http://example.com/why" : nil))
                // And in the store.
                let storage = HTTPCookieStorage()
                storage.setCookie(original)
                #expect(storage.cookies?.first?.isSecure == bit(0))
                #expect(storage.cookies?.first?.isHTTPOnly == bit(1))
            }
        }

        @Test func `T-MSG-32 properties make a cookie again whose bytes are no UTF-8`() throws {
            let storage = HTTPCookieStorage()
            let question = CookieQuestion(URL(string: "http://www.example.com/")!)!
            var line: [UInt8] = [0x61, 0xE9, 0x3D, 0x80, 0xFF]
            line += "; path=/".utf8
            line.append(0xE9)
            storage.receive([line, Array("b=\u{E9}".utf8)], for: question, now: Date.nowInSeconds)
            let (odd, plain) = try (#require(storage.cookies?.first), #require(storage.cookies?.last))
            var changed = try #require(odd.properties)

            #expect(
                HTTPCookie(properties: changed) == odd
                    && HTTPCookie(properties: changed)?.content.value == [0x80, 0xFF]
            )
            #expect(
                odd.properties?[.value] as? String == "\u{80}\u{FF}"
                    && odd.properties?[.valueBytes] as? Data == Data([0x80, 0xFF])
            )
            #expect(plain.properties?[.valueBytes] == nil && HTTPCookie(properties: plain.properties ?? [:]) == plain)
            changed[.value] = "new"
            #expect(HTTPCookie(properties: changed)?.content.value == Array("new".utf8))
            #expect(HTTPCookie(properties: changed)?.content.name == odd.content.name)
            changed[.value] = nil
            #expect(HTTPCookie(properties: changed) == odd)
            changed[.valueBytes] = Data([0x0A])
            #expect(HTTPCookie(properties: changed) == nil)
            changed[.valueBytes] = nil
            #expect(HTTPCookie(properties: changed) == nil)
        }

        @Test func `lifetimes are read from dates, texts and seconds`() throws {
            #expect(
                cookie([.expires: "Wed, 01 Jan 2070 00:00:00 GMT"])?.expiresDate?.timeIntervalSince1970 == 3_155_760_000
            )
            #expect(cookie([.expires: "soon"])?.isSessionOnly == true)
            #expect(cookie([.expires: Date.distantPast])?.expiresDate == .distantPast)
            #expect(cookie([.expires: Date(timeIntervalSince1970: .infinity)])?.isSessionOnly == false)
            #expect(cookie([.expires: Date(timeIntervalSince1970: .nan)]) != nil)
            let age = try #require(cookie([.maximumAge: "100", .expires: Date.distantPast])?.expiresDate)
            #expect(abs(age.timeIntervalSinceNow - 100) < 30)
            #expect(cookie([.maximumAge: "-5"])?.expiresDate == .distantPast)
            #expect(cookie([.maximumAge: "99999999999999999999"])?.isSessionOnly == false)
            #expect(cookie([.maximumAge: "1; secure"])?.isSecure == false)
            #expect(cookie([.expires: Date.distantFuture, .discard: "TRUE"])?.isSessionOnly == true)
        }

        @Test("the cookies of a response, each line its own, T-MSG-31")
        func ofResponse() {
            let cookies = HTTPCookie.cookies(
                withResponseHeaderFields: [
                    "set-cookie":
                        "a=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT, x=2\nb=2; Domain=example.com\nc=3; Domain=com\nd\u{1}=4",
                    "Other": "e=5",
                ],
                for: site
            )

            #expect(cookies.map(\.name) == ["a", "b"])
            #expect(cookies.map(\.domain) == ["www.example.com", ".example.com"])
            #expect(cookies.map(\.path) == ["/a", "/a"])
            #expect(cookies[0].expiresDate != nil)
            #expect(
                HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "a=1"], for: URL(string: "file:///")!) == []
            )
            #expect(HTTPCookie.requestHeaderFields(with: cookies) == ["Cookie": "a=1; b=2"])
            #expect(HTTPCookie.requestHeaderFields(with: []) == [:])
        }

        @Test(
            arguments: [
                ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2,c=3", ["a=1", "b=2", "c=3"]), ("a=1 ,\tb =2", ["a=1", "b=2"]),
                ("a=1; path=/; secure, b=2; httponly", ["a=1", "b=2"]),
                ("a=1; expires=Fri, 01 Jan 2100 00:00:00 GMT, b=2", ["a=1", "b=2"]),
                ("a=1; Expires=Friday, 01-Jan-2100 00:00:00 GMT; Path=/,b=2", ["a=1", "b=2"]),
                ("a=1; expires=Fri, 01 Jan 2100 00:00:00 GMT", ["a=1"]), ("a=1,, b=2", ["a=1,", "b=2"]),
                ("a=1,2,3", ["a=1,2,3"]), ("a=x, y", ["a=x, y"]), ("a=x, y z=1", ["a=x, y z=1"]),
                ("a=1, =2", ["a=1, =2"]), ("a=1, b;c=2", ["a=1, b"]), ("a=1,", ["a=1,"]), (", a=1", ["a=1"]),
                ("a=\"x, b=2\", c=3", ["a=\"x, b=2\"", "c=3"]), ("a=\"x, b=2", ["a=\"x, b=2"]),
                ("a=1, b=2\n", ["a=1", "b=2"]), ("a=1, b=2\nc=3", ["a=1, b=2", "c=3"]),
                ("a=1, __Host-b=2", ["a=1"]), ("a=1, b=2; domain=com, c=3; domain=example.com", ["a=1", "c=3"]),
            ]
        )
        func `T-MSG-31 cookies that another loader has joined by commas are several`(joined: String, pairs: [String]) {
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": joined], for: site)

            #expect(cookies.map { "\($0.name)=\($0.value)" } == pairs)
            let dated = cookies.filter { $0.expiresDate != nil }
            #expect(dated.map(\.name) == (joined.contains("2100") ? ["a"] : []))
        }

        @Test func `T-MSG-31 a comma separates nothing in a line of the wire`() {
            let storage = HTTPCookieStorage()
            let question = CookieQuestion(URL(string: "http://www.example.com/")!)!
            storage.receive([Array("a=1, b=2".utf8)], for: question, now: 0)

            #expect(storage.cookies(for: question).map(\.value) == ["1, b=2"])
        }

        @Test func `descriptions hold no value`() throws {
            let made = try #require(cookie([.value: "canary", .secure: "TRUE", .name: "n\u{202E}"]))
            for text in [
                "\(made)", String(reflecting: made), "\(Mirror(reflecting: made).children.map(\.value))",
            ] {
                #expect(!text.contains("canary"))
            }
            #expect(made.description.contains("6 bytes"))
            #expect(!made.description.contains("\u{202E}"))
        }
    }
}
