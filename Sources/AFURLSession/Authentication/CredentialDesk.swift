import AFLoop
import Foundation

/// Asks the delegates of a task the questions of servers and proxies that answered 401 or 407, on their queue, as
/// authentication challenges.
///
/// A password concerns one request, so only the task-level method is asked. NTLM and Negotiate would concern the
/// connection: for them the session-level method is asked first.
final class CredentialDesk {
    private let post: ChallengePost

    init(_ task: URLSessionTask, _ taskDelegate: (any URLSessionTaskDelegate)?, in session: SessionCore) {
        post = ChallengePost(task, taskDelegate, in: session)
    }

    /// Asks for one answer.
    ///
    /// - Parameters:
    ///   - question: What ``AuthenticationCourse`` asks.
    ///   - response: The response with that status.
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
