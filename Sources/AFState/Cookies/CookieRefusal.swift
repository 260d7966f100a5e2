/// Why a cookie is refused. The response it came with, and all other cookies, are not affected.
package enum CookieRefusal: Error, Hashable, Sendable {
    /// A byte that could end a line or a string.
    case control
    /// Name and value together are too long.
    case tooLong
    /// The cookie has neither name nor value.
    case empty
    /// The name or value contains a separator, which would make two cookies of one.
    case separator
    /// The domain is a public suffix, so the cookie would go to all domains that are registered below it.
    case publicSuffix
    /// The domain is neither the host nor a parent of it.
    case foreignDomain
    /// The cookie is `Secure`, but the server set it over a connection that is not secured.
    case notSecured
    /// A secure cookie of this name is stored, and this one came over a connection that is not secured.
    case coversSecured
    /// The name begins with `__Host-` or `__Secure-`, and the cookie does not meet the prefix's conditions.
    case prefix
    /// The cookie has `SameSite`, and came from another site than that of the main document.
    case crossSite
    /// The policy of the store or session forbids it.
    case policy
    /// The response has more cookies than are taken from one.
    case excess
}
