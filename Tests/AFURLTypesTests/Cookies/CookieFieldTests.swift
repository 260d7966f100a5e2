import Foundation
import Testing

@testable import AFURLTypes

@Suite("Cookies by their fields")
struct CookieFieldTests {
    private let storage = HTTPCookieStorage()
    private let noon = Date(timeIntervalSince1970: 1_502_236_800)

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test func `what a server sets is sent to it, for as long as it lasts`() throws {
        let refused = storage.storeCookies(
            fromFields: ["a=1; Path=/", "b=2; Path=/deep; Max-Age=60", "c=3; Domain=other.example", ""],
            of: try url("http://a.example/x"),
            at: noon
        )

        #expect(refused == 2)
        #expect(storage.cookieField(for: try url("http://a.example/deep/x"), at: noon + 59) == "b=2; a=1")
        #expect(storage.cookieField(for: try url("http://a.example/deep/x"), at: noon + 60) == "a=1")
        #expect(storage.cookieField(for: try url("http://b.example/"), at: noon) == nil)
    }

    @Test func `a URL that no requests go to has no cookies`() throws {
        #expect(storage.storeCookies(fromFields: ["a=1"], of: try url("ftp://a.example/"), at: noon) == 1)
        #expect(storage.cookieField(for: try url("ftp://a.example/"), at: noon) == nil)
    }
}
