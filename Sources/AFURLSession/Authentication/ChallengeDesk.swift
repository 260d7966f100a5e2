import AFLoop
import AFTLS
import AFWire
import Foundation

/// Puts the questions of a handshake to the delegates of a task, on their queue, as
/// authentication challenges.
///
/// They concern the whole session, so its delegate's session-level method is asked
/// first, and the task-level method if there is no other.
final class ChallengeDesk: HandshakeDelegate {
    private enum Level {
        case session
        case task

        var method: OptionalMethod {
            switch self {
            case .session: .receivedSessionChallenge
            case .task: .receivedTaskChallenge
            }
        }
    }

    private let task: URLSessionTask
    private let session: SessionCore
    private let taskDelegate: (any URLSessionTaskDelegate)?
    private let endpoint: Endpoint

    init(
        _ task: URLSessionTask,
        _ taskDelegate: (any URLSessionTaskDelegate)?,
        _ endpoint: Endpoint,
        in session: SessionCore
    ) {
        self.task = task
        self.taskDelegate = taskDelegate
        self.endpoint = endpoint
        self.session = session
    }

    // MARK: - Asking

    var mayBeAsked: Bool { nextLevel(after: nil) != nil }

    func ask(_ question: HandshakeQuestion, _ answer: @escaping (HandshakeAnswer) -> Void) {
        guard let level = nextLevel(after: nil) else { return answer(.unasked) }
        ask(question, at: level, answer)
    }

    private func ask(_ question: HandshakeQuestion, at level: Level, _ answer: @escaping (HandshakeAnswer) -> Void) {
        let loop = session.world.loop
        let reply = LoopBound(confined: Reply(self, question, level, answer), on: loop)
        let completion: ChallengeCompletion = { disposition, credential in
            loop.enqueue { reply.value.arrived(disposition, credential) }
        }
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space(for: question),
            proposedCredential: nil,
            previousFailureCount: 0,
            failureResponse: nil,
            error: nil,
            sender: CompletionSender(completion)
        )
        post(challenge, to: level, completion)
    }

    private func post(
        _ challenge: URLAuthenticationChallenge,
        to level: Level,
        _ completion: @escaping ChallengeCompletion
    ) {
        let task = task
        switch level {
        case .session:
            guard let delegate = session.delegate else { return completion(.performDefaultHandling, nil) }
            session.outbox.post(
                .block {
                    delegate.urlSession(task.session, didReceive: challenge, completionHandler: completion)
                }
            )
        case .task:
            guard let delegate = taskDelegate else { return completion(.performDefaultHandling, nil) }
            session.outbox.post(
                .block {
                    delegate.urlSession(task.session, task: task, didReceive: challenge, completionHandler: completion)
                }
            )
        }
    }

    // MARK: - The answer

    /// Waits for one answer; others come to nothing.
    private final class Reply {
        private let desk: ChallengeDesk
        private let question: HandshakeQuestion
        private let level: Level
        private var answer: ((HandshakeAnswer) -> Void)?

        init(
            _ desk: ChallengeDesk,
            _ question: HandshakeQuestion,
            _ level: Level,
            _ answer: @escaping (HandshakeAnswer) -> Void
        ) {
            self.desk = desk
            self.question = question
            self.level = level
            self.answer = answer
        }

        func arrived(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
            guard let answer else { return }
            self.answer = nil
            guard credential !== URLCredential.unanswered else { return desk.methodIsMissing(question, level, answer) }
            answer(HandshakeAnswer(disposition, credential, to: question))
        }
    }

    private func methodIsMissing(
        _ question: HandshakeQuestion,
        _ level: Level,
        _ answer: @escaping (HandshakeAnswer) -> Void
    ) {
        if let delegate = delegate(at: level) { session.noteMissing(level.method, in: type(of: delegate)) }
        guard let next = nextLevel(after: level) else { return answer(.unasked) }
        ask(question, at: next, answer)
    }

    private func delegate(at level: Level) -> (any URLSessionDelegate)? {
        level == .session ? session.delegate : taskDelegate
    }

    private func nextLevel(after level: Level?) -> Level? {
        let levels: [Level] = level == nil ? [.session, .task] : level == .session ? [.task] : []
        return levels.first { level in
            guard let delegate = delegate(at: level) else { return false }
            return !session.isMissing(level.method, in: delegate)
        }
    }

    // MARK: - The challenge

    private func space(for question: HandshakeQuestion) -> URLProtectionSpace {
        let (host, port) = (endpoint.host.text, Int(endpoint.port))
        switch question {
        case .serverTrust(let trust): return URLProtectionSpace(host: host, port: port, serverTrust: trust)
        case .identity(let authorities):
            return URLProtectionSpace(host: host, port: port, distinguishedNames: authorities.map { Data($0) })
        }
    }
}

typealias ChallengeCompletion = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

extension HandshakeAnswer {
    fileprivate init(
        _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?,
        to question: HandshakeQuestion
    ) {
        switch (disposition, question) {
        case (.performDefaultHandling, _): self = .standard
        case (.cancelAuthenticationChallenge, _): self = .cancel
        case (.rejectProtectionSpace, _): self = .reject
        case (.useCredential, .serverTrust(let trust)):
            // A credential for another server, or of another kind, says nothing about this one.
            self = credential?.trust == trust ? .trust : .reject
        case (.useCredential, .identity):
            self = credential?.identity.map(HandshakeAnswer.identity) ?? .standard
        }
    }
}

/// Answers a challenge in the old way, through its sender.
private final class CompletionSender: NSObject, URLAuthenticationChallengeSender {
    private let completion: ChallengeCompletion

    init(_ completion: @escaping ChallengeCompletion) {
        self.completion = completion
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        completion(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {
        completion(.useCredential, nil)
    }

    func cancel(_ challenge: URLAuthenticationChallenge) {
        completion(.cancelAuthenticationChallenge, nil)
    }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
        completion(.performDefaultHandling, nil)
    }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        completion(.rejectProtectionSpace, nil)
    }
}
