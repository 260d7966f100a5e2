import AFURLTypes
import Testing

@testable import AFState

extension CookieRules {
    struct Syntax {
        private func parse(_ line: String) throws -> SetCookie { try SetCookieParser.parse(Array(line.utf8)) }

        private func pair(_ line: String) throws -> String {
            let cookie = try parse(line)
            return "\(String(decoding: cookie.name, as: UTF8.self))|\(String(decoding: cookie.value, as: UTF8.self))"
        }

        @Test(arguments: [
            ("SID=31d4d96e407aad42", "SID|31d4d96e407aad42"), ("a=", "a|"), ("=b", "|b"), ("b", "|b"),
            ("a=b=c", "a|b=c"), (" \t a \t= \tb c\t ; Path=/", "a|b c"), ("a=b;", "a|b"), ("a=b;;;", "a|b"),
            ("a = b , c=d", "a|b , c=d"), ("a=é", "a|é"),
        ])
        func `name and value end at the first equals sign and semicolon`(line: String, expected: String) throws {
            #expect(try pair(line) == expected)
        }

        @Test func `what has neither name nor value is no cookie`() {
            for line in ["", "=", ";", " = ; Path=/", "; a=b"] {
                #expect(throws: CookieRefusal.empty) { try parse(line) }
            }
        }

        @Test("every control in any part drops the whole cookie, T-COO-13")
        func controls() throws {
            for byte in 0...255 as ClosedRange<UInt8> {
                let forbidden = byte <= 0x08 || (0x0A...0x1F).contains(byte) || byte == 0x7F
                let lines = [
                    Array("na".utf8) + [byte] + Array("me=value; Path=/x".utf8),
                    Array("name=va".utf8) + [byte] + Array("lue; Path=/x".utf8),
                    Array("name=value; Path=/x".utf8) + [byte],
                ]
                for line in lines {
                    if forbidden {
                        #expect(throws: CookieRefusal.control, "byte \(byte)") { try SetCookieParser.parse(line) }
                    } else {
                        #expect(throws: Never.self, "byte \(byte)") { try SetCookieParser.parse(line) }
                    }
                }
            }
        }

        @Test("values are opaque and are sent as they came, T-COO-14")
        func opaque() throws {
            let cookies = Cookies()

            try cookies.receive("a=%0D%0AX: y%00%3B+&amp", from: "http://host.com/")

            #expect(try cookies.sent(to: "http://host.com/") == "a=%0D%0AX: y%00%3B+&amp")
        }

        private static let quoted: [(String, String)] = [
            (#"a=""#, #"a|""#), (#"a="b"#, #"a|"b"#), (#"a="b;c""#, #"a|"b"#), (#"a="b""#, #"a|"b""#),
            (#"a="b\"c;d"#, #"a|"b\"c"#), (#""a=b"=c"#, #""a|b"=c"#),
        ]

        @Test("quotes are part of the value and hide no semicolon, T-COO-15", arguments: quoted)
        func quotes(line: String, expected: String) throws {
            #expect(try pair(line) == expected)
        }

        @Test("a combining mark hides no separator, T-COO-16")
        func combiningMarks() throws {
            let cookie = try parse("a=\u{301}b;\u{301}x; Secure")
            #expect(cookie.name == Array("a".utf8))
            #expect(cookie.value == Array("\u{301}b".utf8))
            #expect(cookie.isSecure)
            let hidden = try parse("a\u{301}=b;\u{20DD}Secure;\u{301}Path=/x")
            #expect(hidden.name == Array("a\u{301}".utf8))
            #expect(!hidden.isSecure)
            #expect(hidden.path == .standard(isWritten: false))
        }

        @Test("Max-Age is digits, perhaps behind a hyphen, T-COO-18")
        func maxAge() throws {
            let cases: [(String, Int64?)] = [
                ("10", 10), ("0", 0), ("-0", 0), ("-5", -5), ("007", 7), ("+5", nil), ("5.5", nil), ("", nil),
                ("-", nil), ("--5", nil), (" 5 ", 5), ("5 5", nil), ("0x10", nil), ("1e3", nil), ("nan", nil),
                ("٣", nil), ("99999999999999999999999", .max), ("-99999999999999999999999", -.max),
                ("9223372036854775807", .max), ("-9223372036854775808", -.max),
            ]
            for (text, expected) in cases {
                #expect(try parse("a=b; max-age=\(text)").maxAge == expected, "\(text)")
            }
            let far = try CookieRules.admit("a=b; Max-Age=99999999999999999999", from: "http://host.com/", now: 1000)
            #expect(far.expires == Int64(34_561_000))
            for text in ["-5", "0", "-99999999999999999999"] {
                let gone = try CookieRules.admit("a=b; Max-Age=\(text)", from: "http://host.com/")
                #expect(gone.isExpired(at: 0))
            }
            #expect(try CookieRules.admit("a=b; Max-Age=+5", from: "http://host.com/").expires == nil)
        }

        @Test("Max-Age goes before Expires, wherever it stands, T-COO-19")
        func bothLifetimes() throws {
            for line in [
                "a=b; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:01 GMT",
                "a=b; Expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=60",
            ] {
                #expect(try CookieRules.admit(line, from: "http://host.com/", now: 1000).expires == 1060)
            }
        }

        @Test("SameSite is a whole word, and anything else is nothing, T-COO-26")
        func sameSite() throws {
            let cases: [(String, CookieContent.SameSite)] = [
                ("Strict", .strict), ("sTRICT", .strict), ("lax", .lax), ("LAX", .lax), ("None", .none),
                ("", .unspecified), ("Strictly", .unspecified), ("NoneStrict", .unspecified), ("\"Lax\"", .unspecified),
                ("lax none", .unspecified), ("L\u{430}x", .unspecified),
            ]
            for (text, expected) in cases {
                #expect(try parse("a=b; SameSite=\(text)").sameSite == expected, "\(text)")
            }
            #expect(try parse("a=b; SameSite=None; SameSite=Strict").sameSite == .strict)

            // Told to the program; enforced only where it has named a document.
            let cookies = Cookies()
            try cookies.receive("s=1; SameSite=Strict", "l=1; SameSite=Lax", "u=1; SameSite=x", from: "http://a.com/")
            #expect(try cookies.sent(to: "http://a.com/") == "s=1; l=1; u=1")
            #expect(try cookies.sent(to: "http://a.com/", in: "http://www.a.com/x") == "s=1; l=1; u=1")
            #expect(try cookies.sent(to: "http://a.com/", in: "http://b.com/") == "u=1")
            let policies = cookies.storage.cookies?.map(\.sameSitePolicy)
            #expect(policies == [.sameSiteStrict, .sameSiteLax, nil])
            #expect(try cookies.receive("z=1; SameSite=Lax", from: "http://a.com/", in: "http://b.com/") == 1)
        }

        @Test func `the last attribute of a name counts, and one that is too long does not`() throws {
            let long = String(repeating: "x", count: 1024)
            let cookie = try parse("a=b; Path=/1; PATH=/2; Domain=one.com; domain=TWO.com; Path=/\(long)")
            #expect(cookie.path == .given(Array("/2".utf8)))
            #expect(cookie.domain == Array("two.com".utf8))
            #expect(try parse("a=b; Path=/\(long.dropLast())").path == .given(Array("/\(long.dropLast())".utf8)))
            #expect(try parse("a=b; Path=/1; Path=x").path == .standard(isWritten: true))
            #expect(try parse("a=b; Secure=no; HttpOnly = maybe").isSecure)
        }

        @Test func `name and value are 4096 bytes at most`() throws {
            let value = String(repeating: "v", count: 4095)
            #expect(throws: Never.self) { try parse("n=\(value)") }
            #expect(throws: CookieRefusal.tooLong) { try parse("n=\(value)v") }
            #expect(throws: CookieRefusal.tooLong) { try parse(value + "vv") }
        }

        @Test func `whatever the bytes are, nothing traps`() throws {
            var dice = CookieDice(7)
            let words = [
                "a", "=", ";", " ", "\t", "expires", "max-age", "domain", "path", "secure", ":", "-", "9", ",", "Jan",
            ]
            for _ in 0..<20_000 {
                var line: [UInt8] = []
                for _ in 0..<Int.random(in: 0...24, using: &dice) {
                    if dice.chance(85) { line += Array(dice.pick(words).utf8) } else { line.append(dice.next8) }
                }
                _ = try? SetCookieParser.parse(line)
                line.withUnsafeBytes { _ = CookieDate.seconds($0) }
            }
        }
    }
}

extension CookieDice {
    var next8: UInt8 {
        mutating get { UInt8(truncatingIfNeeded: next()) }
    }
}
