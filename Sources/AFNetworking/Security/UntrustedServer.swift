import Foundation

/// Errors of servers that a security policy does not trust. Their URLs are without user names and passwords.
///
/// They are `URLError`s and no `NSError`s: on Linux nothing makes one of the other, and `catch let error as URLError` would
/// let them pass.
enum UntrustedServer {
    /// The sentence of AFNetworking, followed by what was found.
    ///
    /// - Parameters:
    ///   - trust: What the server showed.
    ///   - url: Of the request.
    ///   - underlying: The loading system's error, which says which rule failed.
    static func error(_ trust: ServerTrust?, _ url: URL?, underlying: URLError? = nil) -> URLError {
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
        details[NSURLErrorFailingURLPeerTrustErrorKey] = trust
        details[NSURLErrorFailingURLErrorKey] = url
        details[ErrorMapping.failingURLStringKey] = url?.absoluteString
        return URLError(.serverCertificateUntrusted, userInfo: details)
    }

    /// The error of a server that was refused in a challenge.
    ///
    /// - Parameter decision: What the policy said; nothing is known of one that accepted.
    static func error(
        _ decision: ServerTrustDecision,
        _ trust: ServerTrust,
        _ space: URLProtectionSpace,
        _ url: URL?
    ) -> URLError {
        let failure = LoadFailure(decision, trust, port: space.port)
        return error(trust, url, underlying: failure.map { ErrorMapping.error($0, url: url) })
    }

    /// Over plain http no pin is looked at.
    static func plainText(_ host: String, _ url: URL) -> URLError {
        let failure = LoadFailure(
            .request,
            .scheme,
            phase: .preparing,
            message: "The request was not sent: the operation's security policy pins \(host), and over plain http no "
                + "certificate is looked at.",
            advice: "Use https, or exempt the host from the pins."
        )
        return ErrorMapping.error(failure, url: url)
    }
}
