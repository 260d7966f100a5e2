@testable import AFURLSession
@testable import AFURLTypes

/// What stores of credentials, cookies and responses do for a task.
struct StoresOfTasksTests {
    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func cookie(_ name: String, _ domain: String) throws -> HTTPCookie {
        try #require(HTTPCookie(properties: [.name: name, .value: "1", .domain: domain, .path: "/"]))
    }

    @Test("the forms for a task do the same, and answer before they return")
    func taskForms() throws {
        let storage = URLCredentialStorage()
        let space = URLProtectionSpace(
            host: "a.test",
            port: 443,
            protocol: "https",
            realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        func user(_ name: String) -> URLCredential {
            URLCredential(user: name, password: "canary-word", persistence: .forSession)
        }
        let session = URLSession(configuration: .ephemeral)
        // A task that was never resumed keeps its session, and the session keeps it.
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1/")))
        storage.set(user("a"), for: space, task: task)
        storage.setDefaultCredential(user("b"), for: space, task: task)
        var found: (all: Int?, preferred: String?)
        storage.getCredentials(for: space, task: task) { found.all = $0?.count }
        storage.getDefaultCredential(for: space, task: task) { found.preferred = $0?.user }
        #expect(found.all == 2 && found.preferred == "b")
        storage.remove(user("b"), for: space, task: task)
        #expect(storage.credentials(for: space)?.count == 1)
    }

    @Test func `a task's cookies are those of its request`() async throws {
        let storage = Cookies().storage
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url("http://www.example.com/"))
        let task = session.dataTask(with: request)
        request.mainDocumentURL = try url("http://evil.com/")
        let framed = session.dataTask(with: request)
        storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain

        storage.storeCookies([try cookie("no", "www.example.com")], for: framed)
        storage.storeCookies([try cookie("a", "www.example.com")], for: task)

        #expect(storage.cookies?.map(\.name) == ["a"])
        #expect(await storage.cookies(for: task)?.map(\.name) == ["a"])
        #expect(await storage.cookies(for: framed) == [])
        let called: [HTTPCookie]? = await withCheckedContinuation { done in
            storage.getCookiesFor(task) { done.resume(returning: $0) }
        }
        #expect(called?.map(\.name) == ["a"])
        session.invalidateAndCancel()
    }

    @Test func `tasks stand for their requests`() async throws {
        let folder = try ScratchFolder()
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 4 << 20, directory: folder.url)
        let request = URLRequest(url: try url("http://a.test/page"))
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: request)
        let response = try #require(
            HTTPURLResponse(
                url: try url("http://a.test/page"),
                statusCode: 200,
                httpVersion: "HTTP/1.1",
                headerFields: [:]
            )
        )
        let stored = CachedURLResponse(response: response, data: Data("x".utf8))
        cache.storeCachedResponse(stored, for: task)
        let found = await withCheckedContinuation { continuation in
            cache.getCachedResponse(for: task) { continuation.resume(returning: $0) }
        }
        #expect(found?.data == Data("x".utf8))
        cache.removeCachedResponse(for: task)
        let gone = await withCheckedContinuation { continuation in
            cache.getCachedResponse(for: task) { continuation.resume(returning: $0) }
        }
        #expect(gone == nil)
        session.invalidateAndCancel()
    }
}
