import Foundation

/// The source of a load without a connection of the session. Confined to the loop.
protocol LoadSource: AnyObject {
    /// The events since the last call, in order. If there are none, the source calls the load's `goOnSoon` when there
    /// are.
    func take() -> [LoadEvent]
    /// The owner of the task has answered a challenge of this source.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        disposition: URLSession.AuthChallengeDisposition,
        credential: URLCredential?
    )
    /// The load wants nothing more. Called once.
    func stop()
}

extension LoadSource {
    func answer(
        _ challenge: URLAuthenticationChallenge,
        disposition: URLSession.AuthChallengeDisposition,
        credential: URLCredential?
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

    /// Whether the load ignores all events after it.
    var isLast: Bool {
        switch self {
        case .finished, .failed, .cachedResponse, .redirect: true
        case .response, .data, .challenge, .challengeWithdrawn: false
        }
    }
}
