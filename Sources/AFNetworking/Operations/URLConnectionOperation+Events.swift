import AFBase
import Dispatch
import Foundation

/// Answers the connection's questions: about challenges, redirects and the cache.
extension URLConnectionOperation: CachingDelegate {
    func answer(_ challenge: URLAuthenticationChallenge, of connection: URLConnection) {
        let (space, sender) = (challenge.protectionSpace, challenge.sender)
        // What concerns the connection follows the rules by which others may use it. A server's question about a password
        // concerns this operation alone, and meets the present settings.
        let concernsConnection =
            space.serverTrust != nil || space.authenticationMethod == NSURLAuthenticationMethodClientCertificate
        let rules = state.withLock { $0.rules(asTheyWere: concernsConnection) }
        if let block = rules.block { return block(connection, challenge) }
        let credential = rules.credential
        if let trust = space.serverTrust {
            let url = connection.currentRequest.url
            guard rules.frozen == nil else { return answer(challenge, about: trust, by: rules, url: url) }
            // A method of the program's may take any time, and the network thread serves all operations.
            Self.trustQueue.async { [self] in answer(challenge, about: trust, by: rules, url: url) }
        } else if challenge.previousFailureCount == 0, let credential, space.isProxy() || isAtFirstOrigin(connection) {
            sender?.use(credential, for: challenge)
        } else {
            sender?.continueWithoutCredential(for: challenge)
        }
    }

    private static let trustQueue = DispatchQueue(label: "AFNetworking.operation-trust", attributes: .concurrent)

    private func answer(
        _ challenge: URLAuthenticationChallenge,
        about trust: ServerTrust,
        by rules: OperationTrustRules,
        url: URL?
    ) {
        let space = challenge.protectionSpace
        let decision = rules.decide(trust, domain: space.host)
        if decision == .accept {
            challenge.sender?.use(URLCredential(trust: trust), for: challenge)
        } else {
            let error = UntrustedServer.error(decision, trust: trust, space: space, url: url)
            state.withLock { $0.trustError = error }
            challenge.sender?.cancel(challenge)
        }
    }

    /// Whether the connection is at the origin of the first request, which the credential is meant for.
    private func isAtFirstOrigin(_ connection: URLConnection) -> Bool {
        guard let meant = connection.firstRequest.url, let asking = connection.currentRequest.url else { return false }
        return RedirectPolicy.haveSameOrigin(meant, asking)
    }

    /// Whether no code of the program's stands in the place of that here.
    var isOfLibrary: Bool {
        type(of: self) == URLConnectionOperation.self || type(of: self) == HTTPRequestOperation.self
    }

    /// Without a block for the cache, the operation admits every response.
    package var decidesOnCaching: Bool { !isOfLibrary || isCancelled || state.withLock { $0.cacheBlock != nil } }

    /// The name of all operations that decide about servers as this one does. Nil: no other does, so it shares nothing.
    ///
    /// What an override decides by is not known. So an object of any other class is its own judge, as for subclasses of
    /// `SecurityPolicy`.
    var trustIdentity: Data? {
        guard isOfLibrary else { return nil }
        let rules = state.withLock { $0.rules(asTheyWere: true) }
        return rules.block == nil && rules.credential?.identity == nil ? rules.name : nil
    }

    func request(
        toSend request: URLRequest,
        after response: URLResponse?,
        by connection: URLConnection
    ) -> URLRequest? {
        let (block, rules) = state.withLock { ($0.redirectBlock, $0.rules(asTheyWere: true)) }
        // Answering with the request would overrule a refusal by the redirect policy.
        let unasked = response == nil ? request : request.leftUnanswered
        let answer = block.map { $0(connection, request, response) } ?? unasked
        guard let answer, let host = rules.forbiddenHost(of: answer) else { return answer }
        state.withLock { $0.trustError = ClientFailure.operationInTheClear(host: host).urlError(for: answer.url) }
        // There is no other way to end it from here.
        fail(connection)
        return nil
    }

    private func fail(_ connection: URLConnection) {
        guard isCurrent(connection) else { return }
        connection.cancel()
        finish(with: state.withLock { $0.trustError })
    }
}

/// Writes what arrives to the sink, and reports progress.
extension URLConnectionOperation {
    func receive(_ response: URLResponse, from connection: URLConnection) {
        guard isCurrent(connection) else { return }
        switch continuation(with: response) {
        case .loadAgain: loadAgain()
        case .take:
            let sink = state.withLock { state -> ResponseSink? in
                let offset = state.continuesAt ?? 0
                state.response = response
                let expected = response.expectedContentLength
                state.totalBytesExpected = expected < 0 ? -1 : expected + offset
                return state.continuesAt == nil ? state.sink : nil
            }
            // A response replaces the one before.
            if let sink, !startOver(sink) { end(connection, with: sink.failure(.notRewindable)) }
        }
    }

    func receive(_ data: Data, from connection: URLConnection) {
        let (sink, limit) = state.withLock { ($0.isCurrent(connection) ? $0.sink : nil, $0.world.maximumBodyInMemory) }
        guard let sink else { return }
        if sink.isMemory, Int64(data.count) > Int64(limit) - sink.count {
            return end(connection, with: ClientFailure.operationBodyTooLong(limit: limit).urlError(for: request.url))
        }
        if let error = sink.write(data) { return end(connection, with: error) }
        let (total, expected, isWatched) = state.withLock { state in
            state.totalBytesRead += Int64(data.count)
            return (state.totalBytesRead, state.totalBytesExpected, state.downloadProgress != nil)
        }
        guard isWatched else { return }
        tell({ $0.downloadProgress }, count: data.count, total: total, expected: expected)
    }

    func receiveEnd(from connection: URLConnection) {
        let (isCurrent, sink) = state.withLock { ($0.isCurrent(connection), $0.sink) }
        guard isCurrent else { return }
        finish(with: sink.flatMap { $0.hasRemains ? $0.failure(.remains) : nil })
    }

    private func end(_ connection: URLConnection, with error: any Error) {
        connection.cancel()
        finish(with: error)
    }

    /// Calls the block that is set by then, on the main queue. Without a block nothing is enqueued: if no thread serves
    /// the main queue, calls would pile up.
    func tell(
        _ block: @escaping @Sendable (OperationState) -> ProgressBlock?,
        count: Int,
        total: Int64,
        expected: Int64
    ) {
        guard state.withLock({ block($0) }) != nil else { return }
        MainQueue.async { [self] in state.withLock { block($0) }?(UInt(count), total, expected) }
    }
}
