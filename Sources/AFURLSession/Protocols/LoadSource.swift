import Foundation

/// Where a load comes from that needs no connection of the session's. Confined to the loop.
protocol LoadSource: AnyObject {
    /// What has happened since it was asked last, in order; empty if nothing has. Then it calls `goOnSoon` of the load
    /// when there is more.
    func take() -> [LoadEvent]
    /// The owner of the task has answered a challenge of this source.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?
    )
    /// Nothing more is wanted. Called once.
    func stop()
}

extension LoadSource {
    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?
    ) {}
}

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

    /// Nothing counts that comes after it.
    var isLast: Bool {
        switch self {
        case .finished, .failed, .cachedResponse, .redirect: true
        case .response, .data, .challenge, .challengeWithdrawn: false
        }
    }
}
