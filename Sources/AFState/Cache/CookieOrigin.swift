/// Where the cookies of a request are from, and what else it says of its user.
///
/// Many servers give a cookie another value with each response, so that hardly two requests have the same. Two requests of
/// one origin may still be of two users, one of whom logged in after the other. So a response to the one answers the other
/// only where the server says so each time, by a strong entity tag: it has seen the cookies.
package struct CookieOrigin: Sendable, Hashable {
    private let epoch: CookieEpoch
    private let others: RequestIdentity

    /// Nil if the request has no cookies, or others than those of a storage.
    package init?(_ epoch: CookieEpoch, of request: CacheRequest, options: CacheOptions) {
        guard epoch != .none, let others = request.identities.besideCookies else { return nil }
        self.epoch = epoch
        self.others = options.contains(.servesOneUser) ? others.bySecrets : others.byAnyField
    }
}
