public import AFNetworking
public import Foundation

/// One download: its task, and what stands between that and its manager.
final class ImageDownload: Sendable {
    typealias Place = ImageDownloadMachine<ImageRequestKey, ImageWaiter>.Place

    struct Attempt: Sendable {
        let task: URLSessionDataTask
        let listener: ImageTaskListener
    }

    let key: ImageRequestKey
    /// As it was made first, whatever was added to go on with a part.
    let request: URLRequest
    let manager: HTTPSessionManager
    let cache: (any ImageRequestCache)?
    /// Of the cache when the download began.
    private let generation: Int
    private let attempt: Lock<Attempt>

    init(
        _ key: ImageRequestKey,
        _ request: URLRequest,
        _ manager: HTTPSessionManager,
        _ cache: (any ImageRequestCache)?,
        _ attempt: Attempt
    ) {
        self.key = key
        self.request = request
        self.manager = manager
        self.cache = cache
        generation = cache?.generation ?? 0
        self.attempt = Lock(attempt)
    }

    var task: URLSessionDataTask { attempt.withLock { $0.task } }

    var listener: ImageTaskListener { attempt.withLock { $0.listener } }

    /// Once more, from the beginning.
    func begin(again attempt: Attempt) {
        self.attempt.withLock { $0 = attempt }
        attempt.task.resume()
    }

    /// Puts the image into the cache, unless that was cleared since the download began.
    func keep(_ image: Image) {
        guard let cache, key.isRepeatable, cache.shouldCache(image, for: request, withAdditionalIdentifier: nil),
            cache.generation == generation
        else { return }
        cache.add(image, for: request, withAdditionalIdentifier: nil)
    }
}

/// How a task has ended.
struct ImageTaskEnding: Sendable {
    let response: URLResponse?
    let image: Image?
    let error: (any Error)?

    init(_ response: URLResponse?, _ object: Any?, _ error: (any Error)?, of request: URLRequest) {
        self.response = response
        do {
            // From a serializer that leaves the decoding to others.
            image = try object as? Image ?? (error == nil ? (object as? EncodedImage)?.decode() : nil)
            self.error = error ?? (image == nil ? ImageDownloadFailure.noImage(object, request) : nil)
        } catch {
            (image, self.error) = (nil, error)
        }
    }

    /// What those who wait are told.
    func result(of download: ImageDownload) -> Result<DownloadedImage, ImageDownloadFailure> {
        if let error = download.listener.refusal ?? error {
            return .failure(ImageDownloadFailure(error: error, request: download.request, response: response))
        }
        guard let image else { return .failure(.cancelled(download.request)) }
        return .success(DownloadedImage(image: image, request: download.request, response: response))
    }
}

/// Somebody who waits for an image.
struct ImageWaiter: Sendable {
    /// Called once.
    let answer: @Sendable (Result<DownloadedImage, ImageDownloadFailure>) -> Void
}

/// Stands for somebody who waits for an image. Others may wait for the same download.
public final class ImageDownloadReceipt: Sendable {
    /// The number that was given, or one that was made up.
    public let receiptID: UUID
    let download: ImageDownload
    let place: ImageDownload.Place

    init(receiptID: UUID, download: ImageDownload, place: ImageDownload.Place) {
        self.receiptID = receiptID
        self.download = download
        self.place = place
    }

    /// The task, which is the same one for all who wait for the download. Cancelling it fails all of them;
    /// ``ImageDownloader/cancelTask(for:)`` takes away only one.
    public var task: URLSessionDataTask { download.task }
}
