import Foundation
import Testing

@testable import AFURLTypes

@Suite("What is hidden from those who look on")
struct SecretMaskTests {
    private let mask = SecretMask(sensitiveFields: ["X-Mine"])

    @Test(arguments: [
        ("Authorization", "Bearer canary", "Bearer ***"), ("authorization", "canary", "***"),
        ("Authorization", "canary canary", "***"), ("Proxy-Authorization", "Basic canary", "Basic ***"),
        ("Cookie", "a=canary; b=canary", "a=***; b=***"), ("Cookie", "canary", "***"),
        ("Set-Cookie", "a=canary; Path=/; Secure", "a=***; Path=/; Secure"), ("X-Api-Key", "canary", "***"),
        ("x-auth-token", "canary", "***"), ("X-MINE", "canary", "***"), ("X-Other", "seen", "seen"),
        ("Location", "https://canary:canary@a.test/?token=canary&b=c#canary", "https://a.test/?token=***&b=c"),
        ("Authorization", "Bearer \u{301}canary", "Bearer ***"),
        ("Set-Cookie", "a=\u{301}canary;\u{301} Path=/", "a=***;\u{301} Path=/"),
        ("Referer", "/x?Access_Token=canary", "/x?Access_Token=***"), ("Private-Token", "canary", "***"),
        ("X-Cookie", "canary", "***"), ("WWW-Authenticate", "Basic realm=seen", "Basic realm=seen"),
    ])
    func `fields`(name: String, value: String, shown: String) {
        #expect(mask.value(value, of: name) == shown)
    }

    // A mark that combines makes one character of itself and the sign before it.
    @Test(arguments: [
        ("password=\u{301}canary", "password=***"), ("a=1&\u{301}b=2&token=canary", "a=1&\u{301}b=2&token=***"),
        ("token=canary&\u{301}", "token=***&\u{301}"), ("a\u{301}=1&=2&&", "a\u{301}=1&=2&&"),
    ])
    func `forms`(form: String, shown: String) {
        #expect(Array(mask.query(form[...]).utf8) == Array(shown.utf8))
    }

    @Test(arguments: [
        ("https://a.test/x?y=1", "https://a.test/x?y=1"), ("https://u@a.test/", "https://a.test/"),
        ("https://a.test/?api%5Fkey=canary", "https://a.test/?api%5Fkey=***"),
        ("https://a.test/?a&token=&b", "https://a.test/?a&token=***&b"),
        ("https://a.test/?x=?token=1", "https://a.test/?x=?token=1"),
        (
            "https://a.test/cb?code=canary&JWT=canary&session=canary",
            "https://a.test/cb?code=***&JWT=***&session=***"
        ),
    ])
    func `URLs`(url: String, shown: String) throws {
        #expect(mask.url(try #require(URL(string: url))) == shown)
        #expect(SecretNames.masked(try #require(URL(string: url))) == shown)
    }
}
