import AFLoop
import AFTLS
import AFTransport
import AFWire
import Foundation

/// Puts the questions of a handshake to the delegates of a task, on their queue, as
/// authentication challenges.
///
/// They concern the whole session, so its delegate's session-level method is asked
/// first, and the task-level method if there is no other.
final class ChallengeDesk: HandshakeDelegate {
    private static let levels: [ChallengePost.Level] = [.session, .task]

    private let post: ChallengePost
    private let endpoint: Endpoint
    /// Kept, so that the answer to a question that nobody can be asked never comes before the question was put.
    private let task: URLSessionTask
    private let events: EventDesk?

    init(
        _ task: URLSessionTask,
        _ taskDelegate: (any URLSessionTaskDelegate)?,
        _ endpoint: Endpoint,
        in session: SessionCore
    ) {
        post = ChallengePost(task, taskDelegate, in: session)
        self.endpoint = endpoint
        self.task = task
        events = session.events
    }

    var mayBeAsked: Bool { post.mayAsk(ChallengeDesk.levels) }

    func ask(_ question: HandshakeQuestion, _ answer: @escaping (HandshakeAnswer) -> Void) {
        let space = space(for: question)
        events?.challenged(task.taskIdentifier, space)
        post.ask(ChallengeDesk.levels) { sender in
            URLAuthenticationChallenge(
                protectionSpace: space,
                proposedCredential: nil,
                previousFailureCount: 0,
                failureResponse: nil,
                error: nil,
                sender: sender
            )
        } _: { given in
            answer(given.map { HandshakeAnswer($0.disposition, $0.credential, to: question) } ?? .unasked)
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
