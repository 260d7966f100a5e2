import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// The snippets of the article about cookies.
@Suite struct CookiesTests {
    private let site: Site

    init() throws {
        site = try Site()
    }

    @Test func `cookies are kept in a file when it is asked for`() async throws {
        let temporary = try ScratchFolder()
        let folder = temporary.url

        let configuration = URLSessionConfiguration.default
        configuration.httpCookieStorage = HTTPCookieStorage(fileURL: folder.appendingPathComponent("cookies"))
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }

        site.server.route("GET", "/login", ServerReply.text("hi").header("Set-Cookie", "a=1; Max-Age=600"))
        _ = try await session.data(from: site.url("/login"))
        try configuration.httpCookieStorage?.flush()

        let again = HTTPCookieStorage(fileURL: folder.appendingPathComponent("cookies"))
        #expect(again.cookies?.map(\.name) == ["a"] && again.fileError == nil)
    }

    @Test func `cookies are looked at, set and removed`() throws {
        let storage = HTTPCookieStorage()
        let url = try #require(URL(string: "https://www.example.com/"))

        let cookie = HTTPCookie(properties: [
            .name: "theme", .value: "dark", .domain: "example.com", .path: "/", .secure: true,
        ])
        if let cookie { storage.setCookie(cookie) }

        #expect(storage.cookies?.map(\.value) == ["dark"])
        let cookies = storage.cookies(for: url) ?? []
        for cookie in cookies {
            print(cookie.name, cookie.domain, cookie.expiresDate ?? "until the end of the session")
        }
        storage.removeCookies(since: .distantPast)
        #expect(storage.cookies?.isEmpty == true)
    }

    @Test func `a field of one's own is sent where the store is kept out`() async throws {
        let url = site.url("/seen")
        site.server.route("GET", "/seen") { .text($0.headers["Cookie"] ?? "none") }
        let session = site.session

        var request = URLRequest(url: url)
        request.httpShouldHandleCookies = false
        request.setValue("theme=dark", forHTTPHeaderField: "Cookie")

        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "theme=dark")
    }

    @Test func `users have stores of their own`() {
        let anna = URLSessionConfiguration.ephemeral
        let berta = URLSessionConfiguration.ephemeral

        #expect(anna.httpCookieStorage !== berta.httpCookieStorage)
        #expect(anna.copied().httpCookieStorage === anna.httpCookieStorage)
    }
}
