import Foundation

/// Errors for servers that a security policy does not trust. Their URLs have no user name and no password.
///
/// They are `URLError`s: on Linux an `NSError` is not converted, and `catch let error as URLError` would not match it.
enum UntrustedServer {
    /// The error with AFNetworking's sentence, followed by the reason of the refusal.
    ///
    /// - Parameters:
    ///   - trust: The server's certificates.
    ///   - url: The URL of the request.
    ///   - underlying: The loading system's error, which names the rule that failed.
    static func error(_ trust: ServerTrust?, url: URL?, underlying: URLError? = nil) -> URLError {
        let failure = underlying?.loadFailure
        let host = trust?.host ?? failure?.security?.host ?? ""
        let sentence = """
            The certificate for this server is invalid. You might be connecting to a server that is pretending to be \
            “\(host)” which could put your confidential information at risk.
            """
        let url = url?.withoutCredentials
        var details: [String: Any] = [
            NSLocalizedDescriptionKey: [sentence, failure?.message].compactMap(\.self).joined(separator: " ")
        ]
        details[NSLocalizedFailureReasonErrorKey] = failure?.failureReason
        details[NSLocalizedRecoverySuggestionErrorKey] = failure?.advice
        details[NSUnderlyingErrorKey] = underlying
        details[NSURLSessionDownloadTaskResumeData] = underlying?.userInfo[NSURLSessionDownloadTaskResumeData]
        details[NSURLErrorFailingURLPeerTrustErrorKey] = trust
        details[NSURLErrorFailingURLErrorKey] = url
        details[ErrorMapping.failingURLStringKey] = url?.absoluteString
        return URLError(reporting: .serverCertificateUntrusted, details: details)
    }

    /// The error for a server that the policy refused in a challenge.
    ///
    /// - Parameter decision: The policy's decision; if it accepted, the error has no underlying error.
    static func error(
        _ decision: ServerTrustDecision,
        trust: ServerTrust,
        space: URLProtectionSpace,
        url: URL?
    ) -> URLError {
        let failure = LoadFailure(decision, trust: trust, port: space.port)
        return error(trust, url: url, underlying: failure.map { ErrorMapping.error($0, url: url) })
    }
}
