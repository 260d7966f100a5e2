import AFBase
public import AFNetworking
public import Foundation

/// Downloads images: several at a time, each only once for all who ask for it at the same time, and none that is in
/// the image cache.
///
/// ```swift
/// let downloader = ImageDownloader.shared
/// let receipt = downloader.downloadImage(for: request) { request, response, image in
///     view.image = image
/// } failure: { request, response, error in
///     label.text = error.localizedDescription
/// }
/// ```
///
/// **One download for all.** Requests with the same URL, credentials and other fields share a task (`Accept`,
/// `Accept-Encoding`, `Cache-Control`, `Pragma` and `User-Agent` do not count, nor does the cache policy). Each has a
/// receipt of its own; cancelling one changes nothing for the others, and the task is cancelled with the last.
///
/// **Order.** Four downloads run at a time unless you say otherwise; the others wait, in the order of
/// ``downloadPrioritization``.
///
/// **Trust.** Images, and parts of images, are for requests by managers that judge servers in the same way: after a change of
/// the manager's policy the downloader asks the server again. In ``imageCache`` they have an additional identifier, unless
/// the manager judges servers as a new one does.
///
/// **Users.** Images are for requests that say the same about who sends them: by their own fields, by those of the session
/// (`httpAdditionalHeaders`), by cookies, and by the token of a ``/AFURLSession/TokenInterceptor``. An image that was sent for
/// another user meanwhile, or after the session had answered a challenge, is not kept. What other interceptors add is not known
/// beforehand: requests that they may change share no download, and get no image from ``imageCache``.
///
/// **Caches.** Decoded images are in ``imageCache``, in memory. Files are in the URL cache of the session, by the rules
/// of HTTP: a response with `no-store` is not on the disk.
///
/// **Interrupted downloads.** When a download is cancelled or fails in the middle of an image, the downloader keeps the
/// part that has arrived in memory for a while, and the next request for the image asks for the rest.
///
/// Safe to use from any thread. Closures are called on the main queue, in the order in which they were given; if the
/// main thread is blocked use ``image(for:)``, which needs no queue. You may release a downloader while it works: it
/// still answers all requests.
public final class ImageDownloader: Sendable {
    /// Receives the request that was made first, its response (nil for an image from the image cache, or if it is
    /// none of HTTP), and the image. Called on the main queue.
    public typealias Success = @MainActor @Sendable (URLRequest, HTTPURLResponse?, Image) -> Void
    /// Receives the request that was made first, its response if there is one, and the error. Called on the main queue.
    public typealias Failure = @MainActor @Sendable (URLRequest, HTTPURLResponse?, any Error) -> Void

    /// How many downloads run at a time.
    static let standardMaximum = 4

    private let core: ImageDownloaderCore

    /// A downloader with ``defaultURLSessionConfiguration()``.
    public convenience init() {
        self.init(sessionConfiguration: ImageDownloader.defaultURLSessionConfiguration())
    }

    /// A downloader with a session of its own and an ``AutoPurgingImageCache``. The session ends with the downloader,
    /// when its tasks have ended.
    public init(sessionConfiguration: URLSessionConfiguration) {
        let manager = HTTPSessionManager(baseURL: nil, sessionConfiguration: sessionConfiguration)
        manager.responseSerializer = ImageResponseSerializer()
        core = ImageDownloaderCore(
            manager: manager,
            ownsManager: true,
            prioritization: .fifo,
            maximumActive: ImageDownloader.standardMaximum,
            imageCache: AutoPurgingImageCache()
        )
    }

    /// A downloader with a manager of yours.
    ///
    /// - Parameters:
    ///   - sessionManager: Makes the tasks. Its response serializer must make images, as ``ImageResponseSerializer``
    ///     does. The downloader does not invalidate it.
    ///   - downloadPrioritization: Which of the downloads that wait is started next.
    ///   - maximumActiveDownloads: How many run at a time; less than one is one.
    ///   - imageCache: Keeps images in memory; nil for none.
    public init(
        sessionManager: HTTPSessionManager,
        downloadPrioritization: ImageDownloadPrioritization,
        maximumActiveDownloads: Int,
        imageCache: (any ImageRequestCache)?
    ) {
        core = ImageDownloaderCore(
            manager: sessionManager,
            ownsManager: false,
            prioritization: downloadPrioritization,
            maximumActive: maximumActiveDownloads,
            imageCache: imageCache
        )
    }

    deinit {
        core.release()
    }

    // MARK: - The shared downloader

    private static let sharedInstance = ImageDownloader()

    /// The downloader of the process, with the settings of `init()`.
    public class var shared: ImageDownloader { sharedInstance }

    /// ``shared`` by its other name.
    public class func defaultInstance() -> ImageDownloader { shared }

    /// A new cache for files: 20 MiB in memory, and 150 MiB in the folder `com.alamofire.imagedownloader` of the
    /// program's folder for caches, the one of `URLCache.shared`.
    public class func defaultURLCache() -> URLCache {
        URLCache(memoryCapacity: 20 << 20, diskCapacity: 150 << 20, diskPath: "com.alamofire.imagedownloader")
    }

    /// A new configuration: the default one with a cache of ``defaultURLCache()``.
    public class func defaultURLSessionConfiguration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.httpShouldSetCookies = true
        configuration.httpShouldUsePipelining = false
        configuration.requestCachePolicy = .useProtocolCachePolicy
        configuration.allowsCellularAccess = true
        configuration.timeoutIntervalForRequest = 60
        configuration.urlCache = defaultURLCache()
        return configuration
    }

    // MARK: - Settings

    /// Keeps images in memory; nil for none. A change applies to later requests.
    public var imageCache: (any ImageRequestCache)? {
        get { core[\.imageCache] }
        set { core[\.imageCache] = newValue }
    }

    /// Makes the tasks. A change applies to later requests.
    public var sessionManager: HTTPSessionManager {
        get { core[\.manager] }
        set { core[\.manager] = newValue }
    }

    /// Which of the downloads that wait is started next: the first one, unless set. A change applies to later requests.
    public var downloadPrioritization: ImageDownloadPrioritization {
        get { core[\.machine.prioritization] }
        set { core[\.machine.prioritization] = newValue }
    }

    /// How many downloads run at a time: 4, unless set. Less than one is one.
    public var maximumActiveDownloads: Int {
        get { core[\.machine.maximumActive] }
        set {
            core[\.machine.maximumActive] = max(newValue, 1)
            core.startNext()
        }
    }

    /// The longest response that is taken for an image, in bytes; a longer one fails with
    /// `URLError.dataLengthExceedsMaximum`. 64 MiB, unless set. The limits for the picture itself are those of the
    /// response serializer.
    public var maximumResponseSize: Int64 {
        get { core[\.maximumResponseSize] }
        set { core[\.maximumResponseSize] = newValue }
    }

    /// Whether a download continues where an interrupted one ended, if the server allows it. True, unless set.
    public var resumesDownloads: Bool {
        get { core[\.resumesDownloads] }
        set { core[\.resumesDownloads] = newValue }
    }

    // MARK: - Downloading

    /// Downloads an image, or takes it from ``imageCache`` if the request's cache policy allows that.
    ///
    /// - Parameters:
    ///   - request: What to load. Without a URL it is a failure (`URLError.badURL`).
    ///   - receiptID: The number of the receipt.
    ///   - success: Called on the main queue.
    ///   - failure: Called on the main queue.
    /// - Returns: A receipt to cancel with; nil if nothing is loaded, as the image was in the cache or there is no URL.
    @discardableResult
    @preconcurrency
    public func downloadImage(
        for request: URLRequest,
        withReceiptID receiptID: UUID = UUID(),
        success: Success?,
        failure: Failure?
    ) -> ImageDownloadReceipt? {
        core.download(request, receiptID: receiptID) { result in
            MainQueue.onMainActor {
                switch result {
                case .success(let loaded): success?(loaded.request, loaded.response as? HTTPURLResponse, loaded.image)
                case .failure(let failed): failure?(failed.request, failed.response as? HTTPURLResponse, failed.error)
                }
            }
        }
    }

    /// Cancels one request: its failure closure receives `URLError.cancelled`. Does nothing if the request was already
    /// answered. With its last request the download is cancelled.
    public func cancelTask(for receipt: ImageDownloadReceipt) {
        core.cancel(receipt)
    }

    /// Downloads an image, without a queue. Cancelling the Swift task does what ``cancelTask(for:)`` does.
    ///
    /// - Throws: What a failure closure would receive.
    public func image(for request: URLRequest) async throws -> DownloadedImage {
        let waiting = Lock((receipt: ImageDownloadReceipt?.none, isCancelled: false))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard !waiting.withLock({ $0.isCancelled }) else {
                    return continuation.resume(throwing: ImageDownloadFailure.cancelled(request).error)
                }
                let receipt = core.download(request, receiptID: UUID()) { result in
                    continuation.resume(with: result.mapError { $0.error })
                }
                let isCancelled = waiting.withLock { waiting in
                    waiting.receipt = receipt
                    return waiting.isCancelled
                }
                if isCancelled, let receipt { core.cancel(receipt) }
            }
        } onCancel: {
            let receipt = waiting.withLock { waiting in
                waiting.isCancelled = true
                return waiting.receipt
            }
            if let receipt { core.cancel(receipt) }
        }
    }

    /// Downloads the image at a URL, with the field `Accept: image/*`, as ``image(for:)`` does.
    public func image(from url: URL) async throws -> Image {
        try await image(for: URLRequest(imageAt: url)).image
    }

    /// The image in memory that a request would get.
    func imageInMemory(for request: URLRequest) -> Image? { core.imageInMemory(for: request) }

    // MARK: - For tests

    var partialByteCount: Int { core.parts.byteCount }
    var activeDownloads: Int { core[\.machine.active] }
    var isIdle: Bool { core[\.machine.isEmpty] }
}

extension URLRequest {
    /// A request for an image.
    init(imageAt url: URL) {
        self.init(url: url)
        setValue("image/*", forHTTPHeaderField: "Accept")
    }
}
