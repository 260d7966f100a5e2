import AFURLTypes
import AFWire
import Foundation
import Testing

@testable import AFState

extension CookieRules {
    struct Domains {
        private let cookies = Cookies()

        /// The domain a cookie gets, with a dot if it is for those below as well; nil if it is refused.
        private func domain(_ attribute: String, at url: String) throws -> String? {
            do {
                return HTTPCookie(try CookieRules.admit("a=b; Domain=\(attribute)", from: url)).domain
            } catch is CookieRefusal {
                return nil
            }
        }

        @Test("no host sets a cookie for a public suffix, except the suffix itself, T-COO-01, T-COO-02")
        func publicSuffixes() throws {
            for (attribute, host) in [
                ("com", "example.com"), (".com", "example.com"), ("co.uk", "shop.co.uk"), ("uk", "shop.co.uk"),
                ("github.io", "me.github.io"), ("x.kobe.jp", "a.x.kobe.jp"), ("kobe.jp", "a.x.kobe.jp"),
                ("ck", "shop.x.ck"), ("x.ck", "shop.x.ck"), ("xn--55qx5d.cn", "a.xn--55qx5d.cn"),
                ("local", "host.local"),
                ("CO.UK", "shop.co.uk"), ("cO.uK", "shop.co.uk"), (".GitHub.IO", "me.github.io"),
                ("XN--55QX5D.CN", "a.xn--55qx5d.cn"),
            ] {
                #expect(
                    try CookieRules.refusal(of: "a=b; Domain=\(attribute)", from: "https://\(host)/") == .publicSuffix
                )
            }
            #expect(try domain("co.uk", at: "http://co.uk/") == "co.uk")
            #expect(try domain("GITHUB.io", at: "http://github.io/") == "github.io")
            #expect(try domain("localhost", at: "http://localhost/") == "localhost")
            #expect(try domain("x.kobe.jp", at: "http://x.kobe.jp/") == "x.kobe.jp")
            #expect(try domain("city.kobe.jp", at: "http://a.city.kobe.jp/") == ".city.kobe.jp")
            #expect(try domain("www.ck", at: "http://a.www.ck/") == ".www.ck")
            #expect(try domain("example.com", at: "http://www.example.com/") == ".example.com")
        }

        @Test("a trailing dot makes no other domain, T-COO-03")
        func trailingDots() throws {
            for (attribute, host, expected) in [
                ("example.com", "www.example.com.", ".example.com"), ("example.com.", "www.example.com.", nil),
                ("example.com.", "www.example.com", nil), ("com.", "example.com", nil), ("com.", "example.com.", nil),
                ("com", "example.com.", nil), ("co.uk.", "shop.co.uk.", nil), (".", "example.com.", "example.com"),
            ] as [(String, String, String?)] {
                #expect(try domain(attribute, at: "http://\(host)/") == expected, "\(attribute) at \(host)")
            }
            try cookies.receive("a=b", from: "http://example.com./")
            #expect(try cookies.sent(to: "http://example.com/") == "a=b")
        }

        @Test("no host is below an address, T-COO-05")
        func addresses() throws {
            for (attribute, host, expected) in [
                ("168.0.1", "192.168.0.1", nil), ("1", "192.168.0.1", nil), (".168.0.1", "192.168.0.1", nil),
                ("192.168.0.1", "192.168.0.1", "192.168.0.1"), (".192.168.0.1", "192.168.0.1", "192.168.0.1"),
                ("192.168.0.01", "192.168.0.1", nil), ("::1", "[::1]", "::1"), ("[::1]", "[::1]", "::1"),
                ("1]", "[::1]", nil), ("1", "[2001:db8::1]", nil), ("0:0:0:0:0:0:0:1", "[::1]", nil),
            ] as [(String, String, String?)] {
                #expect(try domain(attribute, at: "http://\(host)/") == expected, "\(attribute) at \(host)")
            }
            for host in ["2130706433", "0x7f.1", "127.1"] {
                #expect(throws: RequestRejection.self) { try CookieRules.question("http://\(host)/") }
            }
            try cookies.receive("a=b; Domain=[::1]", from: "http://[::1]/")
            #expect(try cookies.sent(to: "http://[0:0:0:0:0:0:0:1]:81/") == "a=b")
            #expect(try cookies.sent(to: "http://[::2]/") == nil)
        }

        @Test("matching stops at a dot, whatever the names are, T-COO-06")
        func boundaries() throws {
            #expect(!CookieMatching.host("notexample.com", isName: true, matches: "example.com"))
            #expect(!CookieMatching.host("example.com", isName: true, matches: "ample.com"))
            #expect(!CookieMatching.host("1.2.3.4", isName: false, matches: "3.4"))
            var dice = CookieDice(3)
            for _ in 0..<20_000 {
                let labels = { (dice: inout CookieDice) in
                    (0..<Int.random(in: 1...4, using: &dice)).map { _ in dice.pick(["a", "b", "aa", "ab"]) }
                }
                let (host, domain) = (labels(&dice), labels(&dice))
                let expected = host.count >= domain.count && Array(host.suffix(domain.count)) == domain
                let (hostName, domainName) = (host.joined(separator: "."), domain.joined(separator: "."))
                let found = CookieMatching.host(hostName, isName: true, matches: domainName)
                #expect(found == expected, "\(hostName), \(domainName)")
            }
        }

        @Test("a host sets cookies for itself and its parents only, T-COO-07")
        func strangers() throws {
            for (attribute, host) in [
                ("other.com", "example.com"), ("child.example.com", "example.com"), ("b.example.com", "a.example.com"),
                ("xample.com", "example.com"), ("example.org", "example.com"), ("example.com.evil.com", "example.com"),
            ] {
                let refusal = try CookieRules.refusal(of: "a=b; Domain=\(attribute)", from: "http://\(host)/")
                #expect(refusal == .foreignDomain, "\(attribute) at \(host)")
            }
            try cookies.receive("own=1", "up=1; Domain=example.com", from: "http://a.example.com/")
            #expect(try cookies.sent(to: "http://a.example.com/") == "own=1; up=1")
            #expect(try cookies.sent(to: "http://b.example.com/") == "up=1")
            #expect(try cookies.sent(to: "http://x.a.example.com/") == "up=1")
            #expect(try cookies.sent(to: "http://example.com/") == "up=1")
            #expect(try cookies.sent(to: "http://notexample.com/") == nil)
        }

        @Test("odd Domain attributes, T-COO-08")
        func oddities() throws {
            let host = "http://www.example.com/"
            for (attribute, expected) in [
                (".example.com", ".example.com"), ("..example.com", nil), ("", "www.example.com"),
                (" ", "www.example.com"), (".", "www.example.com"), ("example.com:80", nil), ("example.com/", nil),
                ("http://example.com", nil), ("\"example.com\"", nil), ("exämple.com", nil), ("ex*mple.com", nil),
                ("*.example.com", nil), ("example.com, other.com", nil), ("www.example.com", ".www.example.com"),
                ("other.com; Domain=example.com", ".example.com"), ("example.com; Domain=other.com", nil),
                ("example.com; Domain=", ".example.com"), ("example.com\u{212A}", nil),
            ] as [(String, String?)] {
                #expect(try domain(attribute, at: host) == expected, "\(attribute)")
            }
            #expect(try domain("xn--exmple-cua.com", at: "http://www.xn--exmple-cua.com/") == ".xn--exmple-cua.com")
        }

        @Test("prefixes hold what they promise, in any case, T-COO-12")
        func prefixes() throws {
            let root = "https://host.com/"
            for (line, url, isTaken) in [
                ("__Host-a=b; Secure; Path=/", root, true), ("__Host-a=b; Secure", root, false),
                ("__Host-a=b; Path=/", root, false), ("__Host-a=b; Secure; Path=/x", root, false),
                ("__Host-a=b; Secure; Path=/; Domain=host.com", root, false),
                ("__host-a=b; Path=/", root, false), ("__HOST-a=b; Secure; Path=/", root, true),
                ("__Secure-a=b; Secure", root, true), ("__Secure-a=b", root, false), ("__sEcUrE-a=b", root, false),
                ("__Secure-a=b; Secure", "http://host.com/", false),
                ("__Host-a=b; Secure; Path=/", "http://host.com/", false),
                ("=__Host-a=b; Secure; Path=/", root, false), ("=__secure-a; Secure", root, false),
                ("__Host-a; Secure; Path=/", root, false), (" \t__Host-a=b; Path=/", root, false),
                ("= __Host-a=b", root, false), ("_Host-a=b", root, true), ("x__Host-a=b", root, true),
            ] {
                #expect((try CookieRules.refusal(of: line, from: url) == nil) == isTaken, "\(line)")
            }
        }

        @Test(arguments: ["__Host-a", "__secure-a"], ["=b; Secure; Path=/", "=b", ""])
        func `T-COO-12 what a server may read as a prefix is refused`(name: String, rest: String) throws {
            for hidden in [
                "\u{A0}", "\u{85}", "\u{1680}", "\u{2000}", "\u{200A}", "\u{2028}", "\u{202F}", "\u{205F}", "\u{3000}",
                "\u{200B}", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{202E}", "\u{E0041}", "\u{A0} \u{A0}",
            ] {
                let names = [
                    hidden + name, "_" + hidden + name.dropFirst(), "\(name.prefix(5))\(hidden)\(name.dropFirst(5))",
                ]
                for disguised in names where !rest.isEmpty || hidden != "\u{A0} \u{A0}" {
                    let refusal = try CookieRules.refusal(of: disguised + rest, from: "https://host.com/")
                    #expect(refusal == .prefix || refusal == .control, "\(Array(disguised.utf8))")
                }
            }
            // Bytes that are no UTF-8: a no-break space of Latin-1.
            let line = [0xA0] + Array("\(name)\(rest)".utf8)
            let question = try CookieRules.question("https://host.com/")
            #expect(Cookies().storage.receive([line], for: question, now: 1000) == 1)
        }

        @Test func `T-COO-12 a long s is none that a prefix could have`() throws {
            for name in ["__Ho\u{17F}t-a", "__\u{17F}ecure-a"] {
                #expect(try CookieRules.refusal(of: "\(name)=b; Secure; Path=/", from: "https://host.com/") == .prefix)
            }
            for name in ["\u{A0}a", "ü__Host-a", "a\u{A0}b", "__Höst-a"] {
                #expect(try CookieRules.refusal(of: "\(name)=b", from: "https://host.com/") == nil)
            }
        }

        @Test func `T-COO-12 a cookie of the program's has no disguised prefix`() {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "\u{A0}__Host-a", .value: "b", .domain: "host.com", .path: "/", .secure: "TRUE",
            ]
            #expect(HTTPCookie(properties: properties) == nil)
        }
    }
}
