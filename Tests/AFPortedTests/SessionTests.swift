import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

@Suite("Ported code: cookies, caches, challenges, protocols, metrics")
struct SessionTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
    }

    // MARK: - Cookies

    @Test func `a user stays logged in until logging out`() async throws {
        server.route("POST", "/login") { request in
            #expect(request.bodyText == "user=ada&password=pass%20word")
            return .text("hi").header("Set-Cookie", "session=s1; Path=/; HttpOnly")
        }
        server.route("GET", "/home") { .text($0.headers["Cookie"] ?? "nobody") }
        let web = WebSession(site: server.url("/"))
        let loggedIn = await withCheckedContinuation { done in
            web.logIn(user: "ada", password: "pass word") { done.resume(returning: $0) }
        }

        #expect(loggedIn && web.isLoggedIn)
        #expect(await page(of: web) == "session=s1")
        #expect(web.headerForOtherClient() == ["Cookie": "session=s1"])
        web.logOut()
        #expect(await page(of: web) == "nobody")
        web.restore(session: "kept", days: 1)
        #expect(await page(of: web) == "session=kept")
    }

    private func page(of web: WebSession) async -> String? {
        await withCheckedContinuation { done in web.page("home") { done.resume(returning: $0) } }
    }

    @Test func `cookies are read from a response`() async throws {
        server.route("GET", "/", ServerReply.text("x").header("Set-Cookie", "a=1; Path=/; Max-Age=60"))
        let (_, response) = try await URLSession(configuration: .ephemeral).data(from: server.url("/"))

        let cookies = WebSession.cookies(in: response as! HTTPURLResponse)

        #expect(cookies.map(\.name) == ["a"] && cookies.first?.expiresDate != nil)
    }

    @Test func `a site whose cookies are not wanted gets none`() async {
        server.route("GET", "/home") { ServerReply.text($0.headers["Cookie"] ?? "nobody").header("Set-Cookie", "a=1") }
        let web = WebSession(site: server.url("/"), acceptPolicy: .never)

        #expect(await page(of: web) == "nobody")
        #expect(await page(of: web) == "nobody")
    }

    // MARK: - Caches

    @Test func `a cache of one's own keeps what the delegate lets it`() async throws {
        let image = ServerReply.data([1, 2, 3], type: "image/png").header("Cache-Control", "max-age=60")
        server.route("GET", "/image", image)
        server.route("GET", "/page", ServerReply.text("page").header("Cache-Control", "max-age=60"))
        let loader = CachingLoader(memory: 1 << 20, disk: 0, path: nil)
        defer { loader.close() }

        for _ in 0..<2 {
            #expect(await data(from: loader, server.url("/image")) == Data([1, 2, 3]))
            #expect(await data(from: loader, server.url("/page")) == Data("page".utf8))
        }

        #expect(server.requests.map(\.path) == ["/image", "/page", "/page"])
        #expect(loader.isCached(server.url("/image")) && !loader.isCached(server.url("/page")))
        #expect(loader.proposals == 3)
        loader.forget(server.url("/image"))
        #expect(!loader.isCached(server.url("/image")))
        loader.keep(Data("own".utf8), type: "image/gif", for: server.url("/own"))
        #expect(await data(from: loader, server.url("/own")) == Data("own".utf8))
        #expect(await data(from: loader, server.url("/none"), .returnCacheDataDontLoad) == nil)
    }

    private func data(
        from loader: CachingLoader,
        _ url: URL,
        _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) async -> Data? {
        await withCheckedContinuation { done in
            loader.load(url, policy: policy) { data, _ in done.resume(returning: data) }
        }
    }

    // MARK: - Challenges

    @Test func `a password is given once, and a wrong one not again`() async throws {
        server.install(.basicAuthentication)
        let right = ChallengeHandler(user: "ada", password: "secret")
        let session = URLSession(configuration: .ephemeral, delegate: right, delegateQueue: nil)
        let url = server.url("/basic-auth/ada/secret")

        let (_, response) = try await session.data(from: url)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(right.methods == [NSURLAuthenticationMethodHTTPBasic])
        let wrong = ChallengeHandler(user: "ada", password: "guess")
        let other = URLSession(configuration: .ephemeral, delegate: wrong, delegateQueue: nil)
        await #expect(throws: URLError.self) { try await other.data(from: url) }
        #expect(wrong.methods.count == 2)
    }

    @Test func `a password that is known beforehand is used without asking`() async throws {
        server.install(.basicAuthentication)
        let url = server.url("/basic-auth/ada/secret")
        let realm = try await realm(of: url)
        let session = makeSessionKnowing(user: "ada", password: "secret", of: url, realm: realm)

        let (_, response) = try await session.data(from: url)

        #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }

    private func realm(of url: URL) async throws -> String {
        let (_, response) = try await URLSession(configuration: .ephemeral).data(from: url)
        let field = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "WWW-Authenticate") ?? ""
        return String(field.split(separator: "\"")[1])
    }

    @Test func `a certificate is trusted where its host is known`() async throws {
        let authority = try CertificateAuthority()
        let site = try TestServer(tls: ServerTLS(authority.issue(for: "localhost")))
        site.route("GET", "/", .text("secret"))
        let url = site.url("/", host: "localhost")
        let trusting = ChallengeHandler(user: "", password: "", trustedHosts: ["localhost"])
        let session = URLSession(configuration: .ephemeral, delegate: trusting, delegateQueue: nil)

        #expect(try await session.data(from: url).0 == Data("secret".utf8))
        let other = URLSession(
            configuration: .ephemeral,
            delegate: ChallengeHandler(user: "", password: ""),
            delegateQueue: nil
        )
        let error = await #expect(throws: URLError.self) { try await other.data(from: url) }
        #expect(error?.code == .serverCertificateHasUnknownRoot)
    }

    // MARK: - Protocols

    @Test func `a protocol that loads by itself marks what it has seen`() async throws {
        server.route("GET", "/from", ServerReply.status(302).header("Location", "/to"))
        server.route("GET", "/to") { .text("there \($0.headers["X-Debug"] ?? "")") }
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [LoggingProtocol.self] + (configuration.protocolClasses ?? [])
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)

        let (data, response) = try await session.data(from: server.url("/from"))

        #expect(String(decoding: data, as: UTF8.self) == "there on")
        #expect(response.url?.path == "/to")
        #expect(LoggingProtocol.log == ["GET /from", "GET /to", "8 bytes"])
    }

    // MARK: - Watching

    @Test func `metrics, redirects and ends are told in order`() async throws {
        server.route("GET", "/a", ServerReply.status(301).header("Location", "/b"))
        server.route("GET", "/b", .text("body"))
        let watcher = TaskWatcher()
        let session = URLSession(configuration: .ephemeral, delegate: watcher, delegateQueue: nil)
        session.dataTask(with: server.url("/a")).resume()
        session.finishTasksAndInvalidate()
        await withCheckedContinuation { done in
            Thread {
                watcher.ended.wait(); done.resume()
            }.start()
        }

        let expected = ["redirect 301 to /b", "data 4", "/a http/1.1", "/b http/1.1", "completed 200", "invalid"]
        #expect(watcher.events == expected)
        let metrics = try #require(watcher.collected)
        #expect(metrics.redirectCount == 1 && metrics.taskInterval.duration > 0)
        #expect(metrics.transactionMetrics.last?.isReusedConnection == true)
        #expect(metrics.transactionMetrics.first?.resourceFetchType == .networkLoad)
    }

    @Test func `a redirect that is not followed is the answer`() async throws {
        server.route("GET", "/a", ServerReply.status(302).header("Location", "/b"))
        let watcher = TaskWatcher(followsRedirects: false)
        let session = URLSession(configuration: .ephemeral, delegate: watcher, delegateQueue: nil)

        let (_, response) = try await session.data(from: server.url("/a"))

        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        session.invalidateAndCancel()
    }

    @Test func `operations wait for their requests`() async throws {
        for size in 1...5 { server.route("GET", "/\(size)", .data(Data(count: size))) }
        let session = URLSession(configuration: .ephemeral)
        let operations = (1...5).map { LoadOperation(server.url("/\($0)"), in: session) }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2

        await withCheckedContinuation { done in
            Thread {
                queue.addOperations(operations, waitUntilFinished: true)
                done.resume()
            }.start()
        }

        #expect(operations.map(\.size) == [1, 2, 3, 4, 5])
    }

    @Test func `tasks are told apart, counted and cancelled`() async throws {
        server.script(on: .every, .expectRequest, .stall)
        let session = URLSession(configuration: .ephemeral)
        let data = session.dataTask(with: server.url("/d"))
        var request = URLRequest(url: server.url("/u"))
        request.httpMethod = "POST"
        let upload = session.uploadTask(with: request, from: Data("x".utf8))
        let download = session.downloadTask(with: server.url("/f"))
        let all = [data, upload, download]
        for task in all { task.resume() }
        #expect(all.map(\.taskIdentifier) == [1, 2, 3])

        let counts = await withCheckedContinuation { done in
            session.getTasksWithCompletionHandler { done.resume(returning: [$0.count, $1.count, $2.count]) }
        }
        #expect(counts == [1, 1, 1])
        download.progress.cancel()
        session.invalidateAndCancel()
        await withCheckedContinuation { done in session.reset { done.resume() } }
        for task in all { #expect(task.state == .completed) }
        #expect((data.error as? URLError)?.code == .cancelled)
    }

    // MARK: - Configurations and requests by reference

    @Test func `configurations are copied`() throws {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 5
        let copy = configuration.copy() as! URLSessionConfiguration
        copy.timeoutIntervalForRequest = 6
        let session = URLSession(configuration: configuration)
        configuration.timeoutIntervalForRequest = 7

        #expect(session.configuration.timeoutIntervalForRequest == 5 && copy.timeoutIntervalForRequest == 6)
        #expect(configuration.identifier == nil && !configuration.isDiscretionary)
        #expect(URLSession.shared.configuration.httpMaximumConnectionsPerHost == 6)
    }

    @Test func `a request by reference becomes a value`() async throws {
        server.route("PUT", "/ref") { .text($0.bodyText + ($0.headers["X-A"] ?? "")) }
        let reference = NSMutableURLRequest(
            url: server.url("/ref"),
            cachePolicy: .reloadIgnoringCacheData,
            timeoutInterval: 3
        )
        reference.httpMethod = "PUT"
        reference.httpBody = "b".data(using: .utf8)
        reference.addValue("1", forHTTPHeaderField: "X-A")
        reference.addValue("2", forHTTPHeaderField: "X-A")
        let frozen = reference.copy() as! NSURLRequest
        reference.httpMethod = "POST"

        let (data, _) = try await URLSession(configuration: .ephemeral).data(for: URLRequest(frozen))

        #expect(String(decoding: data, as: UTF8.self) == "b1,2")
        #expect(URLRequest(frozen).timeoutInterval == 3)
    }
}
