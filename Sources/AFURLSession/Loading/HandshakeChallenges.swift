import AFLoop
import AFTLS
import AFTransport
import AFWire
import Foundation

/// Asks the delegates of a task the questions of a handshake, on their queue, as authentication challenges.
///
/// A handshake concerns the whole session, so the session-level method of its delegate is asked first, and the
/// task-level method if the delegate has no session-level one.
final class HandshakeChallenges: HandshakeDelegate {
    private static let levels: [ChallengeDelivery.Level] = [.session, .task]

    private let post: ChallengeDelivery
    private let endpoint: Endpoint
    /// A strong reference: `post` answers at once, before it asks, if the task is gone.
    private let task: URLSessionTask
    private let events: EventDispatcher?

    init(
        task: URLSessionTask,
        taskDelegate: (any URLSessionTaskDelegate)?,
        endpoint: Endpoint,
        in session: SessionCore
    ) {
        post = ChallengeDelivery(task, taskDelegate: taskDelegate, in: session)
        self.endpoint = endpoint
        self.task = task
        events = session.events
    }

    var mayBeAsked: Bool { post.mayAsk(HandshakeChallenges.levels) }

    func ask(_ question: HandshakeQuestion, answer: @escaping (HandshakeAnswer) -> Void) {
        let space = space(for: question)
        events?.challenged(task.taskIdentifier, space: space)
        post.ask(HandshakeChallenges.levels) { sender in
            URLAuthenticationChallenge(
                protectionSpace: space,
                proposedCredential: nil,
                previousFailureCount: 0,
                failureResponse: nil,
                error: nil,
                sender: sender
            )
        } answer: { given in
            answer(given.map { HandshakeAnswer($0.disposition, credential: $0.credential, to: question) } ?? .unasked)
        }
    }

    private func space(for question: HandshakeQuestion) -> URLProtectionSpace {
        let (host, port) = (endpoint.host.text, Int(endpoint.port))
        switch question {
        case .serverTrust(let trust): return URLProtectionSpace(host: host, port: port, serverTrust: trust)
        case .identity(let authorities):
            return URLProtectionSpace(host: host, port: port, distinguishedNames: authorities.map { Data($0) })
        }
    }
}

extension HandshakeAnswer {
    fileprivate init(
        _ disposition: URLSession.AuthChallengeDisposition,
        credential: URLCredential?,
        to question: HandshakeQuestion
    ) {
        switch (disposition, question) {
        case (.performDefaultHandling, _): self = .standard
        case (.cancelAuthenticationChallenge, _): self = .cancel
        case (.rejectProtectionSpace, _): self = .reject
        case (.useCredential, .serverTrust(let trust)):
            // A credential for another server, or of another kind, does not trust this server.
            self = credential?.trust == trust ? .trust : .reject
        case (.useCredential, .identity):
            self = credential?.identity.map(HandshakeAnswer.identity) ?? .standard
        }
    }
}
