/// Code with the names of Apple's platforms.
@MainActor @Suite struct OldNameTests {
    private let site: ImageSite
    private let downloader: AFImageDownloader

    init() throws {
        site = try ImageSite()
        downloader = AFImageDownloader(sessionConfiguration: .ephemeral)
        downloader.downloadPrioritization = AFImageDownloadPrioritization.LIFO
    }

    @Test func `a cell of a list loads its picture`() async throws {
        let cell = PictureView(downloader)
        let heard = Heard<Told>()

        cell.setImageWith(site.server.url("/image.png"))
        try await eventually("the image") { cell.image?.width == 20 }
        cell.setImageWith(site.server.url("/image.jpg"), placeholderImage: Pictures.plain(width: 1, height: 1))
        try await eventually("the image") { cell.image?.width == 13 }
        cell.setImageWith(
            site.request("/image.png"),
            placeholderImage: nil,
            success: { request, response, image in heard.add(Told(request: request, response: response, image: image))
            },
            failure: nil
        )
        #expect(heard.all.first?.image?.width == 20)
        cell.setImageWith(site.server.url("/waiting/1"))
        cell.cancelImageRequestOperation()
        #expect(cell.imageLoading.activeReceipt == nil)
    }

    @Test func `a picture is loaded and cancelled by its receipt`() async throws {
        let heard = Heard<Told>()
        let receipt: AFImageDownloadReceipt? = downloader.downloadImage(
            for: site.request("/waiting/1"),
            success: heard.success,
            failure: heard.failure
        )
        downloader.cancelTask(for: try #require(receipt))
        #expect(try await heard.first.code == NSURLErrorCancelled)
    }

    @Test func `the cache of all views can be set, and becomes the standard one again`() {
        final class Shared: ImageDisplaying {
            let imageLoading = ImageLoading()
            var image: Image?
        }
        let cache = AFAutoPurgingImageCache(memoryCapacity: 1 << 20, preferredMemoryCapacity: 1 << 19)
        Shared.setSharedImageCache(cache)
        #expect(Shared.sharedImageCache() === cache)

        Shared.setSharedImageCache(nil)
        let standard = Shared.sharedImageCache()
        #expect(standard !== cache && standard is AFAutoPurgingImageCache)
    }
}
