import AFBase
import Dispatch
import Foundation

/// Answers the connection's questions: about challenges and about redirects.
extension URLConnectionOperation {
    func answer(_ challenge: URLAuthenticationChallenge, of connection: URLConnection) {
        let (block, policy, credential) = state.withLock { ($0.challengeBlock, $0.securityPolicy, $0.credential) }
        if let block { return block(connection, challenge) }
        let (space, sender) = (challenge.protectionSpace, challenge.sender)
        if let trust = space.serverTrust {
            let url = connection.currentRequest.url
            guard policy.mayHaveOverrides else { return answer(challenge, about: trust, by: policy, url) }
            // A method of the program's may take any time, and the network thread serves all operations.
            Self.trustQueue.async { [self] in answer(challenge, about: trust, by: policy, url) }
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
        by policy: SecurityPolicy,
        _ url: URL?
    ) {
        let space = challenge.protectionSpace
        let decision = policy.decide(trust, domain: space.host)
        if decision == .accept {
            challenge.sender?.use(URLCredential(trust: trust), for: challenge)
        } else {
            let error = UntrustedServer.error(decision, trust, space, url)
            state.withLock { $0.trustError = error }
            challenge.sender?.cancel(challenge)
        }
    }

    /// Whether the connection is at the origin of the first request, which the credential is meant for.
    private func isAtFirstOrigin(_ connection: URLConnection) -> Bool {
        guard let meant = connection.firstRequest.url, let asking = connection.currentRequest.url else { return false }
        return RedirectPolicy.haveSameOrigin(meant, asking)
    }

    var trustIdentity: Data? {
        let (block, policy, credential) = state.withLock { ($0.challengeBlock, $0.securityPolicy, $0.credential) }
        guard block == nil, credential?.identity == nil, let fingerprint = policy.fingerprint else { return nil }
        return Data("\(UInt(bitPattern: ObjectIdentifier(type(of: self)))) ".utf8) + fingerprint
    }

    func request(
        toSend request: URLRequest,
        after response: URLResponse?,
        by connection: URLConnection
    ) -> URLRequest? {
        let (block, policy) = state.withLock { ($0.redirectBlock, $0.securityPolicy) }
        let answer = block.map { $0(connection, request, response) } ?? request
        guard let answer, let url = answer.url, url.scheme.map(ASCII.lowered) == "http", let host = answer.host,
            policy.forbidsPlainText(to: host)
        else { return answer }
        state.withLock { $0.trustError = UntrustedServer.plainText(host, url) }
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
