import AFBase
public import AFNetworking

/// Keeps images until memory becomes scarce: the cache of image views in AFNetworking 2.
///
/// It has no limits unless you set some. A request that ignores caches finds nothing. Otherwise it finds what an
/// ``AutoPurgingImageCache`` would.
///
/// Safe to use from any thread.
public final class MemoryImageCache: ImageRequestCache {
    private struct State: Sendable {
        var images = AgedImages()
        var countLimit = 0
        var totalCostLimit: UInt64 = 0

        mutating func enforceLimits() {
            let (count, cost) = (countLimit, totalCostLimit)
            images.removeOldest { (count > 0 && $0.count > count) || (cost > 0 && $0.usage > cost) }
        }
    }

    private let state = Lock(State())
    private let pressure = Lock<MemoryPressure.Observation?>(nil)

    /// A cache without limits.
    ///
    /// - Parameter memoryPressure: Says when memory is scarce; nil to ignore it.
    public init(memoryPressure: MemoryPressure? = .system) {
        let observation = memoryPressure?.observe { [weak self] in _ = self?.removeAllImages() }
        pressure.withLock { $0 = observation }
    }

    /// How many images are kept; those used longest ago are removed first. 0, as it is at first, is no limit.
    public var countLimit: Int {
        get { state.withLock { $0.countLimit } }
        set {
            state.withLock { state in
                state.countLimit = newValue
                state.enforceLimits()
            }
        }
    }

    /// The most memory that images may take together, in bytes, four for each pixel; those used longest ago are removed
    /// first. 0, as it is at first, is no limit.
    public var totalCostLimit: UInt64 {
        get { state.withLock { $0.totalCostLimit } }
        set {
            state.withLock { state in
                state.totalCostLimit = newValue
                state.enforceLimits()
            }
        }
    }

    /// How often everything was removed.
    public var generation: Int { state.withLock { $0.images.generation } }

    // MARK: - As AFNetworking 2 has it

    /// The image for a request; nil if there is none, or the request ignores caches.
    public func cachedImage(for request: URLRequest) -> Image? {
        image(for: request, withAdditionalIdentifier: nil)
    }

    /// Keeps an image for a request. Does nothing if either is nil.
    public func cacheImage(_ image: Image?, for request: URLRequest?) {
        guard let image, let request else { return }
        add(image, for: request, withAdditionalIdentifier: nil)
    }

    // MARK: - By name

    /// Keeps an image, in the place of the one of the same name.
    public func add(_ image: Image, withIdentifier identifier: String) {
        add(image, key: .named(identifier))
    }

    /// Removes an image. Returns whether there was one of that name.
    @discardableResult
    public func removeImage(withIdentifier identifier: String) -> Bool {
        state.withLock { $0.images.remove(.named(identifier)) }
    }

    /// Removes all images. Returns whether there was any.
    @discardableResult
    public func removeAllImages() -> Bool {
        state.withLock { $0.images.removeAll() }.count > 0
    }

    /// The image of a name; nil if there is none. Finding it marks it as the last one used.
    public func image(withIdentifier identifier: String) -> Image? {
        state.withLock { $0.images.use(.named(identifier)) }
    }

    // MARK: - By request

    /// Keeps an image, in the place of the one for such a request.
    public func add(_ image: Image, for request: URLRequest, withAdditionalIdentifier identifier: String?) {
        guard let key = ImageCacheKey(request: request, additional: identifier) else { return }
        add(image, key: key)
    }

    /// Removes an image. Returns whether there was one.
    @discardableResult
    public func removeImage(for request: URLRequest, withAdditionalIdentifier identifier: String?) -> Bool {
        guard let key = ImageCacheKey(request: request, additional: identifier) else { return false }
        return state.withLock { $0.images.remove(key) }
    }

    /// The image for a request; nil if there is none. Finding it marks it as the last one used.
    public func image(for request: URLRequest, withAdditionalIdentifier identifier: String?) -> Image? {
        switch request.cachePolicy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: return nil
        default: break
        }
        guard let key = ImageCacheKey(request: request, additional: identifier) else { return nil }
        return state.withLock { $0.images.use(key) }
    }

    private func add(_ image: Image, key: ImageCacheKey) {
        state.withLock { state in
            state.images.insert(image, at: key)
            state.enforceLimits()
        }
    }
}
