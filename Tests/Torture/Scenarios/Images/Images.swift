import AFBase
import AFImages
import AFLoop
import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Scenario {
    /// Pictures that are fetched, decoded and kept.
    static let images = Pictures.downloaded + Pictures.decoded
}

private enum Pictures {
    // MARK: - Pictures

    /// Noise, which keeps its file from becoming small.
    private static let pixels: [UInt8] = {
        var state: UInt64 = 7
        return (0..<(64 * 48 * 4)).map { index in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: state >> 33)
        }
    }()

    private static var picture: Image {
        get throws { try Image(width: 64, height: 48, pixels: pixels, alpha: .opaque) }
    }

    private static func isPicture(_ image: Image) -> Bool {
        image.width == 64 && image.height == 48 && image.withUnsafeBytes { $0.elementsEqual(pixels) }
    }

    private static func server(on stage: Stage) throws -> TestServer {
        let file = try picture.pngData()
        return try stage.server { server in
            server.route("GET", "/picture", ServerReply.data(file, type: "image/png"))
            server.route("GET", "/cut", ServerReply.data(file.prefix(file.count / 2), type: "image/png"))
        }
    }

    private static func downloader(
        _ server: TestServer,
        on stage: Stage,
        cache: (any ImageRequestCache)? = nil
    ) -> ImageDownloader {
        let manager = stage.manager(at: server.url("/"), again: server.url("/again"))
        manager.responseSerializer = ImageResponseSerializer()
        return ImageDownloader(
            sessionManager: manager,
            downloadPrioritization: .fifo,
            maximumActiveDownloads: 4,
            imageCache: cache
        )
    }

    private static var imageCache: AutoPurgingImageCache {
        AutoPurgingImageCache(memoryCapacity: 1 << 20, preferredMemoryCapacity: 1 << 19, memoryPressure: nil)
    }

    /// Downloads a picture that must be the right one.
    @discardableResult
    private static func download(
        _ url: URL,
        with downloader: ImageDownloader,
        on stage: Stage
    ) async -> Image? {
        await stage.step("picture") {
            let image = try await downloader.image(for: URLRequest(url: url)).image
            stage.demand(isPicture(image), "another picture")
            return image
        }
    }

    // MARK: - Downloads

    static let downloaded: [Scenario] = [
        Scenario(.images, "picture-downloaded") { stage in
            let server = try server(on: stage)
            await download(server.url("/picture"), with: downloader(server, on: stage), on: stage)
        },
        // Both wait for the same download.
        Scenario(.images, "two-wait-for-one", mayFail: 2) { stage in
            let server = try server(on: stage)
            let downloader = downloader(server, on: stage)
            async let first = download(server.url("/picture"), with: downloader, on: stage)
            async let second = download(server.url("/picture"), with: downloader, on: stage)
            let images = await [first, second]
            stage.demand(stage.point != nil || images.allSatisfy { $0 != nil }, "one is missing")
        },
        Scenario(.images, "kept-in-memory") { stage in
            let server = try server(on: stage)
            let cache = imageCache
            let downloader = downloader(server, on: stage, cache: cache)
            let first = await download(server.url("/picture"), with: downloader, on: stage)
            let kept = cache.image(for: URLRequest(url: server.url("/picture")), withAdditionalIdentifier: nil)
            stage.demand((kept != nil) == (first != nil), "kept although it failed, or not although it did not")
            let asked = server.requests.count
            await download(server.url("/picture"), with: downloader, on: stage)
            if first != nil { stage.demand(server.requests.count == asked, "the server was asked again") }
            cache.removeAllImages()
            stage.demand(cache.memoryUsage == 0, "\(cache.memoryUsage) bytes are still in use")
        },
        Scenario(.images, "broken-picture") { stage in
            let server = try server(on: stage)
            let cache = imageCache
            let downloader = downloader(server, on: stage, cache: cache)
            do {
                _ = try await downloader.image(for: URLRequest(url: server.url("/cut")))
                stage.find("half a picture is taken for a whole one")
            } catch {
                if let error = error as? URLError { stage.note(error, in: "half a picture") }
            }
            stage.demand(cache.memoryUsage == 0, "half a picture is kept")
            await download(server.url("/picture"), with: downloader, on: stage)
        },
        Scenario(.images, "gone-on-with") { stage in
            let file = try picture.pngData()
            let isFirst = Lock(true)
            let server = try stage.server { server in
                server.route("GET", "/picture") { request in
                    var whole = ServerReply.file(file, entityTag: "\"1\"", to: request)
                    whole.headers["Content-Type"] = "image/png"
                    let isCut = isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }
                    return isCut ? whole.closing(after: file.count / 2) : whole
                }
            }
            let downloader = downloader(server, on: stage)
            do {
                _ = try await downloader.image(for: URLRequest(url: server.url("/picture")))
                stage.find("half a picture is taken for a whole one")
            } catch {
                stage.demand(error is URLError, "\(error)")
            }
            await download(server.url("/picture"), with: downloader, on: stage)
            guard stage.point == nil else { return }
            stage.demand(server.requests.last?.headers["Range"] != nil, "the whole was asked for again")
        },
        Scenario(.images, "kept-on-disk") { stage in
            let file = try picture.pngData()
            let server = try stage.server { server in
                let reply = ServerReply.data(file, type: "image/png").header("Cache-Control", "max-age=600")
                server.route("GET", "/picture", reply)
            }
            for _ in 1...2 {
                let cache = URLCache(
                    memoryCapacity: 0,
                    diskCapacity: 4 << 20,
                    directory: stage.folder.appending(path: "cache")
                )
                stage.bringUpToDate { _ = cache.currentDiskUsage }
                let manager = stage.manager(at: server.url("/"), again: server.url("/again")) { $0.urlCache = cache }
                manager.responseSerializer = ImageResponseSerializer()
                let downloader = ImageDownloader(
                    sessionManager: manager,
                    downloadPrioritization: .lifo,
                    maximumActiveDownloads: 1,
                    imageCache: nil
                )
                await download(server.url("/picture"), with: downloader, on: stage)
                // It may be kept a moment later.
                await withCheckedContinuation { continuation in
                    NetworkThread.loop.enqueue { continuation.resume() }
                }
                _ = cache.currentDiskUsage
            }
            let asked = server.requests.count { $0.path == "/picture" }
            stage.demand(stage.point != nil || asked == 1, "\(asked) requests, not one")
        },
    ]

    // MARK: - Formats

    static let decoded: [Scenario] = [
        Scenario(.images, "each-format-by-a-manager", mayFail: 2) { stage in
            let files = try SampleFiles.all()
            let server = try stage.server { server in
                for file in files { server.route("GET", "/\(file.name)", .data(file.data, type: file.type)) }
            }
            let manager = stage.manager(at: server.url("/"), again: server.url("/again"))
            manager.responseSerializer = ImageResponseSerializer()
            for file in files {
                await stage.call(file.name) { () async throws(RequestFailure) in
                    let image = try await manager.get(file.name).object as? Image
                    stage.demand(image?.width == file.width && image?.height == file.height, "another picture")
                }
            }
        },
        Scenario(.images, "frames-of-an-animation") { stage in
            let file = SampleFiles.animation
            let server = try stage.server { $0.route("GET", "/film", .data(file, type: "image/gif")) }
            let session = stage.session(again: server.url("/again"))
            guard let data = await stage.load(server.url("/film"), in: session) else { return }
            let frames = try EncodedImage(data).decodeFrames()
            let greys = frames.map { frame in frame.image.withUnsafeBytes { $0[0] } }
            stage.demand(greys == [6, 18, 40], "the frames are \(greys)")
            stage.demand(frames.map(\.delay) == [.milliseconds(50), .milliseconds(90), .milliseconds(200)], "delays")
        },
    ]
}
