import AFState
import AFURLTypes
import Foundation
import Testing

/// Which page a sequence asks for behind which.
struct PageTrailTests {
    private typealias Response = AFURLTypes.HTTPURLResponse
    private typealias Request = AFURLTypes.URLRequest

    private static func page(_ url: String, next: String?, status: Int = 200) throws -> Response {
        let fields = next.map { ["Link": "<\($0)>; rel=next"] }
        let url = try #require(URL(string: url))
        let response = Response(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
        return try #require(response)
    }

    private static func request(_ url: String, _ fields: [String: String] = [:]) throws -> Request {
        var request = Request(url: try #require(URL(string: url)))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private static func trail(
        _ request: Request,
        policy: RedirectPolicy = RedirectPolicy(),
        limit: Int = 10,
        allowsOtherOrigins: Bool = false
    ) throws -> PageTrail {
        let trail = PageTrail(
            request,
            policy: policy,
            sessionSecrets: ["X-Session-Token"],
            limit: limit,
            allowsOtherOrigins: allowsOtherOrigins
        )
        return try #require(trail)
    }

    private static let secrets = ["Authorization": "Bearer a", "Cookie": "b", "X-Api-Key": "c", "X-Plain": "d"]

    // MARK: - Within the origin

    @Test func `the next page gets the fields of the one before it, by GET and without its body`() throws {
        var first = try Self.request("https://a.test/list", Self.secrets)
        first.httpMethod = "POST"
        first.httpBody = Data("query".utf8)
        first.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        for field in ["If-None-Match", "Range"] { first.setValue("x", forHTTPHeaderField: field) }
        var trail = try Self.trail(first)

        let second = try trail.next(after: Self.page("https://a.test/list", next: "?page=2"))
        let third = try trail.next(after: Self.page("https://a.test/list?page=2", next: "?page=3"))

        for (request, query) in [(second, "page=2"), (third, "page=3")] {
            #expect(request?.url?.query == query)
            #expect(request?.httpMethod == "GET" && request?.httpBody == nil)
            #expect(request?.allHTTPHeaderFields == Self.secrets)
            #expect(request?.withheldHeaderFields == [])
        }
    }

    @Test func `HEAD stays HEAD, and the user of the URL stays`() throws {
        var first = try Self.request("https://me:p%3Ass@a.test/list")
        first.httpMethod = "HEAD"
        var trail = try Self.trail(first, allowsOtherOrigins: true)

        let second = try trail.next(after: Self.page("https://a.test/list", next: "/2"))
        let third = try trail.next(after: Self.page("https://a.test/2", next: "https://b.test/3"))

        #expect(second?.httpMethod == "HEAD")
        #expect(second?.url?.absoluteString == "https://me:p%3Ass@a.test/2")
        #expect(third?.url?.absoluteString == "https://b.test/3")
    }

    // MARK: - The end

    @Test(arguments: [(nil, 200), ("/2", 404), ("/2", 304), ("/2", 503)] as [(String?, Int)])
    func `a page without a next one, or without success, is the last`(next: String?, status: Int) throws {
        var trail = try Self.trail(Self.request("https://a.test/1"))

        #expect(try trail.next(after: Self.page("https://a.test/1", next: next, status: status)) == nil)
    }

    @Test(arguments: ["https://a.test/1", "", "1", "#x", "https://A.TEST:443/1", "/./1", "/start"])
    func `T-ANS-06 a page that names itself, or one before it, is the last`(next: String) throws {
        var trail = try Self.trail(Self.request("https://a.test/start"))

        _ = try trail.next(after: Self.page("https://a.test/1", next: "/2"))
        #expect(try trail.next(after: Self.page("https://a.test/2", next: "/3")) != nil)
        #expect(try trail.next(after: Self.page("https://a.test/3", next: next)) == nil)
    }

    @Test func `T-ANS-06 pages without end are an error at the limit`() throws {
        var trail = try Self.trail(Self.request("https://a.test/1"), limit: 3)

        for number in 1...2 {
            #expect(try trail.next(after: Self.page("https://a.test/\(number)", next: "/\(number + 1)")) != nil)
        }
        let error = #expect(throws: PageRefusal.self) {
            try trail.next(after: Self.page("https://a.test/3", next: "/4"))
        }

        #expect(error?.reason == .limit(3))
        #expect(error?.url.path == "/4")
        #expect(error?.localizedDescription.contains("3 pages have been loaded") == true)
    }

    // MARK: - Elsewhere

    private static let elsewhere = [
        "https://b.test/2", "//b.test/2", "https://a.test:8443/2", "https://a.test.b.test/2", "https://a.test@b.test/2",
    ]

    @Test(arguments: elsewhere)
    func `T-ANS-07 a page of another origin is not asked for`(next: String) throws {
        var trail = try Self.trail(Self.request("https://a.test/1", Self.secrets))

        let error = #expect(throws: PageRefusal.self) {
            try trail.next(after: Self.page("https://a.test/1", next: next))
        }

        #expect(error?.reason == .otherOrigin)
    }

    @Test(arguments: elsewhere)
    func `T-ANS-07 if that is allowed, secrets stay behind and do not come back`(next: String) throws {
        var first = try Self.request("https://me:secret@a.test/1", Self.secrets)
        first.setValue("e", forHTTPHeaderField: "X-Tenant")
        first.setValue("a.test", forHTTPHeaderField: "Host")
        var policy = RedirectPolicy()
        policy.sensitiveFields = ["X-Tenant"]
        var trail = try Self.trail(first, policy: policy, allowsOtherOrigins: true)

        let second = try trail.next(after: Self.page("https://a.test/1", next: next))
        let page = try #require(second?.url?.absoluteString)
        let third = try trail.next(after: Self.page(page, next: "https://a.test/3"))

        for request in [second, third] {
            #expect(request?.allHTTPHeaderFields == ["X-Plain": "d"])
            #expect(request?.withheldHeaderFields == ["x-session-token"])
            #expect(request?.contents.interception.value.skipsSession == true)
            #expect(request?.url?.user == nil)
        }
    }

    @Test func `T-ANS-07 a redirect elsewhere does not choose what is asked with secrets`() throws {
        for next in ["https://a.test/2", "https://b.test/2"] {
            var trail = try Self.trail(Self.request("https://a.test/1", Self.secrets))
            var free = try Self.trail(Self.request("https://a.test/1", Self.secrets), allowsOtherOrigins: true)
            let page = try Self.page("https://b.test/1", next: next)

            #expect(throws: PageRefusal.self) { try trail.next(after: page) }
            #expect(try free.next(after: page)?.allHTTPHeaderFields == ["X-Plain": "d"])
        }
    }

    @Test(arguments: ["http://a.test/2", "http://b.test/2", "http://a.test:443/2"])
    func `T-ANS-08 a page over https leads to none in the clear`(next: String) throws {
        for isFree in [false, true] {
            for first in ["https://a.test/1", "http://a.test/1"] {
                var policy = RedirectPolicy()
                policy.allowsPlainText = true
                var trail = try Self.trail(Self.request(first), policy: policy, allowsOtherOrigins: isFree)

                let error = #expect(throws: PageRefusal.self) {
                    try trail.next(after: Self.page("https://a.test/1", next: next))
                }

                #expect(error?.reason == .plainText)
            }
        }
    }

    @Test func `a list that was asked for over http goes on where its server has led to https, without secrets`() throws
    {
        var trail = try Self.trail(Self.request("http://a.test/1", Self.secrets))
        var policy = RedirectPolicy()
        policy.keepsSecretsOnUpgrade = true
        var keeping = try Self.trail(Self.request("http://a.test/1", Self.secrets), policy: policy)
        let page = try Self.page("https://a.test/1", next: "/2")

        #expect(try trail.next(after: page)?.allHTTPHeaderFields == ["X-Plain": "d"])
        #expect(try keeping.next(after: page)?.allHTTPHeaderFields == Self.secrets)
    }

    @Test(arguments: ["ftp://a.test/2", "file:///etc/passwd", "javascript:alert(1)", "data:,a", "unix:///x"])
    func `T-ANS-07 a page of another scheme is not asked for`(next: String) throws {
        var trail = try Self.trail(Self.request("https://a.test/1"), allowsOtherOrigins: true)

        let error = #expect(throws: PageRefusal.self) {
            try trail.next(after: Self.page("https://a.test/1", next: next))
        }

        #expect(error?.reason == .notLoadable)
    }

    @Test func `the error hides what the URL has of secrets`() throws {
        var trail = try Self.trail(Self.request("https://a.test/1"))

        let error = #expect(throws: PageRefusal.self) {
            try trail.next(after: Self.page("https://a.test/1", next: "https://b.test/2?token=hidden"))
        }

        #expect(error?.description.contains("b.test") == true && error?.description.contains("hidden") == false)
    }

    @Test func `there is no trail of what has no origin`() {
        let request = URL(string: "file:///list").map { Request(url: $0) }
        let trail = request.flatMap {
            PageTrail($0, policy: RedirectPolicy(), sessionSecrets: [], limit: 1, allowsOtherOrigins: false)
        }

        #expect(request != nil && trail == nil)
    }
}
