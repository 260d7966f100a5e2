import AFTLS

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

/// Answers challenges for tasks as a test says, and keeps them. It has no other method, which a session finds out.
final class TaskTrustDelegate: URLSessionDataDelegate {
    typealias Completion = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    let challenges = Watched<[URLAuthenticationChallenge]>([])
    private let answer: @Sendable (URLAuthenticationChallenge, @escaping Completion) -> Void

    /// - Parameter answer: Calls its second argument, sooner or later, or never.
    init(answering answer: @escaping @Sendable (URLAuthenticationChallenge, @escaping Completion) -> Void) {
        self.answer = answer
    }

    convenience init(
        _ answer: @escaping @Sendable (URLAuthenticationChallenge) -> TrustDelegate.Answer = {
            TrustDelegate.trusting($0) ?? (.performDefaultHandling, nil)
        }
    ) {
        self.init(answering: { challenge, completion in
            let (disposition, credential) = answer(challenge)
            completion(disposition, credential)
        })
    }

    var count: Int { challenges.value.count }
    var methods: [String] { challenges.value.map(\.protectionSpace.authenticationMethod) }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping Completion
    ) {
        challenges.change { $0.append(challenge) }
        answer(challenge, completionHandler)
    }
}

/// Answers questions about redirects as a test says, and counts them. It has no other method.
final class RedirectAnswer: URLSessionDataDelegate {
    typealias Completion = @Sendable (URLRequest?) -> Void

    let asked = Watched(0)
    private let answer: @Sendable (HTTPURLResponse, URLRequest, @escaping Completion) -> Void

    init(
        _ answer: @escaping @Sendable (HTTPURLResponse, URLRequest, @escaping Completion) -> Void = { $2(nil) }
    ) {
        self.answer = answer
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping Completion
    ) {
        asked.change { $0 += 1 }
        answer(response, request, completionHandler)
    }
}

/// Has no method, which a session finds out by asking it.
final class SilentDelegate: URLSessionDataDelegate {}
