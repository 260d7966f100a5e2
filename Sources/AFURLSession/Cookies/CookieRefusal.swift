/// Why a cookie is not taken. The response it came with, and all other cookies, are none the worse for it.
enum CookieRefusal: Error, Hashable, Sendable {
    /// A byte that could end a line or a string somewhere.
    case control
    /// Name and value together.
    case tooLong
    /// Neither name nor value.
    case empty
    /// A separator in the name or value, which would make two cookies of one.
    case separator
    /// The domain belongs to a registry, and so to everybody below it.
    case publicSuffix
    /// The domain is neither the host nor a parent of it.
    case foreignDomain
    /// `Secure`, by somebody who cannot be trusted with it.
    case notSecured
    /// A secure cookie of this name is there, and this one came in the clear.
    case coversSecured
    /// `__Host-` or `__Secure-`, without what these promise.
    case prefix
    /// `SameSite`, from another site than that of the main document.
    case crossSite
    /// The policy of the store or session.
    case policy
    /// Behind the last that is taken from one response.
    case excess
}
