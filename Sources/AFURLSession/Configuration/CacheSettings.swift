import AFState

/// Which cache the sessions of a configuration use.
enum CacheSettings: Sendable {
    /// The value of ``/AFURLTypes/URLCache/shared`` at the time when a session is made.
    case shared
    /// Its value at the time when a load begins: of the sessions that no program makes.
    case present
    case own(URLCache)
    case none

    /// A cache of the configuration's own that keeps nothing on disk.
    static func inMemory() -> CacheSettings {
        .own(URLCache(store: CacheStore(memoryCapacity: 4 << 20, diskCapacity: 0, home: nil)))
    }

    var cache: URLCache? {
        switch self {
        case .shared, .present: .shared
        case .own(let cache): cache
        case .none: nil
        }
    }
}
