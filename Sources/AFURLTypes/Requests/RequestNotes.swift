import AFTransport

/// What a session notes about a request when it freezes it.
struct RequestNotes {
    private static let interceptors: UInt8 = 0x80

    package let bits: UInt8

    package init(_ contents: URLRequest.Contents) {
        // 0 means that the request has no cache policy of its own.
        let policy = contents.explicitCachePolicy.map { UInt8($0.rawValue) + 1 } ?? 0
        bits = policy | (contents.interception.hasInterceptors ? RequestNotes.interceptors : 0)
    }

    fileprivate init(bits: UInt8) {
        self.bits = bits
    }

    fileprivate var cachePolicy: URLRequest.CachePolicy? {
        let policy = bits & ~RequestNotes.interceptors
        return policy == 0 ? nil : URLRequest.CachePolicy(rawValue: UInt(policy - 1))
    }

    fileprivate var hasInterceptors: Bool { bits & RequestNotes.interceptors != 0 }
}

extension WireRequest {
    /// The cache policy that the request itself names, if it does.
    package var cachePolicy: URLRequest.CachePolicy? { RequestNotes(bits: terms.notes).cachePolicy }

    /// Whether the caller has set interceptors for this request.
    package var hasInterceptors: Bool { RequestNotes(bits: terms.notes).hasInterceptors }
}
