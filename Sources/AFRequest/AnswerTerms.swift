/// What the caller of a request says about its answer. The session reads it; the transport does not.
package struct AnswerTerms: Sendable {
    /// How a cache may be used, if the caller said so.
    package let cacheUse: CacheUse?
    /// Whether the body keeps its content coding.
    package let keepsCoding: Bool
    /// Whether the request has interceptors of its own.
    package let hasInterceptors: Bool

    package init(cacheUse: CacheUse? = nil, keepsCoding: Bool = false, hasInterceptors: Bool = false) {
        self.cacheUse = cacheUse
        self.keepsCoding = keepsCoding
        self.hasInterceptors = hasInterceptors
    }

    /// The cases of `URLRequest.CachePolicy`, which says what they mean.
    package enum CacheUse: UInt8, Sendable {
        case useProtocol
        case reloadIgnoringLocal
        case returnElseLoad
        case returnDontLoad
        case reloadIgnoringLocalAndRemote
        case reloadRevalidating
    }
}
