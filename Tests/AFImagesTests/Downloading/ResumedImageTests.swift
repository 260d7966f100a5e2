@testable import AFImages

/// Downloads that are interrupted in the middle of a picture.
@Suite struct ResumedImageTests {
    private let site: ImageSite
    private let downloader: ImageDownloader
    private let heard = Heard<Told>()
    private let picture: Data

    init() throws {
        site = try ImageSite()
        downloader = site.downloader
        picture = try Pictures.file(width: 100, height: 100)
    }

    /// Interrupts the first response, and answers requests for the rest.
    private func serve(
        _ path: String,
        tag: String = "\"one\"",
        rest: @escaping @Sendable (RecordedRequest, Data) -> ServerReply
    ) {
        let (picture, attempts) = (picture, Heard<Int>())
        site.server.route("GET", path) { request in
            attempts.add(1)
            guard attempts.all.count > 1 else {
                return .picture(picture).header("ETag", tag).closing(after: 10_000)
            }
            return rest(request, picture)
        }
    }

    private static func rest(_ picture: Data, from start: Int, tag: String = "\"one\"") -> ServerReply {
        ServerReply.picture(picture.dropFirst(start)).status(206).header("ETag", tag)
            .header("Content-Range", "bytes \(start)-\(picture.count - 1)/\(picture.count)")
    }

    /// Downloads it until it is interrupted, and then once more.
    private func downloadTwice(_ path: String) async throws -> Told {
        downloader.download(site.request(path), heard)
        #expect(try await heard.first.error != nil)
        downloader.download(site.request(path), heard)
        return try await heard.wait(for: 2)[1]
    }

    @Test func `the next request asks for the rest, and the picture is whole`() async throws {
        serve("/a.png") { request, picture in
            let start = Int(request.headers["Range"]?.dropFirst(6).dropLast() ?? "") ?? 0
            return Self.rest(picture, from: start)
        }

        let told = try await downloadTwice("/a.png")

        let request = try #require(site.server.requests.last)
        #expect(request.headers["Range"] == "bytes=10000-" && request.headers["If-Range"] == "\"one\"")
        #expect(request.headers["Accept-Encoding"] == "identity")
        #expect(told.image == (try Image.decode(picture)) && told.response?.statusCode == 206)
        #expect(told.request == site.request("/a.png"))
        #expect(downloader.partialByteCount == 0)
    }

    @Test func `T-TLS-84 a part is no part of a picture from a server that is judged in another way`() async throws {
        serve("/a.png") { request, picture in
            request.headers["Range"] == nil ? .picture(picture) : Self.rest(picture, from: 10_000)
        }
        downloader.download(site.request("/a.png"), heard)
        #expect(try await heard.first.error != nil)

        downloader.sessionManager.securityPolicy.hostRules = [try .pins("a.test", PinSet([Self.pin], backups: []))]
        downloader.download(site.request("/a.png"), heard)

        #expect(try await heard.wait(for: 2)[1].image == (try Image.decode(picture)))
        #expect(site.server.requests.map { $0.headers["Range"] } == [nil, nil])
    }

    @Test func `T-TLS-84 a picture in memory is none of a server that is judged in another way`() async throws {
        site.server.route("GET", "/a.png", .picture(picture))
        downloader.download(site.request("/a.png"), heard)
        downloader.download(site.request("/a.png"), heard)
        _ = try await heard.wait(for: 2)
        #expect(site.server.requests.count == 1)
        let policy = SecurityPolicy()
        policy.validatesDomainName = false

        downloader.sessionManager.securityPolicy = policy
        for count in 3...4 {
            downloader.download(site.request("/a.png"), heard)
            _ = try await heard.wait(for: count)
        }

        #expect(site.server.requests.count == 2)
        downloader.sessionManager.securityPolicy = SecurityPolicy()
        downloader.download(site.request("/a.png"), heard)
        _ = try await heard.wait(for: 5)
        #expect(site.server.requests.count == 2)
    }

    private static let pin = "sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY="

    @Test func `an interrupted rest is resumed too`() async throws {
        let (picture, attempts) = (picture, Heard<Int>())
        site.server.route("GET", "/a.png") { request in
            attempts.add(1)
            guard let range = request.headers["Range"], let start = Int(range.dropFirst(6).dropLast()) else {
                return .picture(picture).header("ETag", "\"one\"").closing(after: 10_000)
            }
            let rest = Self.rest(picture, from: start)
            return attempts.all.count == 2 ? rest.resetting(after: 5000) : rest
        }

        for count in 1...3 {
            downloader.download(site.request("/a.png"), heard)
            try await heard.wait(for: count)
        }

        #expect(heard.all.map { $0.image == nil } == [true, true, false])
        #expect(heard.all[2].image == (try Image.decode(picture)))
        let last = try #require(site.server.requests.last?.headers["Range"])
        #expect(last != "bytes=10000-" && last != "bytes=0-")
    }

    @Test func `a download that was cancelled is resumed`() async throws {
        let (picture, delivered) = (picture, Heard<Int>())
        site.server.route("GET", "/a.png") { request in
            guard let range = request.headers["Range"], let start = Int(range.dropFirst(6).dropLast()) else {
                return .picture(picture).header("ETag", "\"one\"").stalling(after: 8000)
            }
            return Self.rest(picture, from: start)
        }
        // The session drops bytes that it has not delivered when the task is cancelled: their arrival is not enough.
        downloader.sessionManager.setDataTaskDidReceiveDataBlock { _, _, data in delivered.add(data.count) }
        let receipt = try #require(downloader.download(site.request("/a.png"), heard))
        try await delivered.wait { $0.reduce(0, +) == 8000 }
        downloader.cancelTask(for: receipt)
        try await eventually("the end") { downloader.isIdle && downloader.partialByteCount > 0 }

        downloader.download(site.request("/a.png"), heard)
        #expect(try await heard.wait(for: 2)[1].image == (try Image.decode(picture)))
        #expect(site.server.requests.last?.headers["Range"] == "bytes=8000-")
    }

    @Test(arguments: [
        URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
    ])
    func `a part does not keep a whole picture in the cache from being shown`(policy: URLRequest.CachePolicy)
        async throws
    {
        let (picture, count) = (picture, Heard<Int>())
        site.server.route("GET", "/a.png") { _ in
            count.add(1)
            let whole = ServerReply.picture(picture).header("ETag", "\"one\"").header("Cache-Control", "max-age=100")
            return count.all.count == 1 ? whole : whole.closing(after: 10_000)
        }
        downloader.imageCache = nil
        var request = site.request("/a.png")
        downloader.download(request, heard)
        #expect(try await heard.first.image != nil)
        request.cachePolicy = .reloadIgnoringLocalCacheData
        downloader.download(request, heard)
        #expect(try await heard.wait(for: 2)[1].error != nil && downloader.partialByteCount > 0)
        site.server.stop()

        request.cachePolicy = policy
        downloader.download(request, heard)

        #expect(try await heard.wait(for: 3)[2].image == (try Image.decode(picture)))
    }

    @Test func `a rest that cannot be had is asked for once, and its error told`() async throws {
        site.server.route("GET", "/a.png", .picture(picture).header("ETag", "\"one\"").closing(after: 10_000))
        downloader.download(site.request("/a.png"), heard)
        #expect(try await heard.first.error != nil)
        site.server.stop()

        downloader.download(site.request("/a.png"), heard)

        #expect(try await heard.wait(for: 2)[1].code == URLError.Code.cannotConnectToHost.rawValue)
        #expect(downloader.partialByteCount == 10_000)
    }

    @Test func `a picture that has changed comes whole`() async throws {
        let changed = try Pictures.file(width: 7)
        serve("/a.png") { _, _ in .picture(changed).header("ETag", "\"two\"") }

        let told = try await downloadTwice("/a.png")

        #expect(site.server.requests.last?.headers["Range"] == "bytes=10000-")
        #expect(told.image?.width == 7 && told.response?.statusCode == 200)
    }

    /// Responses that are not the rest, or not of this picture.
    @Test(
        arguments: [
            ("bytes 9999-40000/40001", "\"one\"", 206), ("bytes 10000-10005/40001", "\"one\"", 206),
            ("bytes 10000-*/40001", "\"one\"", 206), ("bytes +10000-40000/40001", "\"one\"", 206), ("", "\"one\"", 206),
            ("right", "\"two\"", 206), ("right", "W/\"one\"", 206), ("bytes */5", "\"one\"", 416),
        ]
    )
    func `a response that is not the rest is refused, and the whole is requested at once`(
        range: String,
        tag: String,
        status: Int
    ) async throws {
        serve("/a.png") { request, picture in
            guard request.headers["Range"] != nil else { return .picture(picture) }
            let reply = ServerReply.picture(picture.dropFirst(10_000)).status(status).header("ETag", tag)
            let right = "bytes 10000-\(picture.count - 1)/\(picture.count)"
            return range.isEmpty ? reply : reply.header("Content-Range", range == "right" ? right : range)
        }

        let told = try await downloadTwice("/a.png")

        #expect(told.image == (try Image.decode(picture)))
        #expect(site.server.requests.map { $0.headers["Range"] != nil } == [false, true, false])
        try await eventually("the end") { downloader.isIdle }
    }

    @Test(
        arguments: [
            ["ETag": "W/\"weak\""], ["ETag": "unquoted"], [:], ["ETag": "\"one\"", "Accept-Ranges": "none"],
            ["ETag": "\"one\"", "Accept-Ranges": "NONE"], ["ETag": "\"one\"", "Cache-Control": "private, No-Store"],
            ["Last-Modified": "Sun, 22 Nov 2026 10:00:00 GMT", "Date": "Sun, 22 Nov 2026 10:00:00 GMT"],
            ["Last-Modified": "Sun, 22 Nov 2026 10:00:00 GMT"],
        ]
    )
    func `a part without a validator, or that must not be kept, is loaded anew`(fields: [String: String]) async throws {
        let (picture, attempts) = (picture, Heard<Int>())
        site.server.route("GET", "/a.png") { _ in
            attempts.add(1)
            var reply = ServerReply.picture(picture)
            for (name, value) in fields { reply = reply.header(name, value) }
            return attempts.all.count == 1 ? reply.closing(after: 10_000) : reply
        }

        let told = try await downloadTwice("/a.png")

        #expect(told.image != nil)
        #expect(site.server.requests.allSatisfy { $0.headers["Range"] == nil })
        #expect(downloader.partialByteCount == 0)
    }

    @Test func `a date before that of the response is as good as a tag`() async throws {
        let (picture, attempts) = (picture, Heard<Int>())
        site.server.route("GET", "/a.png") { request in
            attempts.add(1)
            let date = "Sun, 22 Nov 2026 10:00:00 GMT"
            guard attempts.all.count > 1 else {
                return .picture(picture).header("Last-Modified", date).header("Date", "Sun, 22 Nov 2026 11:00:00 GMT")
                    .closing(after: 10_000)
            }
            return ServerReply.picture(picture.dropFirst(10_000)).status(206).header("Last-Modified", date)
                .header("Content-Range", "bytes 10000-\(picture.count - 1)/\(picture.count)")
        }

        let told = try await downloadTwice("/a.png")

        #expect(told.image == (try Image.decode(picture)))
        #expect(site.server.requests.last?.headers["If-Range"] == "Sun, 22 Nov 2026 10:00:00 GMT")
    }

    @Test func `T-IMG-12 a request with other credentials does not resume a part`() async throws {
        serve("/a.png") { _, picture in .picture(picture) }
        var request = site.request("/a.png")
        request.setValue("Bearer one", forHTTPHeaderField: "Authorization")
        downloader.download(request, heard)
        try await heard.wait()
        request.setValue("Bearer two", forHTTPHeaderField: "Authorization")
        downloader.download(request, heard)

        #expect(try await heard.wait(for: 2)[1].image != nil)
        #expect(site.server.requests.allSatisfy { $0.headers["Range"] == nil })
        #expect(downloader.partialByteCount == 10_000)
    }

    @Test func `nothing is kept with resuming turned off`() async throws {
        downloader.resumesDownloads = false
        serve("/a.png") { _, picture in .picture(picture) }

        let told = try await downloadTwice("/a.png")

        #expect(told.image != nil && site.server.requests.allSatisfy { $0.headers["Range"] == nil })
    }

    @Test func `a whole that is too long with its rest is refused`() async throws {
        serve("/a.png") { _, picture in Self.rest(picture, from: 10_000) }
        downloader.download(site.request("/a.png"), heard)
        try await heard.wait()
        downloader.maximumResponseSize = Int64(picture.count - 1)
        downloader.download(site.request("/a.png"), heard)
        #expect(try await heard.wait(for: 2)[1].code == URLError.Code.dataLengthExceedsMaximum.rawValue)
    }

    @Test func `parts are dropped when there are too many, the oldest first, and when memory is scarce`() throws {
        let pressure = MemoryPressure()
        let parts = PartialImages(memoryPressure: pressure)
        let url = site.server.url("/a.png")
        let fields = ["ETag": "\"one\"", "Content-Length": "99999999"]
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        )
        var part = try #require(PartialImage(response: response, to: URLRequest(url: url)))
        #expect(part.append(Data(count: 12 << 20)) && !part.append(Data(count: 5 << 20)))
        let keys = try (0..<3).map {
            try #require(ImageDownloadKey(request: site.request("/\($0)"), by: downloader.sessionManager))
        }

        for key in keys { parts.keep(part, for: key) }

        #expect(parts.byteCount == 24 << 20)
        #expect(parts.take(keys[0]) == nil && parts.take(keys[2]) != nil && parts.take(keys[2]) == nil)
        pressure.announce()
        #expect(parts.byteCount == 0 && parts.take(keys[1]) == nil)
    }
}
