import Foundation

/// One step of such a load.
enum LoadEvent: Sendable {
    case response(URLResponse, URLCache.StoragePolicy)
    case data(Data)
    case finished
    case failed(LoadError)
    case cachedResponse(CachedURLResponse)
    case redirect(URLRequest, URLResponse)
    case challenge(URLAuthenticationChallenge)
    case challengeWithdrawn(URLAuthenticationChallenge)

    /// Whether the load ignores all events after it.
    var isLast: Bool {
        switch self {
        case .finished, .failed, .cachedResponse, .redirect: true
        case .response, .data, .challenge, .challengeWithdrawn: false
        }
    }
}
