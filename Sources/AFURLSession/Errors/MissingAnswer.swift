/// What a load waits for.
package enum MissingAnswer: Sendable, Hashable {
    /// The answer of a delegate to its method of this name.
    case delegate(String)
    /// That of an interceptor.
    case interceptor(String)

    /// The method of a session's delegate.
    package static let redirect = MissingAnswer.delegate(
        "urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)"
    )
    package static let response = MissingAnswer.delegate("urlSession(_:dataTask:didReceive:completionHandler:)")
    package static let challenge = MissingAnswer.delegate("urlSession(_:task:didReceive:completionHandler:)")
    package static let stream = MissingAnswer.delegate("urlSession(_:task:needNewBodyStream:)")
    package static let delayed = MissingAnswer.delegate(
        "urlSession(_:task:willBeginDelayedRequest:completionHandler:)"
    )
    package static let caching = MissingAnswer.delegate("urlSession(_:dataTask:willCacheResponse:completionHandler:)")
}
