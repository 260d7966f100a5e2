import AFLoop
import Foundation

/// Puts the questions of servers and proxies that answered 401 or 407 to the delegates of a task, on their queue, as
/// authentication challenges.
///
/// A password concerns one request, so the task-level method is asked and no other. NTLM and Negotiate would concern
/// the connection: there the session-level method comes first.
final class CredentialDesk {
    private let post: ChallengePost

    init(_ task: URLSessionTask, _ taskDelegate: (any URLSessionTaskDelegate)?, in session: SessionCore) {
        post = ChallengePost(task, taskDelegate, in: session)
    }

    /// Asks for one answer.
    ///
    /// - Parameters:
    ///   - question: What ``AuthenticationCourse`` wants to know.
    ///   - response: The one that asks.
    ///   - answer: Called once, on the loop; at once, with default handling, if no delegate has a method for it.
    func ask(
        _ question: CredentialQuestion,
        after response: URLResponse,
        _ answer: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        post.ask(CredentialDesk.levels(for: question.space.authenticationMethod)) { sender in
            URLAuthenticationChallenge(
                protectionSpace: question.space,
                proposedCredential: question.proposedCredential,
                previousFailureCount: question.previousFailureCount,
                failureResponse: response,
                error: nil,
                sender: sender
            )
        } _: { given in
            answer(given?.disposition ?? .performDefaultHandling, given?.credential)
        }
    }

    static func levels(for method: String) -> [ChallengePost.Level] {
        let isOfConnection = [NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate].contains(method)
        return isOfConnection ? [.session, .task] : [.task]
    }
}
