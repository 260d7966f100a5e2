import AFURLSession
import Foundation

/// The cache mode of a request, with the names that browsers use.
package enum CacheMode: String, Sendable, CaseIterable {
    case `default`
    case noStore = "no-store"
    case reload
    case noCache = "no-cache"
    case forceCache = "force-cache"
    case onlyIfCached = "only-if-cached"

    var policy: URLRequest.CachePolicy {
        switch self {
        // The session of no-store has no cache.
        case .default, .noStore: .useProtocolCachePolicy
        case .reload: .reloadIgnoringLocalCacheData
        case .noCache: .reloadRevalidatingCacheData
        case .forceCache: .returnCacheDataElseLoad
        case .onlyIfCached: .returnCacheDataDontLoad
        }
    }
}
