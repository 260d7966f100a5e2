import AFWire

@testable import AFURLSession
@testable import AFURLTypes

/// Which stores of credentials, cookies and responses the tasks of a session use.
struct StoreSettingsTests {
    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test("sessions share the storage of the process, ephemeral ones have their own")
    func configurations() {
        #expect(URLSessionConfiguration.default.urlCredentialStorage === URLCredentialStorage.shared)
        let (one, other) = (URLSessionConfiguration.ephemeral, URLSessionConfiguration.ephemeral)
        #expect(one.urlCredentialStorage != nil && one.urlCredentialStorage !== other.urlCredentialStorage)
        #expect(one.urlCredentialStorage !== URLCredentialStorage.shared)
        #expect(one.copied().urlCredentialStorage === one.urlCredentialStorage)
        one.urlCredentialStorage = nil
        #expect(one.urlCredentialStorage == nil)
        #expect(one.netrc == nil && one.sendsPasswordsInClear == false && one.maximumAuthenticationRounds == 3)
    }

    @Test func `configurations and requests say whose cookies are used`() throws {
        let standard = URLSessionConfiguration.default
        let (one, other) = (URLSessionConfiguration.ephemeral, URLSessionConfiguration.ephemeral)
        #expect(standard.httpCookieStorage === HTTPCookieStorage.shared)
        #expect(standard.httpCookieAcceptPolicy == .onlyFromMainDocumentDomain)
        #expect(standard.httpShouldSetCookies)
        #expect(one.httpCookieStorage != nil)
        #expect(one.httpCookieStorage !== other.httpCookieStorage)
        #expect(one.httpCookieStorage !== HTTPCookieStorage.shared)
        #expect(one.copied().httpCookieStorage === one.httpCookieStorage)

        var request = URLRequest(url: try url("http://a.com/"))
        let plain = request
        #expect(request.httpShouldHandleCookies)
        #expect(request.mainDocumentURL == nil)
        request.mainDocumentURL = try url("http://b.com/")
        #expect(request != plain)
        request.httpShouldHandleCookies = false

        let target = try RequestURL("http://a.com/")
        var settings = CookieSettings(storage: Cookies().storage)
        #expect(CookieAccess(settings, request: request.contents.cookies) == nil)
        let access = try #require(CookieAccess(settings, request: plain.contents.cookies))
        var headers = HTTPHeaders()
        headers.append("set-cookie", value: "a=1")
        headers.append("Set-Cookie", value: "b=2")
        headers.append("Set-Cookie2", value: "c=3")
        access.receive(headers, from: target, now: 1000)
        #expect(access.field(for: target, now: 1000) == Array("a=1; b=2".utf8))
        request.httpShouldHandleCookies = true
        #expect(CookieAccess(settings, request: request.contents.cookies)?.field(for: target, now: 1000) == nil)
        for change in [{ $0.setsCookies = false }, { $0.policy = .never }, { $0.storage = nil }]
            as [(inout CookieSettings) -> Void]
        {
            var changed = settings
            change(&changed)
            #expect(CookieAccess(changed, request: plain.contents.cookies) == nil)
        }
        settings.policy = .always
        #expect(CookieAccess(settings, request: request.contents.cookies)?.field(for: target, now: 1000) != nil)
    }

    @Test func `configurations name a cache, or none`() throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let shared = URLSessionConfiguration.default
        #expect(shared.urlCache === URLCache.shared)
        shared.urlCache = cache
        #expect(shared.urlCache === cache && shared.copied().urlCache === cache)
        shared.urlCache = nil
        #expect(shared.urlCache == nil && shared.copied().urlCache == nil)
        let ephemeral = URLSessionConfiguration.ephemeral
        let own = try #require(ephemeral.urlCache)
        #expect(own === ephemeral.copied().urlCache && own !== URLCache.shared)
        #expect(own !== URLSessionConfiguration.ephemeral.urlCache)
        #expect(own.diskCapacity == 0 && own.memoryCapacity > 0)
    }
}
