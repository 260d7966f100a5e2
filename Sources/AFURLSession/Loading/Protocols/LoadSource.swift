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
