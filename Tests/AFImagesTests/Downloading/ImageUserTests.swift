import AFBase

@testable import AFImages

/// An image for one user is no other's.
@Suite struct ImageUserTests {
    /// How a request says for whom it is sent.
    enum Way: CaseIterable {
        case byHand
        case sessionField
        case cookie
        case token
        case sessionInterceptor
        case requestInterceptor

        /// Whether that is known before the request is sent.
        var isForeseen: Bool { ![.sessionInterceptor, .requestInterceptor].contains(self) }
    }

    private let site: ImageSite
    private let downloader: ImageDownloader
    private let user = Lock("")

    init() throws {
        site = try ImageSite()
        downloader = site.downloader
        for path in ["/mine.png", "/held.png"] {
            let reply = ServerReply.picture(site.png).header("Cache-Control", "no-store")
            site.server.route("GET", path, path == "/held.png" ? reply.held(until: "go") : reply)
        }
    }

    private static func manager(_ configure: (URLSessionConfiguration) -> Void) -> HTTPSessionManager {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        let manager = HTTPSessionManager(baseURL: nil, sessionConfiguration: configuration)
        manager.responseSerializer = ImageResponseSerializer()
        return manager
    }

    private func adapter() -> AdaptingInterceptor {
        AdaptingInterceptor { [user] request, _ in
            var request = request
            request.setValue(user.withLock { $0 }, forHTTPHeaderField: "X-User")
            return request
        }
    }

    /// Who is served from now on, and with which request.
    private func requests(_ path: String, _ way: Way) throws -> (String) throws -> URLRequest {
        let plain = site.request(path)
        let url = site.server.url(path)
        switch way {
        case .byHand:
            return { user in
                var request = plain
                request.setValue(user, forHTTPHeaderField: "X-Api-Key")
                return request
            }
        case .sessionField:
            return { [downloader] user in
                downloader.sessionManager = Self.manager { $0.httpAdditionalHeaders = ["X-User": user] }
                return plain
            }
        case .cookie:
            let host = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false)?.host)
            return { [downloader] user in
                let storage = HTTPCookieStorage()
                let cookie = HTTPCookie(properties: [.name: "user", .value: user, .domain: host, .path: "/"])
                storage.setCookie(try #require(cookie))
                downloader.sessionManager = Self.manager { $0.httpCookieStorage = storage }
                return plain
            }
        case .token:
            let tokens = try TokenInterceptor(for: [url], token: "nobody") { _ in "nobody" }
            downloader.sessionManager = Self.manager { $0.requestInterceptors = [RetryRules(), tokens] }
            return { user in
                tokens.token = user
                return plain
            }
        case .sessionInterceptor:
            downloader.sessionManager = Self.manager { $0.requestInterceptors = [adapter()] }
            return { [user] name in
                user.withLock { $0 = name }
                return plain
            }
        case .requestInterceptor:
            var request = plain
            request.requestInterceptors = [adapter()]
            return { [user, request] name in
                user.withLock { $0 = name }
                return request
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `T-IMG-12 an image in memory is for the user for whom it was sent`(way: Way) async throws {
        let request = try requests("/mine.png", way)
        func ask(_ user: String) async throws -> Int {
            _ = try await downloader.image(for: try request(user))
            return site.requests(for: "/mine.png")
        }

        #expect(try await ask("one") == 1)
        #expect(try await ask("two") == 2)

        // What is known beforehand costs no user a second request.
        #expect(try await ask("one") == (way.isForeseen ? 2 : 3))
        let again = try request("two")
        #expect((downloader.imageInMemory(for: again) != nil) == way.isForeseen)
        #expect(downloader.imageInMemory(for: try request("three")) == nil)
    }

    @Test(arguments: Way.allCases)
    func `T-IMG-12 requests for two users share no download`(way: Way) async throws {
        let request = try requests("/held.png", way)
        let heard = Heard<Told>()
        for user in ["one", "two"] { downloader.download(try request(user), heard) }
        try await site.server.waitForRequests(2)
        site.server.signal("go")
        try await heard.wait(for: 2)

        #expect(heard.all.allSatisfy { $0.image != nil })
        #expect(site.requests(for: "/held.png") == 2)
    }

    @Test func `T-IMG-12 requests for one user share a download`() async throws {
        for way in [Way.byHand, .token, .sessionField] {
            let before = site.requests(for: "/held.png")
            let request = try requests("/held.png", way)("one \(way)")
            let heard = Heard<Told>()
            for _ in 1...2 { downloader.download(request, heard) }
            try await site.server.waitForRequests(before + 1)
            site.server.signal("go")
            try await heard.wait(for: 2)
            #expect(site.requests(for: "/held.png") == before + 1, "\(way)")
        }
    }

    @Test func `T-IMG-12 an image that was sent for another user than was asked for is not kept`() async throws {
        let request = try requests("/mine.png", .token)
        downloader.maximumActiveDownloads = 1
        let heard = Heard<Told>()
        downloader.download(site.request("/waiting/1"), heard)
        try await site.server.waitForRequests(1)
        downloader.download(try request("one"), heard)
        _ = try request("two")
        site.server.signal("go")
        try await heard.wait(for: 2)
        #expect(site.server.requests.last?.headers["Authorization"] == "Bearer two")

        #expect(downloader.imageInMemory(for: try request("one")) == nil)
        #expect(downloader.imageInMemory(for: try request("two")) == nil)
    }

    @Test func `T-IMG-12 an image behind a password is not kept for those who have none`() async throws {
        let png = site.png
        site.server.route("GET", "/locked.png") { request in
            request.headers["Authorization"] == nil
                ? ServerReply.status(401).header("WWW-Authenticate", "Basic realm=\"r\"") : .picture(png)
        }
        let url = site.server.url("/locked.png")
        let storage = URLCredentialStorage()
        let components = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
        storage.setDefaultCredential(
            URLCredential(user: "one", password: "secret", persistence: .forSession),
            for: URLProtectionSpace(
                host: try #require(components.host),
                port: try #require(components.port),
                protocol: "http",
                realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic
            )
        )
        downloader.sessionManager = Self.manager {
            $0.urlCredentialStorage = storage
            $0.sendsPasswordsInClear = true
        }
        _ = try await downloader.image(for: site.request("/locked.png"))
        #expect(downloader.imageInMemory(for: site.request("/locked.png")) == nil)

        downloader.sessionManager = Self.manager { $0.urlCredentialStorage = nil }
        await #expect(throws: (any Error).self) { try await downloader.image(for: site.request("/locked.png")) }
    }

    @Test func `T-IMG-12 the name of an image in a cache tells nothing of its user`() throws {
        let manager = Self.manager { $0.httpAdditionalHeaders = ["X-User": "canary"] }
        let request = site.request("/mine.png")
        let identifier = try #require(ImageDownloadKey(request: request, by: manager)?.identifier)
        #expect(identifier.hasPrefix("user:") && !identifier.contains("canary"))
        #expect(ImageDownloadKey(request: request, by: Self.manager { _ in })?.identifier == nil)
        let neutral = Self.manager { $0.httpAdditionalHeaders = ["Accept-Language": "de", "X-Request-Id": "7"] }
        #expect(ImageDownloadKey(request: request, by: neutral)?.identifier == nil)
    }
}
