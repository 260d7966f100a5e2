extension URLRequest {
    /// How stored responses may serve a request.
    public enum CachePolicy: UInt, Sendable {
        /// As HTTP says.
        case useProtocolCachePolicy = 0
        /// From the origin, whatever is stored here.
        case reloadIgnoringLocalCacheData = 1
        /// From the cache, however old; from the origin if nothing is stored.
        case returnCacheDataElseLoad = 2
        /// From the cache, however old; an error if nothing is stored.
        case returnCacheDataDontLoad = 3
        /// From the origin, and ask caches on the way not to answer.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// From the cache after the origin has confirmed it.
        case reloadRevalidatingCacheData = 5

        /// The older name of ``reloadIgnoringLocalCacheData``.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }
}
