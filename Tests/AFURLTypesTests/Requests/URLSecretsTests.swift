import Foundation
import Testing

@testable import AFURLTypes

struct URLSecretsTests {
    @Test(arguments: [
        ("http://me:CANARY@a.test/x?y#z", "http://a.test/x?y#z"), ("http://CANARY@a.test", "http://a.test"),
        ("http:me:CANARY@a.test/", "http:a.test/"), ("http:/me:CANARY@a.test/", "http:/a.test/"),
        ("http:///me:CANARY@a.test/", "http:///a.test/"), ("ftp://me:CANARY@a.test/", "ftp://a.test/"),
        ("me:CANARY@a.test", "me:a.test"), ("http://me:CANARY@/", "http:///"),
        ("http://me:CANARY@h%00/", "http://h%00/"), ("//me:CANARY@a.test/", "//a.test/"),
    ])
    func `T-REQ-12 no text of a URL we show has user information`(text: String, expected: String) throws {
        #expect(try #require(URL(string: text)).textWithoutUserInfo == expected)
    }

    @Test(arguments: [
        "http://a.test/", "http://a.test/@b", "http://a.test?@b", "http://a.test#@b", "/x@y", "http:", "x", "mailto:",
        "http://a.test/x//y@z",
    ])
    func `other text stays as it is`(text: String) throws {
        #expect(try #require(URL(string: text)).textWithoutUserInfo == text)
    }
}
