import AFURLSession
import Foundation

/// Passwords for those who ask, and certificates that are looked at.
final class ChallengeHandler: NSObject, URLSessionDelegate, URLSessionTaskDelegate {
    private let user: String
    private let password: String
    private let trustedHosts: Set<String>
    private(set) var methods: [String] = []

    init(user: String, password: String, trustedHosts: Set<String> = []) {
        self.user = user
        self.password = password
        self.trustedHosts = trustedHosts
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        methods.append(challenge.protectionSpace.authenticationMethod)
        if challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            trustedHosts.contains(challenge.protectionSpace.host),
            let trust = challenge.protectionSpace.serverTrust
        {
            completionHandler(.useCredential, URLCredential(trust: trust))
        } else {
            completionHandler(.performDefaultHandling, nil)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        methods.append(space.authenticationMethod)
        switch space.authenticationMethod {
        case NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest:
            guard challenge.previousFailureCount == 0 else {
                completionHandler(.cancelAuthenticationChallenge, nil)
                return
            }
            let credential = URLCredential(user: user, password: password, persistence: .forSession)
            completionHandler(.useCredential, credential)
        default:
            completionHandler(.performDefaultHandling, challenge.proposedCredential)
        }
    }
}

/// The same without a delegate: what is known beforehand.
func makeSessionKnowing(user: String, password: String, of url: URL, realm: String) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    let space = URLProtectionSpace(
        host: url.host!,
        port: url.port ?? 80,
        protocol: NSURLProtectionSpaceHTTP,
        realm: realm,
        authenticationMethod: NSURLAuthenticationMethodHTTPBasic
    )
    let credential = URLCredential(user: user, password: password, persistence: .forSession)
    configuration.urlCredentialStorage?.setDefaultCredential(credential, for: space)
    return URLSession(configuration: configuration)
}
