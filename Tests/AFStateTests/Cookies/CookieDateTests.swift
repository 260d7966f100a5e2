import AFWire
import Testing

@testable import AFState

extension CookieRules {
    struct Dates {
        private static let legacy: [String] = [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06-Nov-1994 08:49:37 GMT", "06 Nov 1994 08:49:37", "6 nov 94 8:49:37", "Nov 6 94 08:49:37",
            "08:49:37 06 November 1994 GMT", "1994 Nov 06 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 +0100", "Sun, 06 Nov 1994 08:49:37 PST",
            "(Sun) [06] Nov;1994 08:49:37", "06th Nov 1994 08:49:37", "06 Nov 1994abc 08:49:37x",
            "Son, 06 Nov 1994 08:49:37 GMT", "\"06 Nov 1994 08:49:37\"", "06 Nov 1994 08:49:37 1999 99 Dec",
        ]

        @Test("dates in all forms servers have sent, T-COO-17", arguments: legacy)
        func read(text: String) {
            #expect(CookieDate.seconds(text) == 784_111_777, "\(text)")
        }

        @Test func `each character that separates words does, and no other, T-COO-17`() {
            let separators: [ClosedRange<UInt8>] = [0x09...0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E]
            for byte in UInt8(1)...0x7E {
                let text = "06\(Character(UnicodeScalar(byte)))Nov 1994 08:49:37"
                #expect((CookieDate.seconds(text) != nil) == separators.contains { $0.contains(byte) }, "\(byte)")
            }
        }

        @Test func `the limits of each number count, T-COO-17`() {
            #expect(CookieDate.seconds("1 Jan 1970 0:0:0") == 0)
            #expect(CookieDate.seconds("01 Jan 1970 23:59:59") == 86_399)
            #expect(CookieDate.seconds("01 Jan 0069 00:00:00") == 3_124_224_000)
            #expect(CookieDate.seconds("01 Jan 0070 00:00:00") == 0)
            #expect(CookieDate.seconds("01 Jan 0100 00:00:00") == nil)
        }

        private static let malformed: [String] = [
            "", "0", "now", "Sun", "06 Nov 1994", "08:49:37", "06 Nov 08:49:37", "Nov 1994 08:49:37",
            "06 Nov 1994 08:49", "06 Nov 1994 24:00:00", "06 Nov 1994 00:60:00", "06 Nov 1994 00:00:60",
            "06 Nov 19944 08:49:37", "06 Nov 1 08:49:37", "32 Jan 2020 00:00:00", "00 Jan 2020 00:00:00",
            "30 Feb 2020 00:00:00", "29 Feb 2021 00:00:00", "31 Apr 2020 00:00:00", "06 Nov 1600 08:49:37",
            "06 Nov 100 08:49:37", "06 Foo 1994 08:49:37", "06 11 1994 08:49:37", "006 Nov 1994 08:49:37",
            "06 Nov 1994 008:49:37", "06 Nov 1994 08:49:377", "06 Nov 1994 8.49.37", "2020-11-06T08:49:37Z",
            "٠٦ Nov 1994 08:49:37",
        ]

        @Test("text that is no date gives none, T-COO-17", arguments: malformed)
        func refused(text: String) throws {
            #expect(CookieDate.seconds(text) == nil, "\(text)")
            #expect(try CookieRules.admit("a=b; Expires=\(text)", from: "http://host.com/").expires == nil)
        }

        @Test func `years of two digits turn at 70, T-COO-17`() {
            #expect(CookieDate.seconds("01 Jan 69 00:00:00") == 3_124_224_000)
            #expect(CookieDate.seconds("01 Jan 70 00:00:00") == 0)
            #expect(CookieDate.seconds("01 Jan 00 00:00:00") == 946_684_800)
            #expect(CookieDate.seconds("01 Jan 99 00:00:00") == 915_148_800)
            #expect(CookieDate.seconds("31 Dec 9999 23:59:59") == 253_402_300_799)
            #expect(CookieDate.seconds("01 Jan 1601 00:00:00") == -11_644_473_600)
            #expect(CookieDate.seconds("29 Feb 2000 00:00:00") == 951_782_400)
            #expect(CookieDate.seconds("29 Feb 1900 00:00:00") == nil)
        }

        @Test func `every date of HTTP is read alike, T-COO-17`() {
            for day in stride(from: Int64(-100_000), to: 2_000_000, by: 997) {
                let seconds = day * 86_400 + (day & 0xFFFF)
                guard seconds > -11_644_473_600 else { continue }
                #expect(CookieDate.seconds(HTTPDate.text(seconds)) == seconds)
            }
        }

        @Test func `a date too far away is cut, T-COO-17, T-COO-18`() throws {
            let cookie = try CookieRules.admit("a=b; Expires=31 Dec 9999 23:59:59", from: "http://host.com/", now: 1000)
            #expect(cookie.expires == Int64(34_561_000))
        }
    }
}
