import AFImages
import Foundation
import Testing

/// The snippets about downloads and views of the article about images.
@MainActor @Suite struct DownloadsArticleTests {
    private let site: ImageSite

    final class PictureView: ImageDisplaying {
        let imageLoading = ImageLoading()
        var image: Image?
    }

    init() throws {
        site = try ImageSite()
    }

    /// Instead of the shared one, whose files all programs of the user share.
    private struct ImageDownloader {
        static let shared = AFImageDownloader(sessionConfiguration: .ephemeral)
    }

    @Test func `async code gets an image, and cancels one`() async throws {
        let (url, request) = (site.server.url("/image.png"), site.request("/waiting/1"))
        let told = Heard<String>()
        func note(_ image: Image, isFromMemory: Bool) { told.add("image") }
        func report(_ error: any Error) { told.add("error") }

        let downloader = ImageDownloader.shared
        let image = try await downloader.image(from: url)
        let receipt = downloader.downloadImage(for: request) { _, response, image in
            note(image, isFromMemory: response == nil)
        } failure: { _, _, error in
            report(error)
        }
        if let receipt { downloader.cancelTask(for: receipt) }

        #expect(image.width == 20)
        #expect(try await told.first == "error")
    }

    @Test func `a view loads an image`() async throws {
        let view = PictureView()
        view.imageLoading.imageDownloader = ImageDownloader.shared
        let (url, placeholder) = (site.server.url("/image.png"), Pictures.plain(width: 1, height: 1))

        view.setImage(with: url, placeholderImage: placeholder)
        #expect(view.image == placeholder)
        view.cancelImageDownloadTask()
        #expect(view.imageLoading.activeReceipt == nil)
    }
}
