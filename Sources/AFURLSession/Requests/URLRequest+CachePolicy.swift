extension URLRequest {
    /// How stored responses may serve a request.
    public enum CachePolicy: UInt, Sendable {
        /// By the rules of HTTP.
        case useProtocolCachePolicy = 0
        /// From the origin server, whatever the cache holds.
        case reloadIgnoringLocalCacheData = 1
        /// From the cache, however old; from the origin server if the cache has none.
        case returnCacheDataElseLoad = 2
        /// From the cache, however old; an error if the cache has none.
        case returnCacheDataDontLoad = 3
        /// From the origin server; caches on the way are asked not to answer.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// From the cache after the origin server has confirmed it.
        case reloadRevalidatingCacheData = 5

        /// The older name of ``reloadIgnoringLocalCacheData``.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }
}
