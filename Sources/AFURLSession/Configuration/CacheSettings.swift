import AFState
import Foundation

/// Which cache the sessions of a configuration use.
enum CacheSettings: Sendable {
    /// The value of ``/AFURLTypes/URLCache/shared`` at the time when a session is made.
    case shared
    case own(URLCache)
    case none

    /// A cache of the configuration's own that keeps nothing on disk.
    static func inMemory() -> CacheSettings {
        .own(URLCache(store: CacheStore(memoryCapacity: 4 << 20, diskCapacity: 0, path: nil)))
    }

    var cache: URLCache? {
        switch self {
        case .shared: .shared
        case .own(let cache): cache
        case .none: nil
        }
    }
}

extension URLSessionConfiguration {
    /// The cache that keeps responses and answers requests; nil for none.
    ///
    /// ``/AFURLTypes/URLCache/shared`` for ``default``, and a cache of the configuration's own, in memory only, for ``ephemeral``.
    public var urlCache: URLCache? {
        get { self[\.cache].cache }
        set { self[\.cache] = newValue.map { .own($0) } ?? .none }
    }
}
