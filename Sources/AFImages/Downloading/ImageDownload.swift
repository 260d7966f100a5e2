import AFBase
import AFNetworking
import Foundation

/// One download: its task and the task's delegate.
final class ImageDownload: Sendable {
    typealias Place = ImageDownloadMachine<ImageDownloadKey, ImageWaiter>.Place

    struct Attempt: Sendable {
        let task: URLSessionDataTask
        let delegate: ImageTaskDelegate
        /// How the attempt before it ended, if this one only looks whether a response is stored.
        var formerEnding: ImageTaskEnding?
    }

    let key: ImageDownloadKey
    /// The first request, without the fields that ask for the rest.
    let request: URLRequest
    let manager: HTTPSessionManager
    let cache: (any ImageRequestCache)?
    /// The generation of the cache when the download began.
    private let generation: Int
    private let attempt: Lock<Attempt>

    init(
        key: ImageDownloadKey,
        request: URLRequest,
        manager: HTTPSessionManager,
        cache: (any ImageRequestCache)?,
        attempt: Attempt
    ) {
        self.key = key
        self.request = request
        self.manager = manager
        self.cache = cache
        generation = cache?.generation ?? 0
        self.attempt = Lock(attempt)
    }

    var task: URLSessionDataTask { attempt.withLock { $0.task } }

    var delegate: ImageTaskDelegate { attempt.withLock { $0.delegate } }

    var formerEnding: ImageTaskEnding? { attempt.withLock { $0.formerEnding } }

    /// Starts another attempt, from the beginning.
    func begin(again attempt: Attempt, after ending: ImageTaskEnding?) {
        var attempt = attempt
        attempt.formerEnding = ending
        self.attempt.withLock { [attempt] in $0 = attempt }
        attempt.task.resume()
    }

    /// Puts the image into the cache, unless that was cleared since the download began, the manager judges servers in
    /// another way, or a request was sent for another user.
    func keep(_ image: Image) {
        guard let cache, key.isRepeatable, manager.judgement == key.judgement, key.holds(for: task),
            cache.shouldCache(image, for: request, withAdditionalIdentifier: key.identifier),
            cache.generation == generation
        else { return }
        cache.add(image, for: request, withAdditionalIdentifier: key.identifier)
    }
}

/// How a task has ended.
struct ImageTaskEnding: Sendable {
    let response: URLResponse?
    let image: Image?
    let error: (any Error)?

    init(response: URLResponse?, object: Any?, error: (any Error)?, of request: URLRequest) {
        self.response = response
        do {
            // A serializer may leave the decoding to its caller.
            image = try object as? Image ?? (error == nil ? (object as? EncodedImage)?.decode() : nil)
            self.error = error ?? (image == nil ? ImageDownloadFailure.noImage(object, request: request) : nil)
        } catch {
            (image, self.error) = (nil, error)
        }
    }

    /// The result for all waiters.
    func result(of download: ImageDownload) -> Result<DownloadedImage, ImageDownloadFailure> {
        if let error = download.delegate.refusal ?? error {
            return .failure(ImageDownloadFailure(error: error, request: download.request, response: response))
        }
        guard let image else { return .failure(.cancelled(download.request)) }
        return .success(DownloadedImage(image: image, request: download.request, response: response))
    }
}

/// A request that waits for an image.
struct ImageWaiter: Sendable {
    /// Called once.
    let answer: @Sendable (Result<DownloadedImage, ImageDownloadFailure>) -> Void
}
