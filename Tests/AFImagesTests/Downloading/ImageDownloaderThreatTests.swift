@testable import AFImages

/// Hostile servers, odd requests and races with a downloader.
@Suite struct ImageDownloaderThreatTests {
    private let site: ImageSite
    private let downloader: ImageDownloader
    private let heard = Heard<Told>()

    init() throws {
        site = try ImageSite()
        downloader = site.downloader
    }

    private func request(_ path: String, _ fields: [String: String]) -> URLRequest {
        var request = site.request(path)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    @Test func `T-IMG-11 each of two hundred requests in eight threads is answered once`() async throws {
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask { [site, downloader, heard] in
                    let receipt = downloader.download(site.request("/numbered/\(number % 7)"), heard)
                    if number.isMultiple(of: 3), let receipt { downloader.cancelTask(for: receipt) }
                }
            }
        }
        try await heard.wait(for: 200)
        try await eventually("the end") { downloader.isIdle }

        #expect(heard.all.count == 200)
        #expect(heard.all.allSatisfy { ($0.image == nil) == ($0.code == URLError.cancelled.rawValue) })
        #expect(heard.all.count { $0.image != nil } >= 133)
    }

    @Test func `T-IMG-04 a picture that is cut off is an error, and in no cache`() async throws {
        let cache = try #require(downloader.imageCache as? AutoPurgingImageCache)
        for (number, length) in stride(from: 1, to: site.png.count, by: max(1, site.png.count / 12)).enumerated() {
            let path = "/cut/\(number).png"
            site.server.route("GET", path, .picture(site.png.prefix(length)).header("Cache-Control", "max-age=600"))
            let before = heard.all.count
            downloader.download(site.request(path), heard)
            try await heard.wait(for: before + 1)

            #expect(heard.all.last?.image == nil && heard.all.last?.error != nil, "\(length) bytes")
            #expect(cache.image(for: site.request(path), withAdditionalIdentifier: nil) == nil)
        }
        #expect(cache.memoryUsage == 0)

        downloader.download(site.request("/image.png"), heard)
        try await eventually("the whole one in the cache") { cache.memoryUsage > 0 }
    }

    @Test func `T-IMG-12 requests with other credentials, cookies or fields do not share a download`() async throws {
        let all = [
            [:], ["Authorization": "Bearer one"], ["Authorization": "Bearer two"], ["Cookie": "a=1"], ["X-User": "one"],
        ]
        site.server.route("GET", "/mine.png") { [png = site.png] _ in .picture(png).held(until: "go") }
        downloader.maximumActiveDownloads = 9
        for fields in all { downloader.download(request("/mine.png", fields), heard) }
        var withoutCookies = site.request("/mine.png")
        withoutCookies.httpShouldHandleCookies = false
        downloader.download(withoutCookies, heard)
        var posted = site.request("/mine.png")
        posted.httpMethod = "POST"
        site.server.route("POST", "/mine.png") { [png = site.png] _ in .picture(png).held(until: "go") }
        downloader.download(posted, heard)
        let shared = downloader.download(request("/mine.png", ["Accept": "image/*"]), heard)
        #expect(shared != nil)

        // Six connections to a host, unless set.
        try await site.server.waitForRequests(6)
        site.server.signal("go")
        try await heard.wait(for: 8)

        #expect(site.server.requests.count == 7)
        let authorizations = site.server.requests.map { $0.headers["Authorization"] ?? "" }.filter { !$0.isEmpty }
        #expect(Set(authorizations) == ["Bearer one", "Bearer two"])
    }

    @Test func `T-IMG-13 a data URL and a file URL are pictures like others`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("images-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.png")
        try site.png.write(to: file)
        let data = try #require(URL(string: "data:image/png;base64,\(site.png.base64EncodedString())"))

        for url in [data, file] {
            let loaded = try await downloader.image(for: URLRequest(url: url))
            #expect(loaded.image.width == 20)
        }
        await #expect(throws: (any Error).self) {
            try await downloader.image(for: URLRequest(url: folder.appendingPathComponent("b.png")))
        }
    }

    @Test(arguments: [
        "nonsense", "ftp://example.test/a.png", "http:///a.png", "data:image/png;base64,AAAA", "about:blank",
    ])
    func `T-IMG-13 odd URLs fail once`(text: String) async throws {
        downloader.download(URLRequest(url: try #require(URL(string: text))), heard)

        #expect(try await heard.first.error != nil)
        try await eventually("the end") { downloader.isIdle }
        #expect(heard.all.count == 1)
    }

    @Test func `T-IMG-13 a picture with a bad status, a page, an empty body and half a picture are failures`()
        async throws
    {
        site.server.route("GET", "/empty.png", .picture(Data()))
        site.server.route("GET", "/half.png", .picture(site.png.prefix(site.png.count / 2)))
        let paths = ["/missing.png", "/page.png", "/empty.png", "/half.png"]
        for path in paths { downloader.download(site.request(path), heard) }

        let told = try await heard.wait(for: 4)
        #expect(told.allSatisfy { $0.image == nil && $0.error != nil && $0.response != nil })
        let cache = try #require(downloader.imageCache)
        for path in paths { #expect(cache.image(for: site.request(path), withAdditionalIdentifier: nil) == nil) }
    }

    @Test func `T-IMG-13 a manager that makes no images says so`() async throws {
        downloader.sessionManager.responseSerializer = HTTPResponseSerializer()
        downloader.download(site.request("/image.png"), heard)
        #expect(try await heard.first.error?.localizedDescription.contains("ImageResponseSerializer") == true)
    }

    @Test func `a serializer may leave the decoding to the downloader`() async throws {
        let serializer = ImageResponseSerializer()
        serializer.automaticallyInflatesResponseImage = false
        downloader.sessionManager.responseSerializer = serializer
        site.server.route("GET", "/half.png", .picture(site.png.prefix(site.png.count - 20)))
        #expect(try await downloader.image(for: site.request("/image.png")).image.width == 20)
        await #expect(throws: ImageError.self) { try await downloader.image(for: site.request("/half.png")) }
    }

    @Test func `T-RED-15 no body goes to another origin because of a redirect`() async throws {
        let other = try ImageSite()
        let target = other.server.url("/image.png").absoluteString
        site.server.route("POST", "/moved.png", ServerReply.status(307).header("Location", target))
        other.server.route("POST", "/image.png", .picture(other.png))
        var posted = site.request("/moved.png")
        posted.httpMethod = "POST"
        posted.httpBody = Data("secret".utf8)
        downloader.download(posted, heard)

        #expect(try await heard.first.error != nil)
        #expect(site.server.requests.count == 1 && other.server.requests.isEmpty)
    }

    @Test func `T-IMG-14 a download that becomes a stream fails, and ends`() async throws {
        downloader.sessionManager.setDataTaskDidReceiveResponseBlock { _, _, _ in .becomeStream }
        downloader.download(site.request("/image.png"), heard)
        #expect(try await heard.wait(seconds: 10)[0].error?.localizedDescription.contains("stream") == true)
        try await eventually("the end") { downloader.isIdle }
    }

    @Test func `T-IMG-14 a hundred failures leave all four places free`() async throws {
        site.server.route("GET", "/broken/:number") { [png = site.png] request in
            let number = Int(request.parameters["number"] ?? "") ?? 0
            let failures: [ServerReply] = [
                .status(500), .picture(png).resetting(after: 10), .picture(png).closing(after: 0, of: .message),
                .picture(Data("nothing".utf8)),
            ]
            return failures[number % 4]
        }
        for number in 0..<100 { downloader.download(site.request("/broken/\(number)"), heard) }
        let failed = try await heard.wait(for: 100)
        #expect(failed.allSatisfy { $0.error != nil })
        try await eventually("the end") { downloader.isIdle }

        for number in 0..<4 { downloader.download(site.request("/waiting/\(number)"), heard) }
        try await eventually("four requests") {
            site.server.requests.count { $0.target.hasPrefix("/waiting") } == 4
        }
        site.server.signal("go")
        try await heard.wait(for: 104)
    }

    @Test func `T-IMG-14 16 downloads that are cancelled while they wait do not raise the number that runs`()
        async throws
    {
        for number in 0..<4 { downloader.download(site.request("/waiting/\(number)"), heard) }
        try await site.server.waitForRequests(4)
        for number in 4..<20 {
            let receipt = try #require(downloader.download(site.request("/waiting/\(number)"), heard))
            if number.isMultiple(of: 2) { downloader.cancelTask(for: receipt) } else { receipt.task.cancel() }
        }
        try await heard.wait(for: 16)
        #expect(downloader.activeDownloads == 4)
        for number in 20..<26 { downloader.download(site.request("/waiting/\(number)"), heard) }
        #expect(downloader.activeDownloads == 4)

        site.server.signal("go")
        try await heard.wait(for: 26)
        #expect(heard.all.count { $0.image != nil } == 10)
        try await eventually("the end") { downloader.isIdle }
    }

    @Test func `T-IMG-14 on an invalidated session downloads fail, and end`() async throws {
        downloader.sessionManager.invalidateSessionCancelingTasks(true, resetSession: false)
        for number in 0..<9 { downloader.download(site.request("/numbered/\(number)"), heard) }

        let told = try await heard.wait(for: 9)
        #expect(told.allSatisfy { $0.error != nil })
        try await eventually("the end") { downloader.isIdle }
    }

    /// Records whether its handlers are called on the main queue.
    private final class Telling: HTTPSessionManager, @unchecked Sendable {
        let wasOnMain = Heard<Bool>()

        override func dataTask(
            with request: URLRequest,
            uploadProgress uploadProgressBlock: ProgressHandler?,
            downloadProgress downloadProgressBlock: ProgressHandler?,
            completionHandler: TaskCompletionHandler?
        ) -> URLSessionDataTask {
            super.dataTask(
                with: request,
                uploadProgress: uploadProgressBlock,
                downloadProgress: downloadProgressBlock
            ) { [wasOnMain] response, object, error in
                wasOnMain.add(Queues.isMain)
                completionHandler?(response, object, error)
            }
        }
    }

    @Test func `async downloads need no main queue, even on an invalidated session`() async throws {
        let manager = Telling(baseURL: nil, sessionConfiguration: .ephemeral)
        let invalid = Heard<Bool>()
        manager.setSessionDidBecomeInvalidBlock { _, _ in invalid.add(true) }
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
        try await invalid.wait()
        let downloader = ImageDownloader(
            sessionManager: manager,
            downloadPrioritization: .fifo,
            maximumActiveDownloads: 4,
            imageCache: nil
        )

        await #expect(throws: (any Error).self) { try await downloader.image(for: site.request("/image.png")) }
        #expect(manager.wasOnMain.all == [false])
    }

    @Test func `T-IMG-15 a download that was cancelled and one that took its place do not mix`() async throws {
        let answers = Heard<Int>()
        let (old, new) = (try Pictures.file(width: 3), try Pictures.file(width: 5))
        site.server.route("GET", "/changing.png") { _ in
            answers.add(1)
            return answers.all.count == 1 ? .picture(old).held(until: "late") : .picture(new)
        }
        let receipt = try #require(downloader.download(site.request("/changing.png"), heard))
        try await site.server.waitForRequests(1)
        downloader.cancelTask(for: receipt)
        let second = Heard<Told>()
        downloader.download(site.request("/changing.png"), second)
        #expect(try await second.first.image?.width == 5)
        site.server.signal("late")
        try await eventually("the end") { downloader.isIdle }

        let cache = try #require(downloader.imageCache)
        #expect(cache.image(for: site.request("/changing.png"), withAdditionalIdentifier: nil)?.width == 5)
        #expect(heard.all.count == 1)
    }

    @Test func `T-IMG-16 a cache that was cleared during a download does not get its image`() async throws {
        downloader.download(site.request("/waiting/1"), heard)
        try await site.server.waitForRequests(1)
        downloader.imageCache?.removeAllImages()
        site.server.signal("go")

        #expect(try await heard.first.image != nil)
        #expect(downloader.imageCache?.image(for: site.request("/waiting/1"), withAdditionalIdentifier: nil) == nil)
        // The next one is kept as always.
        _ = try await downloader.image(for: site.request("/waiting/1"))
        #expect(downloader.imageCache?.image(for: site.request("/waiting/1"), withAdditionalIdentifier: nil) != nil)
    }

    @Test func `T-IMG-19 private pictures are not on the disk`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("images-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = URLCache(memoryCapacity: 20 << 20, diskCapacity: 150 << 20, directory: folder)
        let configuration = ImageDownloader.defaultURLSessionConfiguration()
        configuration.urlCache = cache
        let downloader = ImageDownloader(sessionConfiguration: configuration)
        let secrets = try (1...3).map { try Pictures.file(width: 90, height: 90, seed: $0) }
        site.server.route("GET", "/stored.png", .picture(secrets[0]).header("Cache-Control", "max-age=60"))
        site.server.route("GET", "/unstored.png", .picture(secrets[1]).header("Cache-Control", "no-store, max-age=60"))
        site.server.route("GET", "/own.png", .picture(secrets[2]).header("Cache-Control", "max-age=60"))

        for request in [
            site.request("/stored.png"), site.request("/unstored.png"),
            request("/own.png", ["Authorization": "Bearer canary"]),
        ] {
            _ = try await downloader.image(for: request)
        }
        await withCheckedContinuation { done in downloader.sessionManager.session.flush { done.resume() } }
        _ = cache.currentDiskUsage

        var disk = Data()
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            disk += FileManager.default.contents(atPath: folder.appendingPathComponent(path).path) ?? Data()
        }
        let marks = secrets.map { $0.dropFirst(200).prefix(64) }
        #expect(marks.map { disk.range(of: $0) != nil } == [true, false, false])
        #expect(disk.range(of: Data("canary".utf8)) == nil)
    }

    @Test func `a response that is too long fails by its header, or as soon as it passes the limit`() async throws {
        site.server.route("GET", "/endless.png") { [png = site.png] _ in
            .data(png + Data(count: 1 << 20), type: "image/png").chunked(4096)
        }
        downloader.maximumResponseSize = 10_000
        site.server.route("GET", "/long.png", .picture(site.png + Data(count: 10_000)))
        downloader.download(site.request("/long.png"), heard)
        downloader.download(site.request("/endless.png"), heard)
        downloader.download(site.request("/image.png"), heard)

        let told = try await heard.wait(for: 3)
        #expect(told.count { $0.code == URLError.Code.dataLengthExceedsMaximum.rawValue } == 2)
        #expect(told.count { $0.image != nil } == 1)
        try await eventually("the end") { downloader.isIdle }
    }
}
