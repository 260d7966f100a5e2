import AFURLSession

/// What a URL wants from the cache, by the names that browsers use.
package enum CacheMode: String, Sendable, CaseIterable {
    case `default`
    case noStore = "no-store"
    case reload
    case noCache = "no-cache"
    case forceCache = "force-cache"
    case onlyIfCached = "only-if-cached"

    var policy: URLRequest.CachePolicy {
        switch self {
        // Without a cache, in the case of no-store.
        case .default, .noStore: .useProtocolCachePolicy
        case .reload: .reloadIgnoringLocalCacheData
        case .noCache: .reloadRevalidatingCacheData
        case .forceCache: .returnCacheDataElseLoad
        case .onlyIfCached: .returnCacheDataDontLoad
        }
    }
}
