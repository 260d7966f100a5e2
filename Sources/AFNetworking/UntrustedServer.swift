import Foundation

/// Errors of servers that a security policy does not trust. Their URLs are without user names and passwords.
enum UntrustedServer {
    /// - Parameters:
    ///   - trust: What the server showed.
    ///   - url: Of the request.
    ///   - underlying: The loading system's error, which says which rule failed.
    static func error(_ trust: ServerTrust?, _ url: URL?, underlying: (any Error)? = nil) -> NSError {
        let host = trust?.host ?? (underlying as? URLError)?.loadFailure?.security?.host ?? ""
        return make(
            .serverCertificateUntrusted,
            """
            The certificate for this server is invalid. You might be connecting to a server that is pretending to be \
            “\(host)” which could put your confidential information at risk.
            """,
            url,
            [NSURLErrorFailingURLPeerTrustErrorKey: trust as Any?, NSUnderlyingErrorKey: underlying as Any?]
        )
    }

    /// Over plain http nobody would look at the pins.
    static func plainText(_ host: String, _ url: URL) -> NSError {
        make(
            .unsupportedURL,
            "The request was not sent: the operation's security policy pins \(host), and over plain http no certificate "
                + "is looked at. Use https, or exempt the host from the pins.",
            url
        )
    }

    private static func make(
        _ code: URLError.Code,
        _ text: String,
        _ url: URL?,
        _ more: [String: Any?] = [:]
    ) -> NSError {
        let url = url?.withoutCredentials
        var details = more.compactMapValues(\.self)
        details[NSLocalizedDescriptionKey] = text
        details[NSURLErrorFailingURLErrorKey] = url
        // The key of that name is deprecated, and still read.
        details["NSErrorFailingURLStringKey"] = url?.absoluteString
        return NSError(domain: NSURLErrorDomain, code: code.rawValue, userInfo: details)
    }
}
