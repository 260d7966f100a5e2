import Foundation
import Testing

@testable import AFURLSession

extension SeeingTests {
    @Suite("What is hidden from those who look on")
    struct Masks {
        private let mask = SecretMask(sensitiveFields: ["X-Mine"])

        @Test(arguments: [
            ("Authorization", "Bearer canary", "Bearer ***"), ("authorization", "canary", "***"),
            ("Authorization", "canary canary", "***"), ("Proxy-Authorization", "Basic canary", "Basic ***"),
            ("Cookie", "a=canary; b=canary", "a=***; b=***"), ("Cookie", "canary", "***"),
            ("Set-Cookie", "a=canary; Path=/; Secure", "a=***; Path=/; Secure"), ("X-Api-Key", "canary", "***"),
            ("x-auth-token", "canary", "***"), ("X-MINE", "canary", "***"), ("X-Other", "seen", "seen"),
            ("Location", "https://canary:canary@a.test/?token=canary&b=c#canary", "https://a.test/?token=***&b=c"),
            ("Referer", "/x?Access_Token=canary", "/x?Access_Token=***"),
        ])
        func `fields`(name: String, value: String, shown: String) {
            #expect(mask.value(value, of: name) == shown)
        }

        @Test(arguments: [
            ("https://a.test/x?y=1", "https://a.test/x?y=1"), ("https://u@a.test/", "https://a.test/"),
            ("https://a.test/?api%5Fkey=canary", "https://a.test/?api%5Fkey=***"),
            ("https://a.test/?a&token=&b", "https://a.test/?a&token=***&b"),
            ("https://a.test/?x=?token=1", "https://a.test/?x=?token=1"),
        ])
        func `URLs`(url: String, shown: String) throws {
            #expect(mask.url(try #require(URL(string: url))) == shown)
        }
    }
}
