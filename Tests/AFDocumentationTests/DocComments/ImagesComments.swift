import AFImages
import AFNetworking
import Foundation

@MainActor class Widget {
    var isTurning = false

    func redraw() {}
}

@MainActor final class Label {
    var text = ""
}

@MainActor final class Window {
    func setBusy(_ isBusy: Bool) {}
}

private struct Screen {
    func draw(_ pixels: UnsafeRawBufferPointer, width: Int, isPremultiplied: Bool) {}
}

final class Spinner: Widget, ActivityIndicating {
    let taskFollowing = TaskFollowing()
    func startAnimating() { isTurning = true }
    func stopAnimating() { isTurning = false }
}

final class Picture: Widget, ImageDisplaying {
    let imageLoading = ImageLoading()
    var image: Image? { didSet { redraw() } }
}

/// What doc comments of `AFImages` show. Compiled, and not run.
@MainActor private enum ImagesComments {
    static func downloader(_ request: URLRequest, _ view: Picture, _ label: Label) {
        let downloader = ImageDownloader.shared
        let receipt = downloader.downloadImage(for: request) { request, response, image in
            view.image = image
        } failure: { request, response, error in
            label.text = error.localizedDescription
        }
        _ = receipt
    }

    static func cache() {
        let cache = AutoPurgingImageCache(memoryCapacity: 50_000_000, preferredMemoryCapacity: 30_000_000)
        let downloader = ImageDownloader()
        downloader.imageCache = cache
    }

    static func file(_ data: Data) throws {
        let file = try EncodedImage(data)
        print(file.header.format, file.header.shownSize)
        let image = try file.decode()
        _ = image
    }

    static func image(_ data: Data, _ screen: Screen) throws {
        let image = try Image.decode(data, scale: 2)
        print(image.width, image.height, image.size, image.byteCount)
        image.withUnsafeBytes { screen.draw($0, width: image.width, isPremultiplied: image.alpha == .premultiplied) }
    }

    static func queue(_ data: Data) async throws {
        let image = try await ImageDecodingQueue.shared.decode(data, scale: 2)
        _ = image
    }

    static func indicator(_ window: Window) {
        let indicator = NetworkActivityIndicatorManager.shared
        indicator.setNetworkingActivityAction { isVisible in window.setBusy(isVisible) }
        indicator.isEnabled = true
    }

    static func spinner(_ spinner: Spinner, _ task: URLSessionTask) {
        spinner.setAnimatingWithState(of: task)
    }

    static func picture(_ picture: Picture, _ url: URL, _ grey: Image) {
        picture.setImage(with: url, placeholderImage: grey)
    }
}
