public import AFNetworking
public import Foundation

/// Identifies one request for an image. Several requests may share a download.
public final class ImageDownloadReceipt: Sendable {
    /// The identifier that was given, or a random one.
    public let receiptID: UUID
    let download: ImageDownload
    let place: ImageDownload.Place

    init(receiptID: UUID, download: ImageDownload, place: ImageDownload.Place) {
        self.receiptID = receiptID
        self.download = download
        self.place = place
    }

    /// The task, which all requests for the download share. Cancelling it fails all of them;
    /// ``ImageDownloader/cancelTask(for:)`` cancels only one.
    public var task: URLSessionDataTask { download.task }
}
