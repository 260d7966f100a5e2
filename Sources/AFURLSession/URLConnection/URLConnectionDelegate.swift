public import Foundation

/// Hears how a ``URLConnection`` ends, and decides for it. Every method has a default implementation.
///
/// The connection calls it where it is scheduled, and holds it until it has ended.
@preconcurrency
public protocol URLConnectionDelegate: AnyObject, Sendable {
    /// The connection has failed. This is the last call, in place of the one that reports success.
    func connection(_ connection: URLConnection, didFailWithError error: any Error)

    /// Whether the connection may use the shared credential storage when it needs credentials. Called once, first. True
    /// by default.
    func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool

    /// A server or proxy challenges the connection: a server shows its certificates, or one of them asks who you are.
    /// The connection waits until you call a method of `challenge.sender`, with the challenge, from any thread; further
    /// calls do nothing. It tries a credential of the URL or the storage first, without asking. Cancelling the
    /// challenge fails the connection with `URLError.userCancelledAuthentication`.
    ///
    /// To trust the server of `challenge.protectionSpace.serverTrust`, use `URLCredential(trust:)` of that very trust.
    /// If you implement this method, the TLS connections of this delegate are kept apart from those of others: see
    /// ``connectionTrustIdentity(_:)``.
    func connection(_ connection: URLConnection, willSendRequestFor challenge: URLAuthenticationChallenge)

    /// A name for the way in which this delegate decides about servers. Called once, before the request.
    ///
    /// A server that one delegate has accepted is not shown to the next one that uses the same connection. So a
    /// delegate that implements ``connection(_:willSendRequestFor:)`` gets connections of its own, unless it gives a
    /// name: delegates with the same name share TLS connections. **Give it only if all of them would decide alike**,
    /// and show servers the same client certificate or none. Nil unless implemented.
    func connectionTrustIdentity(_ connection: URLConnection) -> Data?
}

/// Receives what a ``URLConnection`` loads. Every method has a default implementation.
///
/// In this order: the request, upload progress, redirects and challenges, the response, data, the response to store,
/// the end.
@preconcurrency
public protocol URLConnectionDataDelegate: URLConnectionDelegate {
    /// The connection is about to send a request: its own, and then `response` is nil, or one that a redirect leads to.
    ///
    /// - Parameters:
    ///   - connection: The connection that sends the request.
    ///   - request: The request that it would send, without anything that must not follow to another origin.
    ///   - response: The redirect; nil the first time.
    /// - Returns: The request to send: the one given, or another. Nil means not to follow: the redirect itself, and its
    ///   body, are the result. Nil for the connection's own request fails it with `URLError.cancelled`.
    func connection(
        _ connection: URLConnection,
        willSend request: URLRequest,
        redirectResponse response: URLResponse?
    ) -> URLRequest?

    /// A response has arrived. It takes the place of an earlier one: drop what you received for that. For a
    /// `multipart/x-mixed-replace` body this is called for each part, after the call for the whole response.
    func connection(_ connection: URLConnection, didReceive response: URLResponse)

    /// Part of the body.
    func connection(_ connection: URLConnection, didReceive data: Data)

    /// The connection has to send a body from a stream again. Return a stream that is not open; without one the
    /// connection fails.
    func connection(_ connection: URLConnection, needNewBodyStream request: URLRequest) -> InputStream?

    /// The connection has handed more of the request's body to the network.
    ///
    /// - Parameters:
    ///   - connection: The connection that sends the body.
    ///   - bytesWritten: Bytes since the last call.
    ///   - totalBytesWritten: Bytes since the beginning.
    ///   - totalBytesExpectedToWrite: -1 for a stream without a `Content-Length`.
    func connection(
        _ connection: URLConnection,
        didSendBodyData bytesWritten: Int,
        totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int
    )

    /// The response is complete, and the connection would store it in the cache. Return the response to store: the
    /// proposal, another one, or nil for none.
    func connection(
        _ connection: URLConnection,
        willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse?

    /// Everything has arrived. This is the last call.
    func connectionDidFinishLoading(_ connection: URLConnection)
}

extension URLConnectionDelegate {
    /// Does nothing.
    public func connection(_ connection: URLConnection, didFailWithError error: any Error) {}

    /// True: the connection may use the storage.
    public func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool { true }

    /// Leaves the challenge to the standard handling.
    public func connection(_ connection: URLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        // Another delegate may hand its challenge on to this one: that one has a method.
        if let sender = challenge.sender as? CompletionSender,
            connection.core.noteMissing(.receivedTaskChallenge, in: self)
        {
            sender.pass()
        } else {
            challenge.sender?.performDefaultHandling(for: challenge)
        }
    }

    /// Nil: no name.
    public func connectionTrustIdentity(_ connection: URLConnection) -> Data? { nil }
}

extension URLConnectionDataDelegate {
    /// Sends the request. The connection follows redirects as ``/AFURLTypes/RedirectPolicy`` allows.
    public func connection(
        _ connection: URLConnection,
        willSend request: URLRequest,
        redirectResponse response: URLResponse?
    ) -> URLRequest? {
        guard response != nil else { return request }
        connection.core.noteMissing(.willRedirect, in: self)
        return request.leftUnanswered
    }

    /// Does nothing.
    public func connection(_ connection: URLConnection, didReceive response: URLResponse) {}

    /// Does nothing: the data is lost.
    public func connection(_ connection: URLConnection, didReceive data: Data) {}

    /// Answers nil: no stream.
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
        connection.core.noteMissing(.willCacheResponse, in: self)
        return cachedResponse
    }

    /// Does nothing.
    public func connectionDidFinishLoading(_ connection: URLConnection) {}
}

extension URLRequest {
    /// The same request, marked as the answer of a delegate that does not implement the method.
    package var leftUnanswered: URLRequest {
        var request = self
        request.change { $0.isUnanswered = true }
        return request
    }
}

/// Receives what a ``URLConnection`` loads as a file. Every method has a default implementation.
///
/// For such a delegate the connection writes the body to a file as it arrives. A delegate that is also a
/// ``URLConnectionDataDelegate`` gets data, and no file.
@preconcurrency
public protocol URLConnectionDownloadDelegate: URLConnectionDelegate {
    /// The connection has written more of the body to the file. `expectedTotalBytes` is -1 if the response does not
    /// say.
    func connection(
        _ connection: URLConnection,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        expectedTotalBytes: Int64
    )

    /// The download is complete. The file is at `destinationURL` until this method returns: move it, or open it, before
    /// that. This is the last call.
    func connectionDidFinishDownloading(_ connection: URLConnection, destinationURL: URL)
}

extension URLConnectionDownloadDelegate {
    /// Does nothing.
    public func connection(
        _ connection: URLConnection,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        expectedTotalBytes: Int64
    ) {}

    /// Does nothing: the file is lost.
    public func connectionDidFinishDownloading(_ connection: URLConnection, destinationURL: URL) {}
}
