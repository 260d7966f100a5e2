import AFBase
import AFLoop
import Foundation

/// Delivers challenges to the delegates of a task, on their queue, and brings the first answer to each back to the
/// loop.
///
/// Only asking a delegate shows whether it has a method for challenges. If it has none, the next one is asked.
///
/// It keeps no task and no delegate alive: a delegate may keep a challenge for ever without an answer.
final class ChallengeDelivery {
    /// Which method of a delegate.
    enum Level {
        case session
        case task

        fileprivate var method: OptionalMethod {
            switch self {
            case .session: .receivedSessionChallenge
            case .task: .receivedTaskChallenge
            }
        }
    }

    typealias Answer = (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?)

    private weak var task: URLSessionTask?
    private weak var session: SessionCore?
    private weak var taskDelegate: (any URLSessionTaskDelegate)?

    init(_ task: URLSessionTask, taskDelegate: (any URLSessionTaskDelegate)?, in session: SessionCore) {
        self.task = task
        self.taskDelegate = taskDelegate
        self.session = session
    }

    /// Whether a delegate may have a method of one of these levels.
    func mayAsk(_ levels: [Level]) -> Bool { rest(of: levels[...]).first != nil }

    /// Asks the delegates level by level, until one has a method.
    ///
    /// - Parameters:
    ///   - levels: The levels in the order in which they are asked.
    ///   - makeChallenge: Makes the challenge for a sender.
    ///   - answer: Called once, on the loop: at once with nil if no delegate has a method.
    func ask(
        _ levels: [Level],
        makeChallenge: @escaping (any URLAuthenticationChallengeSender) -> URLAuthenticationChallenge,
        answer: @escaping (Answer?) -> Void
    ) {
        let levels = rest(of: levels[...])
        guard let level = levels.first, let task, let session, !task.load.value.isCompleted else { return answer(nil) }
        // The delegate may keep the challenge for ever, and with it this object, which holds all else weakly.
        let question = Question<Answer?> { [self] given in
            // First: a delegate that leaves what it used to answer retires the connections that it has accepted, and the
            // requests that wait for them begin anew.
            let isLeft = level == .session && self.session?.noteChallenge(isAnswered: given != nil) == true
            if isLeft { return answer(nil) }
            if let given { return answer(given) }
            // Asked only now: the call has shown whether the delegate has the method.
            let own = standardAnswer(at: level)
            ask(Array(levels.dropFirst()), makeChallenge: makeChallenge) { answer($0 ?? own) }
        }
        let loop = session.loop
        let asked = LoopBound(confined: question, on: loop)
        let completion: ChallengeCompletion = { disposition, credential in
            // A delegate without the method leaves the question to the next one.
            let isLeft = credential === URLCredential.unanswered
            // From any thread, and perhaps more than once: the question takes the first.
            loop.enqueue { asked.value.answer(isLeft ? nil : (disposition, credential)) }
        }
        post(makeChallenge(CompletionSender(completion)), about: task, in: session, to: level, completion: completion)
    }

    /// The answer of a delegate that has a method and leaves the challenge, if no other delegate has one: it was asked, and
    /// may decide otherwise the next time. Nil if it lacks the method, or leaves challenges by rules that the session
    /// knows.
    private func standardAnswer(at level: Level) -> Answer? {
        guard let session, let delegate = delegate(at: level), !session.isMissing(level.method, in: delegate),
            !(delegate is any ChallengeForwarding)
        else { return nil }
        return (.performDefaultHandling, nil)
    }

    private func post(
        _ challenge: URLAuthenticationChallenge,
        about task: URLSessionTask,
        in session: SessionCore,
        to level: Level,
        completion: @escaping ChallengeCompletion
    ) {
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

    private func rest(of levels: ArraySlice<Level>) -> ArraySlice<Level> {
        levels.drop { level in
            guard let session, let delegate = delegate(at: level) else { return true }
            return session.isMissing(level.method, in: delegate)
        }
    }

    private func delegate(at level: Level) -> (any URLSessionDelegate)? {
        level == .session ? session?.delegate : taskDelegate
    }
}

/// A delegate that leaves challenges to the next one by rules of which it tells the session each change.
package protocol ChallengeForwarding: URLSessionDelegate {}

typealias ChallengeCompletion = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

/// Answers a challenge through its sender, as `NSURLConnection` did.
final class CompletionSender: NSObject, URLAuthenticationChallengeSender {
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

    /// The delegate has no method for the challenge: ask the next one.
    func pass() {
        completion(.performDefaultHandling, .unanswered)
    }
}

/// Asks the delegates of a task the questions of servers and proxies that answered 401 or 407, on their queue, as
/// authentication challenges.
///
/// A password concerns one request, so only the task-level method is asked. NTLM and Negotiate would concern the
/// connection: for them the session-level method is asked first.
final class CredentialChallenges {
    private let post: ChallengeDelivery

    init(task: URLSessionTask, taskDelegate: (any URLSessionTaskDelegate)?, in session: SessionCore) {
        post = ChallengeDelivery(task, taskDelegate: taskDelegate, in: session)
    }

    /// Asks for one answer.
    ///
    /// - Parameters:
    ///   - question: What ``AuthenticationMachine`` asks.
    ///   - response: The response with that status.
    ///   - answer: Called once, on the loop; at once, with default handling, if no delegate has a method for it.
    func ask(
        _ question: CredentialQuestion,
        after response: URLResponse,
        answer: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        post.ask(CredentialChallenges.levels(for: question.space.authenticationMethod)) { sender in
            URLAuthenticationChallenge(
                protectionSpace: question.space,
                proposedCredential: question.proposedCredential,
                previousFailureCount: question.previousFailureCount,
                failureResponse: response,
                error: nil,
                sender: sender
            )
        } answer: { given in
            answer(given?.disposition ?? .performDefaultHandling, given?.credential)
        }
    }

    static func levels(for method: String) -> [ChallengeDelivery.Level] {
        let isOfConnection = [NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate].contains(method)
        return isOfConnection ? [.session, .task] : [.task]
    }
}

extension CredentialAnswer {
    init(_ disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) {
        self =
            switch disposition {
            case .useCredential: .use(credential)
            case .performDefaultHandling: .performDefault
            case .cancelAuthenticationChallenge: .cancel
            case .rejectProtectionSpace: .reject
            }
    }
}
