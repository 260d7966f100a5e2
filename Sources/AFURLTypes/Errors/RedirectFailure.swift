package import AFWire

/// Why the session did not follow a redirect.
package enum RedirectFailure: Error, Sendable {
    case tooMany(Int)
    /// `Location` is no URL that the session can load.
    case unusable(RequestRejection)
    /// There are several `Location` fields, and they differ.
    case ambiguous
    /// The session does not load the scheme.
    case foreignScheme(EscapedText)
    /// It leads from https to http.
    case plainText(Endpoint)
    /// The session would have to send the body again, and cannot.
    case bodyIsGone(Endpoint)
    /// The body would go to another origin, and neither the policy nor the delegate allowed it.
    case bodyLeavesOrigin(Endpoint)
    /// A URL protocol class redirected after its response, which the task cannot take back.
    case responseIsTaken
}
