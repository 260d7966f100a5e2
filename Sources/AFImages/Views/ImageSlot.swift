import AFNetworking
import Foundation

/// One place for an image, and what it waits for: of several downloads only the last one is shown.
@MainActor final class ImageSlot {
    struct Order {
        let request: URLRequest
        let placeholder: Image?
        let success: ImageDownloader.Success?
        let failure: ImageDownloader.Failure?
    }

    private struct Waiting {
        let id: UUID
        let downloader: ImageDownloader
        /// Nil once the downloader has found the image in its cache: the answer is on its way.
        var receipt: ImageDownloadReceipt?
    }

    private var waiting: Waiting?

    nonisolated init() {}

    var receipt: ImageDownloadReceipt? { waiting?.receipt }

    /// - Parameter show: Puts an image, or none, into its place.
    func load(
        _ order: Order,
        by downloader: ImageDownloader,
        show: @escaping @MainActor @Sendable (Image?) -> Void
    ) {
        let request = order.request
        guard let url = request.url else {
            // Otherwise the former download would replace the placeholder when it ends.
            cancel()
            show(order.placeholder)
            order.failure?(request, nil, ImageDownloadFailure.withoutURL(request).error)
            return
        }
        if receipt?.task.originalRequest?.url?.absoluteString == url.absoluteString { return }
        cancel()
        if let image = downloader.imageInMemory(for: request) {
            return finish(order.success, request: request, response: nil, image: image, show: show)
        }
        if let placeholder = order.placeholder { show(placeholder) }
        download(order, by: downloader, show: show)
    }

    private func download(
        _ order: Order,
        by downloader: ImageDownloader,
        show: @escaping @MainActor @Sendable (Image?) -> Void
    ) {
        let id = UUID()
        // Set before the call: the answer counts even without a receipt.
        waiting = Waiting(id: id, downloader: downloader)
        let receipt = downloader.downloadImage(for: order.request, withReceiptID: id) { [weak self] in
            guard let self, take(id) else { return }
            finish(order.success, request: $0, response: $1, image: $2, show: show)
        } failure: { [weak self] in
            guard let self, take(id) else { return }
            order.failure?($0, $1, $2)
        }
        if waiting?.id == id { waiting?.receipt = receipt }
    }

    private func finish(
        _ success: ImageDownloader.Success?,
        request: URLRequest,
        response: HTTPURLResponse?,
        image: Image,
        show: @MainActor (Image?) -> Void
    ) {
        if let success { success(request, response, image) } else { show(image) }
    }

    /// Stops waiting for this download. False if the slot does not wait for it.
    private func take(_ id: UUID) -> Bool {
        guard waiting?.id == id else { return false }
        waiting = nil
        return true
    }

    /// Stops waiting, and cancels the request.
    func cancel() {
        guard let former = waiting else { return }
        waiting = nil
        if let receipt = former.receipt { former.downloader.cancelTask(for: receipt) }
    }
}
