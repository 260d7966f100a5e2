public import AFNetworking
public import Foundation

/// Stands for somebody who waits for an image. Others may wait for the same download.
public final class ImageDownloadReceipt: Sendable {
    /// The number that was given, or one that was made up.
    public let receiptID: UUID
    let download: ImageDownload
    let place: ImageDownloader.Place

    init(receiptID: UUID, download: ImageDownload, place: ImageDownloader.Place) {
        self.receiptID = receiptID
        self.download = download
        self.place = place
    }

    /// The task, which is the same one for all who wait for the download. Cancelling it fails all of them;
    /// ``ImageDownloader/cancelTask(for:)`` takes away only one.
    public var task: URLSessionDataTask { download.task }
}
