import AFWire
import Foundation
import Testing

struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `all three formats of RFC 9110 are read`(text: String) {
        #expect(HTTPDate.seconds(text) == 784_111_777)
    }

    @Test(arguments: [
        "sun, 06 nov 1994 08:49:37 gmt", "SUN, 06 NOV 1994 08:49:37 GMT", "sUn, 06 nOV 1994 08:49:37 gMt",
        "SUNDAY, 06-NOV-94 08:49:37 GMT", "sunday, 06-nov-94 08:49:37 gmt", "SUN NOV  6 08:49:37 1994",
        "sun nov  6 08:49:37 1994",
    ])
    func `names of days, months and the zone are read in any case`(text: String) {
        #expect(HTTPDate.seconds(text) == 784_111_777)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
        ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648), ("Sun Nov 16 08:49:37 1994", 784_975_777),
        ("Thursday, 01-Jan-70 00:00:00 GMT", 0), ("Wednesday, 31-Dec-69 00:00:00 GMT", 3_155_673_600),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
    ])
    func `dates at the edges are read`(text: String, seconds: Int64) {
        #expect(HTTPDate.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "0", "Sun", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 EST", "Sun, 06 Nov 1994 08:49:37 GMU",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 GMT\u{0}", "วันอาทิตย์ 6 พ.ย. 2537 08:49:37", "Sun, ０６ Nov 1994 08:49:37 GMT",
    ])
    func `what is no date of HTTP is none`(text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }

    @Test func `dates are written in the preferred format`() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.text(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate.text(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate.text(.min) == "Sat, 01 Jan 0000 00:00:00 GMT")
    }

    @Test func `writing and reading are inverse and agree with the C library`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let seconds = Int64.random(in: -62_167_219_200...253_402_300_799, using: &random)

            let text = HTTPDate.text(seconds)

            #expect(HTTPDate.seconds(text) == seconds)
            var broken = tm()
            var time = time_t(seconds)
            gmtime_r(&time, &broken)
            let day = text.dropFirst(5).prefix(2)
            #expect(Int(day) == Int(broken.tm_mday))
            #expect(text.hasPrefix(["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(broken.tm_wday)]))
        }
    }
}
