@testable import AFImages

/// The acceptance catalogue, 13.12, and the rules of section 11.4.
@MainActor @Suite struct ImageDisplayingTests {
    private let site: ImageSite
    private let downloader: ImageDownloader
    private let view: PictureView
    private let heard = Heard<Told>()
    private let placeholder = Pictures.plain(width: 1, height: 1)

    init() throws {
        site = try ImageSite()
        downloader = site.downloader
        view = PictureView(downloader)
    }

    private func set(_ request: URLRequest, placeholder: Image? = nil) {
        view.setImage(with: request, placeholderImage: placeholder, success: heard.success, failure: heard.failure)
    }

    @Test func `13.12 an image appears, after its placeholder`() async throws {
        view.setImage(with: site.server.url("/image.png"), placeholderImage: placeholder)
        #expect(view.shown == [1] && view.imageLoading.activeReceipt != nil)

        try await eventually("the image") { view.shown == [1, 20] }
        #expect(view.imageLoading.activeReceipt == nil)
        #expect(site.server.requests.first?.headers["Accept"] == "image/*")
    }

    @Test func `13.12 the same URL again, while it loads, changes nothing`() async throws {
        view.setImage(with: site.server.url("/waiting/1"))
        let receipt = try #require(view.imageLoading.activeReceipt)
        try await site.server.waitForRequests(1)
        view.setImage(with: site.server.url("/waiting/1"), placeholderImage: placeholder)
        set(site.request("/waiting/1"))
        #expect(view.imageLoading.activeReceipt === receipt)

        site.server.signal("go")
        try await eventually("the image") { view.shown == [20] }
        #expect(heard.all.isEmpty && site.server.requests.count == 1)
    }

    @Test func `13.12 the status 404 keeps the placeholder, and is a failure`() async throws {
        set(site.request("/missing.png"), placeholder: placeholder)

        let told = try await heard.first
        #expect(told.error != nil && told.response?.statusCode == 404 && told.isOnMain)
        #expect(view.shown == [1] && view.imageLoading.activeReceipt == nil)
    }

    @Test func `13.12 an image in the cache is shown, or handed out, before the call returns`() throws {
        let image = Pictures.plain(width: 7, height: 7)
        let request = site.request("/image.png")
        downloader.imageCache?.add(image, for: request, withAdditionalIdentifier: nil)

        set(request, placeholder: placeholder)
        let told = try #require(heard.all.first)
        #expect(told.image?.isSame(as: image) == true && told.response == nil && told.request == request)
        #expect(view.shown == [])

        // Whatever the policy, and by a request that asks for images.
        var reloading = request
        reloading.cachePolicy = .reloadIgnoringLocalCacheData
        view.setImage(with: reloading, placeholderImage: placeholder, success: nil, failure: nil)
        view.setImage(with: site.server.url("/image.png"))
        #expect(view.shown == [7, 7] && site.server.requests.isEmpty)
    }

    @Test func `13.12 an image that is set, cancelled and set again appears`() async throws {
        set(site.request("/waiting/1"))
        view.cancelImageDownloadTask()
        #expect(view.imageLoading.activeReceipt == nil)
        set(site.request("/waiting/1"))
        try await site.server.waitForRequests(1)
        site.server.signal("go")

        let told = try await heard.first
        #expect(told.image != nil)
        await mainQueueSettled()
        #expect(heard.all.count == 1)
    }

    @Test func `13.12 a request without a URL shows the placeholder, and fails, before the call returns`() throws {
        var request = site.request("/image.png")
        request.url = nil

        set(request, placeholder: placeholder)
        let told = try #require(heard.all.first)
        #expect(told.request == request && told.response == nil && told.code == URLError.badURL.rawValue)
        #expect(view.shown == [1])

        view.setImage(with: request, placeholderImage: nil, success: nil, failure: nil)
        #expect(view.shown == [1, nil])
    }

    @Test func `13.12 2.x a cache of the program's own answers`() throws {
        final class Only: ImageRequestCache {
            let image = Pictures.plain(width: 9, height: 9)
            func add(_ image: Image, withIdentifier identifier: String) {}
            func removeImage(withIdentifier identifier: String) -> Bool { false }
            func removeAllImages() -> Bool { false }
            func image(withIdentifier identifier: String) -> Image? { nil }
            func add(_ image: Image, for request: URLRequest, withAdditionalIdentifier identifier: String?) {}
            func removeImage(for request: URLRequest, withAdditionalIdentifier identifier: String?) -> Bool { false }
            func image(for request: URLRequest, withAdditionalIdentifier identifier: String?) -> Image? { image }
        }
        let cache = Only()
        downloader.imageCache = cache
        let request = site.request("/image.png")

        set(request)

        let told = try #require(heard.all.first)
        #expect(told.request == request && told.response == nil && told.image?.isSame(as: cache.image) == true)
    }

    // MARK: - Section 11.4

    @Test func `T-IMG-15 the image that was asked for last is shown, however late the others come`() async throws {
        set(site.request("/waiting/1"), placeholder: placeholder)
        set(site.request("/waiting/2"))
        view.setImage(with: site.server.url("/image.jpg"))
        try await eventually("the image") { view.shown == [1, 13] }
        site.server.signal("go")
        try await eventually("the end") { downloader.isIdle }
        await mainQueueSettled()

        #expect(view.image?.format == .jpeg && view.shown.count == 2)
        // A download that was replaced makes no call.
        #expect(heard.all.isEmpty)
    }

    @Test func `11.4 a request without a URL is the last one, too`() async throws {
        view.setImage(with: site.server.url("/waiting/1"))
        var request = site.request("/image.png")
        request.url = nil
        set(request, placeholder: placeholder)
        site.server.signal("go")
        try await eventually("the end") { downloader.isIdle }
        await mainQueueSettled()

        #expect(view.shown == [1])
    }

    @Test func `11.4 with a success closure, the view shows no image itself`() async throws {
        set(site.request("/image.png"), placeholder: placeholder)
        #expect(try await heard.first.image != nil)
        #expect(view.shown == [1] && view.imageLoading.activeReceipt == nil)
    }

    @Test func `11.4 an image that the downloader finds only when it is asked is shown, too`() async throws {
        /// Finds nothing the first time.
        final class Late: AutoPurgingImageCache, @unchecked Sendable {
            let asked = Heard<Int>()
            override func image(for request: URLRequest, withAdditionalIdentifier identifier: String?) -> Image? {
                asked.add(1)
                return asked.all.count == 1
                    ? nil : super.image(for: request, withAdditionalIdentifier: identifier)
            }
        }
        let cache = Late(memoryCapacity: 1 << 20, preferredMemoryCapacity: 1 << 20, memoryPressure: nil)
        cache.add(Pictures.plain(width: 7, height: 7), for: site.request("/image.png"), withAdditionalIdentifier: nil)
        downloader.imageCache = cache

        view.setImage(with: site.request("/image.png"), placeholderImage: nil, success: nil, failure: nil)

        try await eventually("the image") { view.shown == [7] }
        #expect(site.server.requests.isEmpty)
    }

    @Test func `a released view is dropped, and its download continues for the cache`() async throws {
        weak var forgotten: PictureView?
        do {
            let view = PictureView(downloader)
            forgotten = view
            view.setImage(with: site.server.url("/waiting/1"))
        }
        #expect(forgotten == nil)
        site.server.signal("go")
        try await eventually("the end") { downloader.isIdle }
        #expect(downloader.imageCache?.image(for: site.request("/waiting/1"), withAdditionalIdentifier: nil) != nil)
    }

    @Test func `11.4 views share a downloader, unless they have their own`() {
        final class Shared: ImageDisplaying {
            let imageLoading = ImageLoading()
            var image: Image?
        }
        #expect(Shared.sharedImageDownloader === ImageDownloader.shared)
        #expect(ImageLoading.sharedImageDownloader === ImageDownloader.shared)

        let view = Shared()
        ImageLoading.sharedImageDownloader = downloader
        defer { ImageLoading.sharedImageDownloader = .shared }
        view.setImage(with: site.server.url("/waiting/1"))
        #expect(Shared.sharedImageDownloader === downloader)
        #expect(view.imageLoading.activeReceipt?.task.session === downloader.sessionManager.session)
        view.cancelImageDownloadTask()
    }

    // MARK: - Buttons

    @Test func `13.12 a background image appears`() async throws {
        let button = Button(downloader)
        button.setBackgroundImage(for: .normal, with: site.server.url("/image.png"), placeholderImage: placeholder)
        #expect(button.backgrounds[.normal]?.width == 1)
        try await eventually("the image") { button.backgrounds[.normal]?.width == 20 }
        #expect(button.images.isEmpty)
    }

    @Test(arguments: [false, true])
    func `13.12 an image or background image that is set, cancelled and set again appears`(
        isBackground: Bool
    ) async throws {
        let button = Button(downloader)
        let url = site.server.url("/waiting/1")
        func set() {
            if isBackground {
                button.setBackgroundImage(for: .selected, with: url)
            } else {
                button.setImage(for: .selected, with: url)
            }
        }
        set()
        button.cancelImageDownloadTask(for: isBackground ? .normal : .selected)
        button.cancelBackgroundImageDownloadTask(for: isBackground ? .selected : .normal)
        set()
        try await site.server.waitForRequests(1)
        site.server.signal("go")

        try await eventually("the image") { (isBackground ? button.backgrounds : button.images)[.selected] != nil }
        #expect(button.images.count + button.backgrounds.count == 1)
    }

    @Test func `11.5 eight places load independently, and combined states share that of the normal one`()
        async throws
    {
        let button = Button(downloader)
        downloader.maximumActiveDownloads = 9
        let states: [ControlState] = [.normal, .highlighted, .selected, .disabled]
        for (number, state) in states.enumerated() {
            button.setImage(for: state, with: site.server.url("/waiting/\(number)"))
            button.setBackgroundImage(for: state, with: site.server.url("/waiting/\(number + 10)"))
        }
        try await site.server.waitForRequests(6)
        button.cancelImageDownloadTask(for: .highlighted)
        button.cancelBackgroundImageDownloadTask(for: [.selected, .disabled])
        site.server.signal("go")
        try await eventually("the images") { button.images.count == 3 && button.backgrounds.count == 3 }

        #expect(button.images[.highlighted] == nil && button.backgrounds[.normal] == nil)
    }

    @Test func `11.5 16 a request without a URL fails`() throws {
        let button = Button(downloader)
        var request = site.request("/image.png")
        request.url = nil
        button.setImage(
            for: .normal,
            with: request,
            placeholderImage: placeholder,
            success: nil,
            failure: heard.failure
        )
        #expect(heard.all.first?.code == URLError.badURL.rawValue && button.images[.normal]?.width == 1)
    }
}
