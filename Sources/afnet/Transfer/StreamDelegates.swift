import AFURLSession
import Foundation

/// The delegates of event streams and WebSockets.
enum StreamDelegates {
    /// Nil unless there is something to decide: a stream without a delegate shares TLS sessions with others.
    static func delegate(_ identity: Identity, _ arguments: Arguments) -> (any URLSessionTaskDelegate)? {
        if identity.mayAnswer { return AskedDelegate(identity, arguments: arguments) }
        return arguments.redirects.isTrusting ? TrustingDelegate(arguments) : nil
    }
}

/// Adds the fields to redirected requests that `--location-trusted` takes along.
private protocol RedirectingDelegate: URLSessionTaskDelegate {
    var arguments: Arguments { get }
}

extension RedirectingDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(
            arguments.redirects.adjust(
                request,
                after: response.statusCode,
                to: task.currentRequest,
                madeFrom: task.originalRequest
            )
        )
    }
}

/// Answers challenges.
protocol AnsweringDelegate: URLSessionTaskDelegate {
    var identity: Identity { get }
}

extension AnsweringDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (disposition, credential) = identity.answer(to: challenge)
        completionHandler(disposition, credential)
    }
}

private final class TrustingDelegate: RedirectingDelegate {
    let arguments: Arguments

    init(_ arguments: Arguments) {
        self.arguments = arguments
    }
}

private final class AskedDelegate: RedirectingDelegate, AnsweringDelegate {
    let arguments: Arguments
    let identity: Identity

    init(_ identity: Identity, arguments: Arguments) {
        self.identity = identity
        self.arguments = arguments
    }
}
