import AFBase
public import AFNetworking

// Unchecked: constants and locked values only, which the compiler cannot check in an open class.
/// Keeps images in memory up to a limit; when they pass it, removes those used longest ago until a lower limit is
/// reached.
///
/// ```swift
/// let cache = AutoPurgingImageCache(memoryCapacity: 50_000_000, preferredMemoryCapacity: 30_000_000)
/// let downloader = ImageDownloader()
/// downloader.imageCache = cache
/// ```
///
/// An image takes four bytes for each of its pixels. One that takes more than the whole capacity is not kept. When
/// memory becomes scarce it removes all images.
///
/// A request finds an image that was added for one with the same URL, credentials and other fields; `Accept`,
/// `Accept-Encoding`, `Cache-Control`, `Pragma` and `User-Agent` do not count. For a request that has no other fields
/// the identifier is its URL, so that what was added by the one is found by the other. Answers to requests with another
/// method than GET, or with a body, are not kept.
///
/// Safe to use from any thread. Subclass it to decide which images are kept.
open class AutoPurgingImageCache: ImageRequestCache, @unchecked Sendable {
    private struct State: Sendable {
        var images = AgedImages()
        var capacity: UInt64
        var preferred: UInt64

        mutating func purge() {
            guard images.usage > capacity else { return }
            let goal = min(preferred, capacity)
            images.removeOldest { $0.usage > goal }
        }
    }

    private let state: Lock<State>
    private let pressure: Lock<MemoryPressure.Observation?>

    /// A cache of 100 MiB, which are reduced to 60 MiB when there are more.
    public convenience init() {
        self.init(memoryCapacity: 100 << 20, preferredMemoryCapacity: 60 << 20)
    }

    /// A cache with limits of its own.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The most memory that images may take together, in bytes.
    ///   - preferredMemoryCapacity: How much is kept when they take more. A larger number than the capacity is the
    ///     capacity.
    ///   - memoryPressure: Says when memory is scarce; nil to ignore it.
    public init(
        memoryCapacity: UInt64,
        preferredMemoryCapacity: UInt64,
        memoryPressure: MemoryPressure? = .system
    ) {
        state = Lock(State(capacity: memoryCapacity, preferred: preferredMemoryCapacity))
        pressure = Lock(nil)
        let observation = memoryPressure?.observe { [weak self] in _ = self?.removeAllImages() }
        pressure.withLock { $0 = observation }
    }

    // MARK: - Limits

    /// The most memory that images may take together, in bytes. Lowering it removes images at once.
    open var memoryCapacity: UInt64 {
        get { state.withLock { $0.capacity } }
        set {
            state.withLock { state in
                state.capacity = newValue
                state.purge()
            }
        }
    }

    /// How much is kept when images take more than the capacity, in bytes.
    open var preferredMemoryUsageAfterPurge: UInt64 {
        get { state.withLock { $0.preferred } }
        set { state.withLock { $0.preferred = newValue } }
    }

    /// The memory that the kept images take, in bytes.
    open var memoryUsage: UInt64 { state.withLock { $0.images.usage } }

    /// How often everything was removed.
    open var generation: Int { state.withLock { $0.images.generation } }

    // MARK: - By name

    /// Keeps an image, in the place of the one of the same name.
    open func add(_ image: Image, withIdentifier identifier: String) {
        add(image, key: .named(identifier))
    }

    /// Removes an image. Returns whether there was one of that name.
    @discardableResult
    open func removeImage(withIdentifier identifier: String) -> Bool {
        state.withLock { $0.images.remove(.named(identifier)) }
    }

    /// Removes all images. Returns whether there was any.
    @discardableResult
    open func removeAllImages() -> Bool {
        state.withLock { $0.images.removeAll() }.count > 0
    }

    /// The image of a name; nil if there is none. Finding it marks it as the last one used.
    open func image(withIdentifier identifier: String) -> Image? {
        state.withLock { $0.images.use(.named(identifier)) }
    }

    // MARK: - By request

    /// True. Override it to return false for images that are not to be kept.
    open func shouldCache(
        _ image: Image,
        for request: URLRequest,
        withAdditionalIdentifier identifier: String?
    ) -> Bool { true }

    /// Keeps an image, in the place of the one for such a request.
    open func add(_ image: Image, for request: URLRequest, withAdditionalIdentifier identifier: String?) {
        guard let key = ImageCacheKey(request: request, additional: identifier) else { return }
        add(image, key: key)
    }

    /// Removes an image. Returns whether there was one.
    @discardableResult
    open func removeImage(for request: URLRequest, withAdditionalIdentifier identifier: String?) -> Bool {
        guard let key = ImageCacheKey(request: request, additional: identifier) else { return false }
        return state.withLock { $0.images.remove(key) }
    }

    /// The image for a request; nil if there is none. Finding it marks it as the last one used.
    open func image(for request: URLRequest, withAdditionalIdentifier identifier: String?) -> Image? {
        guard let key = ImageCacheKey(request: request, additional: identifier) else { return nil }
        return state.withLock { $0.images.use(key) }
    }

    private func add(_ image: Image, key: ImageCacheKey) {
        state.withLock { state in
            // It would evict all others, and then itself. The image that it replaces is out of date in any case.
            guard AgedImages.cost(of: image) <= state.capacity else {
                state.images.remove(key)
                return
            }
            state.images.insert(image, at: key)
            state.purge()
        }
    }
}
