@testable import AFImages

/// The acceptance catalogue, 13.11, and the rules of section 11.3.
@Suite struct ImageDownloaderTests {
    private let site: ImageSite
    private let downloader: ImageDownloader
    private let heard = Heard<Told>()

    init() throws {
        site = try ImageSite()
        downloader = site.downloader
    }

    // MARK: - The shared one, and settings

    @Test func `13.11 there is a default instance`() {
        #expect(ImageDownloader.defaultInstance() === ImageDownloader.shared)
        #expect(ImageDownloader.shared.imageCache is AutoPurgingImageCache)
        #expect(ImageDownloader.shared.sessionManager.responseSerializer is ImageResponseSerializer)
        #expect(ImageDownloader.shared.downloadPrioritization == .fifo)
        #expect(ImageDownloader.shared.maximumActiveDownloads == 4)
    }

    @Test func `11.3 each default configuration has a cache of its own, of 20 MiB in memory and 150 on disk`() throws {
        let configuration = ImageDownloader.defaultURLSessionConfiguration()
        let cache = try #require(configuration.urlCache)

        #expect(cache.memoryCapacity == 20_971_520 && cache.diskCapacity == 157_286_400)
        #expect(cache !== ImageDownloader.defaultURLSessionConfiguration().urlCache)
        #expect(configuration.httpShouldSetCookies && !configuration.httpShouldUsePipelining)
        #expect(configuration.requestCachePolicy == .useProtocolCachePolicy && configuration.allowsCellularAccess)
        #expect(configuration.timeoutIntervalForRequest == 60)
    }

    @Test func `13.11 a downloader may be released while a download runs, which is still answered`() async throws {
        weak var forgotten: ImageDownloader?
        weak var session: HTTPSessionManager?
        do {
            let downloader = site.downloader
            (forgotten, session) = (downloader, downloader.sessionManager)
            for number in 0..<6 { downloader.download(site.request("/waiting/\(number)"), heard) }
            try await site.server.waitForRequests(4)
        }
        #expect(forgotten == nil)

        site.server.signal("go")
        try await heard.wait(for: 6)
        #expect(heard.all.allSatisfy { $0.image != nil })
        try await eventually("the end of the session") { session == nil }
    }

    // MARK: - Downloading

    @Test func `13.11 a request without a URL has no receipt, and fails`() async throws {
        var request = site.request("/image.png")
        request.url = nil

        #expect(downloader.download(request, heard) == nil)

        let told = try await heard.first
        #expect(told.code == URLError.badURL.rawValue && (told.error as NSError?)?.domain == NSURLErrorDomain)
        #expect(told.response == nil && told.isOnMain)
    }

    @Test func `13.11 a picture is downloaded, and arrives on the main queue`() async throws {
        downloader.download(site.request("/image.png"), heard)

        let told = try await heard.first
        #expect(told.error == nil && told.isOnMain)
        #expect(told.image?.width == 20 && told.image?.height == 10)
        #expect(told.response?.statusCode == 200)
    }

    @Test func `pictures share secured connections`() async throws {
        let authority = try CertificateAuthority()
        let site = try ImageSite(tls: ServerTLS(try authority.issue(for: "127.0.0.1")))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([authority.certificate])
        let downloader = ImageDownloader(sessionConfiguration: configuration)

        for number in 1...4 {
            downloader.download(site.request("/numbered/\(number)"), heard)
            try await heard.wait(for: number)
        }

        #expect(heard.all.allSatisfy { $0.image != nil })
        // The session knows whether a delegate has a method for challenges once it has called it.
        #expect(site.server.requests.map(\.connection).max() ?? 0 <= 2)
    }

    @Test func `13.11 a PNG and a JPEG at the same time`() async throws {
        downloader.download(site.request("/image.png"), heard)
        downloader.download(site.request("/image.jpg"), heard)

        let told = try await heard.wait(for: 2)
        #expect(told.allSatisfy { $0.image != nil && $0.response != nil })
        #expect(Set(told.map { $0.image?.format }) == [.png, .jpeg])
    }

    @Test func `13.11 two requests for one URL share a task, and get the same response`() async throws {
        let one = try #require(downloader.download(site.request("/waiting/1"), heard))
        let other = try #require(downloader.download(site.request("/waiting/1"), heard))
        #expect(one.task === other.task && one.receiptID != other.receiptID)

        site.server.signal("go")
        let told = try await heard.wait(for: 2)

        #expect(told[0].response === told[1].response && told[0].response != nil)
        #expect(told[0].image?.isSame(as: told[1].image) == true)
        #expect(site.server.requests.count == 1)
    }

    @Test func `13.11 a redirected image is downloaded`() async throws {
        downloader.download(site.request("/redirect-to?url=/image.png"), heard)

        let told = try await heard.first
        #expect(told.image != nil && told.response?.url?.path == "/image.png")
    }

    @Test func `13.11 a failure with the status 404 arrives on the main queue`() async throws {
        downloader.download(site.request("/missing.png"), heard)

        let told = try await heard.first
        #expect(told.image == nil && told.error != nil && told.isOnMain)
        #expect(told.response?.statusCode == 404)
    }

    @Test func `13.11 the receipt has the number that was passed in`() throws {
        let number = UUID()
        let receipt = downloader.downloadImage(
            for: site.request("/image.png"),
            withReceiptID: number,
            success: nil,
            failure: nil
        )
        #expect(receipt?.receiptID == number)
    }

    @Test func `13.11 four downloads run at once, and the others follow`() async throws {
        for number in 0..<10 { downloader.download(site.request("/waiting/\(number)"), heard) }

        try await site.server.waitForRequests(4)
        #expect(downloader.activeDownloads == 4)
        #expect(Set(site.server.requests.map(\.target)) == ["/waiting/0", "/waiting/1", "/waiting/2", "/waiting/3"])

        site.server.signal("go")
        try await heard.wait(for: 10)
        // In which order, the server's threads cannot tell; the next test does.
        #expect(Set(site.server.requests.map(\.target)) == Set((0..<10).map { "/waiting/\($0)" }))
        try await eventually("the end") { downloader.isIdle }
    }

    @Test(arguments: [ImageDownloadPrioritization.fifo, .lifo])
    func `11.3 the next download is the first one that was requested, or the last one`(
        order: ImageDownloadPrioritization
    ) async throws {
        let manager = HTTPSessionManager(baseURL: nil, sessionConfiguration: .ephemeral)
        manager.responseSerializer = ImageResponseSerializer()
        let downloader = ImageDownloader(
            sessionManager: manager,
            downloadPrioritization: order,
            maximumActiveDownloads: 1,
            imageCache: nil
        )
        downloader.download(site.request("/waiting/0"), heard)
        try await site.server.waitForRequests(1)
        for number in 1...5 { downloader.download(site.request("/numbered/\(number)"), heard) }

        site.server.signal("go")
        try await heard.wait(for: 6)

        let numbers = site.server.requests.dropFirst().map { $0.target.suffix(1) }
        #expect(numbers == (order == .fifo ? ["1", "2", "3", "4", "5"] : ["5", "4", "3", "2", "1"]))
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    // MARK: - The image cache

    @Test func `13.11 a second request gets the same image without a response, and no receipt`() async throws {
        downloader.download(site.request("/image.png"), heard)
        let first = try await heard.first

        #expect(downloader.download(site.request("/image.png"), heard) == nil)

        let second = try await heard.wait(for: 2)[1]
        #expect(second.response == nil && second.isOnMain)
        #expect(second.image?.isSame(as: first.image) == true)
        #expect(site.requests(for: "/image.png") == 1)
    }

    @Test func `13.11 a cache that keeps is asked, and added to`() async throws {
        let cache = WatchedCache(keeps: true)
        downloader.imageCache = cache
        downloader.download(site.request("/image.png"), heard)
        try await heard.wait(for: 1)
        downloader.download(site.request("/image.png"), heard)
        try await heard.wait(for: 2)

        #expect(cache.timesAsked == 1 && cache.timesAdded == 1)
        #expect(heard.all[1].response == nil)
    }

    @Test func `13.11 a cache that does not keep is asked each time, and never added to`() async throws {
        let cache = WatchedCache(keeps: false)
        downloader.imageCache = cache
        downloader.download(site.request("/image.png"), heard)
        try await heard.wait(for: 1)
        downloader.download(site.request("/image.png"), heard)
        let told = try await heard.wait(for: 2)

        #expect(cache.timesAsked == 2 && cache.timesAdded == 0)
        #expect(told[1].response != nil && told[1].image?.isSame(as: told[0].image) == false)
    }

    @Test func `13.11 a request that ignores local caches is loaded each time`() async throws {
        var request = site.request("/image.png")
        request.cachePolicy = .reloadIgnoringLocalCacheData

        #expect(downloader.download(request, heard) != nil)
        try await heard.wait(for: 1)
        #expect(downloader.download(request, heard) != nil)
        let told = try await heard.wait(for: 2)

        #expect(told.allSatisfy { $0.response != nil })
        #expect(told[0].image?.isSame(as: told[1].image) == false)
        #expect(site.requests(for: "/image.png") == 2)
    }

    // MARK: - Cancelling

    @Test func `13.11 a receipt that is cancelled fails at once, and the task with it`() async throws {
        let receipt = try #require(downloader.download(site.request("/waiting/1"), heard))
        try await site.server.waitForRequests(1)

        downloader.cancelTask(for: receipt)
        downloader.cancelTask(for: receipt)

        let told = try await heard.first
        #expect(told.code == URLError.cancelled.rawValue && told.response == nil && told.isOnMain)
        let reason = (told.error as NSError?)?.localizedFailureReason
        #expect(reason == "ImageDownloader cancelled URL request: \(site.server.url("/waiting/1"))")
        try await eventually("the end of the task") { receipt.task.state == .completed }
        try await eventually("the end of the download") { downloader.isIdle }
        #expect(heard.all.count == 1)
    }

    @Test func `13.11 of two requests the second is cancelled, and the first gets the image`() async throws {
        downloader.download(site.request("/waiting/1"), heard)
        let cancelled = Heard<Told>()
        let receipt = try #require(downloader.download(site.request("/waiting/1"), cancelled))
        try await site.server.waitForRequests(1)

        downloader.cancelTask(for: receipt)
        #expect(try await cancelled.first.code == URLError.cancelled.rawValue)
        site.server.signal("go")

        #expect(try await heard.first.image != nil)
        #expect(cancelled.all.count == 1)
    }

    @Test func `13.11 five that are cancelled at once, and asked for again, fail and then succeed`() async throws {
        let again = Heard<Told>()
        for number in 0..<5 {
            let receipt = try #require(downloader.download(site.request("/waiting/\(number)"), heard))
            downloader.cancelTask(for: receipt)
            downloader.download(site.request("/waiting/\(number)"), again)
        }

        let failed = try await heard.wait(for: 5)
        site.server.signal("go")
        let succeeded = try await again.wait(for: 5)
        #expect(failed.allSatisfy { $0.code == URLError.cancelled.rawValue })
        #expect(succeeded.allSatisfy { $0.image != nil })
        try await eventually("the end") { downloader.isIdle }
    }

    @Test func `13.11 a cancelled image is not in the cache`() async throws {
        let receipt = try #require(downloader.download(site.request("/waiting/1"), heard))
        try await site.server.waitForRequests(1)
        downloader.cancelTask(for: receipt)
        site.server.signal("go")
        try await eventually("the end of the download") { downloader.isIdle }

        let cache = try #require(downloader.imageCache)
        #expect(cache.image(for: site.request("/waiting/1"), withAdditionalIdentifier: nil) == nil)
    }

    @Test func `11.3 cancelling after the end does nothing`() async throws {
        let receipt = try #require(downloader.download(site.request("/image.png"), heard))
        try await heard.wait()
        downloader.cancelTask(for: receipt)
        downloader.download(site.request("/image.jpg"), heard)
        let told = try await heard.wait(for: 2)
        #expect(told.allSatisfy { $0.error == nil })
    }

    // MARK: - Awaiting

    @Test func `async code gets an image, which is in the cache for the next request`() async throws {
        let first = try await downloader.image(for: site.request("/image.png"))
        let second = try await downloader.image(for: site.request("/image.png"))

        #expect(first.response != nil && second.response == nil)
        #expect(try await downloader.image(from: site.server.url("/image.png")).isSame(as: first.image))
        await #expect(throws: (any Error).self) { try await downloader.image(for: site.request("/missing.png")) }
        #expect(site.server.requests.count == 2)
        let asked = try await downloader.image(from: site.server.url("/numbered/1"))
        #expect(asked.width == 20 && site.server.requests.last?.headers["Accept"] == "image/*")
    }

    @Test func `cancelling the Swift task cancels its request, and no other`() async throws {
        downloader.download(site.request("/waiting/1"), heard)
        let (downloader, request) = (downloader, site.request("/waiting/1"))
        let waiting = Task { try await downloader.image(for: request) }
        try await site.server.waitForRequests(1)
        waiting.cancel()

        let error = await #expect(throws: URLError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        site.server.signal("go")
        #expect(try await heard.first.image != nil)
    }
}

extension Image {
    /// Whether they share their pixels.
    func isSame(as other: Image?) -> Bool {
        guard let other else { return false }
        return withUnsafeBytes { one in other.withUnsafeBytes { one.baseAddress == $0.baseAddress } }
    }
}
