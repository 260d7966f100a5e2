import AFBase
import AFLoop
import AFTLS
import AFTestSupport
import AFURLSession
import Foundation

/// A delegate that answers challenges for servers and identities as a test says, and
/// counts them.
final class TrustDelegate: URLSessionDataDelegate {
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    let methods = Watched<[String]>([])
    let trusts = Lock<[ServerTrust]>([])
    private let delay: Duration
    private let answer: @Sendable (URLAuthenticationChallenge) -> Answer?

    /// - Parameter answer: Nil never answers.
    init(after delay: Duration = .zero, _ answer: @escaping @Sendable (URLAuthenticationChallenge) -> Answer?) {
        self.delay = delay
        self.answer = answer
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        methods.change { $0.append(challenge.protectionSpace.authenticationMethod) }
        if let trust = challenge.protectionSpace.serverTrust { trusts.withLock { $0.append(trust) } }
        guard let (disposition, credential) = answer(challenge) else { return }
        guard delay > .zero else { return completionHandler(disposition, credential) }
        Task {
            try await Task.sleep(for: delay)
            completionHandler(disposition, credential)
        }
    }

    static func trusting(_ challenge: URLAuthenticationChallenge) -> Answer? {
        guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
        return (.useCredential, URLCredential(trust: trust))
    }
}

/// Hears challenges for tasks only.
final class TaskTrustDelegate: URLSessionDataDelegate {
    let methods = Watched<[String]>([])

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        methods.change { $0.append(challenge.protectionSpace.authenticationMethod) }
        guard let trust = challenge.protectionSpace.serverTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: trust))
    }
}
