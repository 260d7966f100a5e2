public import Foundation

/// Hears how a ``URLConnection`` ends, and answers for it. Every method has an implementation.
///
/// Called where the connection is scheduled. The connection holds its delegate until it has ended.
@preconcurrency
public protocol URLConnectionDelegate: AnyObject, Sendable {
    /// The connection has failed. The last call, made instead of the one that tells of success.
    func connection(_ connection: URLConnection, didFailWithError error: any Error)

    /// Whether the shared credential storage may be asked when credentials are needed. Called once, first. True.
    func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool

    /// Somebody wants to be convinced before the request goes on: a server shows its certificates, or wants to know
    /// who we are. The connection waits until a method of `challenge.sender` is called, with the challenge, from any
    /// thread; further calls do nothing. A credential that the URL or the storage has is tried first, without asking.
    /// Cancelling the challenge fails the connection with `URLError.userCancelledAuthentication`.
    ///
    /// To trust the server of `challenge.protectionSpace.serverTrust`, use `URLCredential(trust:)` of that very trust.
    /// An implementation of your own keeps the secured connections of this delegate apart from those of others: see
    /// ``connectionTrustIdentity(_:)``.
    func connection(_ connection: URLConnection, willSendRequestFor challenge: URLAuthenticationChallenge)

    /// A name for the way in which this delegate decides about servers. Called once, before the request.
    ///
    /// A server that one delegate has accepted is not shown to the next one that uses the same connection. So whoever
    /// answers ``connection(_:willSendRequestFor:)`` gets connections of its own, unless it gives a name: delegates with
    /// the same name share secured connections. **Give it only if all of them would decide alike**, and show servers the
    /// same certificate of ours or none. Nil unless implemented.
    func connectionTrustIdentity(_ connection: URLConnection) -> Data?
}

/// Receives what a ``URLConnection`` loads. Every method has an implementation.
///
/// In this order: the request, upload progress, redirects and challenges, the response, data, what is cached, the end.
@preconcurrency
public protocol URLConnectionDataDelegate: URLConnectionDelegate {
    /// A request is about to be sent: the connection's own, and then `response` is nil, or one that a redirect leads to.
    ///
    /// - Parameters:
    ///   - connection: Whose request it is.
    ///   - request: What would be sent, without anything that must not follow to another origin.
    ///   - response: The redirect; nil the first time.
    /// - Returns: The request to send: the one given, or another. Nil means not to follow: the redirect itself, and its
    ///   body, are the result. Nil for the connection's own request fails it with `URLError.cancelled`.
    func connection(
        _ connection: URLConnection,
        willSend request: URLRequest,
        redirectResponse response: URLResponse?
    ) -> URLRequest?

    /// A response has arrived. What was received before belongs to a former one, whose place it takes: a server that
    /// answers `multipart/x-mixed-replace` sends a response for each part, after the one that says so.
    func connection(_ connection: URLConnection, didReceive response: URLResponse)

    /// Part of the body.
    func connection(_ connection: URLConnection, didReceive data: Data)

    /// A body that came from a stream must be sent again. Return a stream that nobody has opened; without one the
    /// connection fails.
    func connection(_ connection: URLConnection, needNewBodyStream request: URLRequest) -> InputStream?

    /// More of the request's body was handed to the network.
    ///
    /// - Parameters:
    ///   - connection: Whose body it is.
    ///   - bytesWritten: Since the last call.
    ///   - totalBytesWritten: Since the beginning.
    ///   - totalBytesExpectedToWrite: -1 for a stream without a `Content-Length`.
    func connection(
        _ connection: URLConnection,
        didSendBodyData bytesWritten: Int,
        totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int
    )

    /// The response is complete, and would be stored in the cache. Return what shall be stored: the proposal, another
    /// response, or nil for none.
    func connection(
        _ connection: URLConnection,
        willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse?

    /// Everything has arrived. The last call.
    func connectionDidFinishLoading(_ connection: URLConnection)
}

extension URLConnectionDelegate {
    /// Does nothing.
    public func connection(_ connection: URLConnection, didFailWithError error: any Error) {}

    /// True.
    public func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool { true }

    /// Leaves the challenge to the standard handling.
    public func connection(_ connection: URLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        if let sender = challenge.sender as? CompletionSender {
            connection.core.noteMissing(.receivedTaskChallenge)
            sender.pass()
        } else {
            challenge.sender?.performDefaultHandling(for: challenge)
        }
    }

    /// None.
    public func connectionTrustIdentity(_ connection: URLConnection) -> Data? { nil }
}

extension URLConnectionDataDelegate {
    /// Sends the request. Redirects are followed as ``RedirectPolicy`` allows.
    public func connection(
        _ connection: URLConnection,
        willSend request: URLRequest,
        redirectResponse response: URLResponse?
    ) -> URLRequest? {
        guard response != nil else { return request }
        connection.core.noteMissing(.willRedirect)
        return request.leftUnanswered
    }

    /// Does nothing.
    public func connection(_ connection: URLConnection, didReceive response: URLResponse) {}

    /// Does nothing: the data is lost.
    public func connection(_ connection: URLConnection, didReceive data: Data) {}

    /// Has no stream.
    public func connection(_ connection: URLConnection, needNewBodyStream request: URLRequest) -> InputStream? { nil }

    /// Does nothing.
    public func connection(
        _ connection: URLConnection,
        didSendBodyData bytesWritten: Int,
        totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int
    ) {}

    /// Stores the proposal.
    public func connection(
        _ connection: URLConnection,
        willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse? {
        connection.core.noteMissing(.willCacheResponse)
        return cachedResponse
    }

    /// Does nothing.
    public func connectionDidFinishLoading(_ connection: URLConnection) {}
}

extension URLRequest {
    /// The same, marked as the answer of a delegate that has no method of its own.
    fileprivate var leftUnanswered: URLRequest {
        var request = self
        request.change { $0.isUnanswered = true }
        return request
    }
}
