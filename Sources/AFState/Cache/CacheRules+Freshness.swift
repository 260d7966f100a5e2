import AFWire

extension CacheRules {
    package enum Usability: Sendable {
        case fresh
        /// The request allows a stale response (`max-stale`).
        case staleAllowed
        /// The response allows its use while the server is asked for a new one.
        case staleWhileRevalidate
        case no
    }

    /// Whether a response may be used without asking its server (RFC 9111 §4.2).
    package static func isUsable(_ stored: StoredHead, for request: CacheRequest, now: CacheInstant) -> Usability {
        let control = stored.control
        guard !control.noCache, !control.isMalformed, !request.control.noCache, !request.control.isMalformed
        else { return .no }
        let age = age(of: stored, now: now)
        let lifetime = lifetime(of: stored)
        // A maximum age of zero asks for confirmation, also within the first second.
        if let maxAge = request.control.maxAge, age > maxAge || maxAge == 0 { return .no }
        if lifetime - age >= max(request.control.minFresh ?? 0, 1) { return .fresh }
        guard !control.mustRevalidate, request.control.minFresh == nil else { return .no }
        let staleness = age - lifetime
        if let maxStale = request.control.maxStale, staleness <= maxStale { return .staleAllowed }
        // A request that limits the age does not ask for an older response.
        guard request.control.maxAge == nil, request.control.maxStale == nil,
            let window = control.staleWhileRevalidate, staleness <= window
        else { return .no }
        return .staleWhileRevalidate
    }

    /// For how long after it was made a response is fresh (RFC 9111 §4.2.1).
    package static func lifetime(of stored: StoredHead) -> Int64 {
        if let maxAge = stored.control.maxAge { return maxAge }
        if stored.facts.contains(.expires) {
            let expires = stored.headers.values("Expires")
            let dates = expires.map { HTTPDate.seconds($0) }
            return clamped((earliest(dates) ?? .min / 2) - date(of: stored))
        }
        return guessedLifetime(of: stored)
    }

    /// A tenth of the time since the resource was last modified (RFC 9111 §4.2.2), for programs that want a guess.
    private static func guessedLifetime(of stored: StoredHead) -> Int64 {
        guard stored.options.contains(.guessesLifetimes), stored.facts.contains(.lastModified),
            heuristicallyFresh.contains(stored.status), !stored.key.hasQuery,
            let changed = earliest(stored.headers.values("Last-Modified").map { HTTPDate.seconds($0) })
        else { return 0 }
        return min(clamped(date(of: stored) - changed) / 10, longestGuess)
    }

    /// RFC 9110 §15.1, without 206, which is never stored.
    static let heuristicallyFresh = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    /// How old a response is (RFC 9111 §4.2.3).
    package static func age(of stored: StoredHead, now: CacheInstant) -> Int64 {
        guard stored.responseTime >= stored.requestTime else { return longest }
        let apparent = clamped(stored.responseTime - date(of: stored))
        let corrected = announcedAge(in: stored.headers) + clamped(stored.responseTime - stored.requestTime)
        return clamped(max(apparent, corrected) + residence(of: stored, now: now))
    }

    /// The age that the caches on the way announce. RFC 9111 §5.1: of several members the first counts, and one that is
    /// no number of seconds is ignored.
    private static func announcedAge(in headers: HTTPHeaders) -> Int64 {
        var age: Int64?
        headers.forEach { name, value in
            guard ByteScanning.equalsIgnoringCase(name, lowercase: "age") else { return }
            ByteScanning.forEachListElement(of: value) { member in
                if age == nil, !member.isEmpty { age = CacheControl.seconds(member) ?? 0 }
            }
        }
        return age ?? 0
    }

    /// The time since the response was received. If the calendar's clock was set back, the machine's clock counts, and
    /// a response from before this process began has none.
    private static func residence(of stored: StoredHead, now: CacheInstant) -> Int64 {
        let byCalendar = now.wall.subtractingReportingOverflow(stored.responseTime)
        guard !byCalendar.overflow else { return longest }
        guard let came = stored.responseMonotonic else {
            return byCalendar.partialValue < 0 ? longest : clamped(byCalendar.partialValue)
        }
        return clamped(max(byCalendar.partialValue, now.monotonic &- came))
    }

    /// When the response was made: its `Date`, or when it was received if `Date` is missing or unreadable (RFC 9110
    /// §6.6.1).
    static func date(of stored: StoredHead) -> Int64 {
        var earliest: Int64?
        stored.headers.forEachValue(of: "Date") { value in
            if let date = HTTPDate.seconds(value) { earliest = min(date, earliest ?? date) }
        }
        return earliest ?? stored.responseTime
    }

    /// Nil if there is none, or one of them is no date.
    private static func earliest(_ dates: [Int64?]) -> Int64? {
        var earliest: Int64?
        for date in dates {
            guard let date else { return nil }
            earliest = min(earliest ?? date, date)
        }
        return earliest
    }

    private static func clamped(_ seconds: Int64) -> Int64 { min(max(seconds, 0), longest) }

    // MARK: - When the server cannot answer

    /// Whether a stale response may stand in for an error (RFC 5861 §4).
    ///
    /// - Parameter status: The status of the server's response; nil if the server could not be reached.
    package static func mayReplaceError(
        _ status: Int?,
        with stored: StoredHead,
        for request: CacheRequest,
        now: CacheInstant
    ) -> Bool {
        if let status, ![500, 502, 503, 504].contains(status) { return false }
        let control = stored.control
        guard stored.partition.admits(request.identities), !control.mustRevalidate, !control.noCache,
            !control.isMalformed, !request.control.noCache,
            !request.control.isMalformed, !request.control.noStore,
            let window = [control.staleIfError, request.control.staleIfError].compactMap({ $0 }).max()
        else { return false }
        return age(of: stored, now: now) - lifetime(of: stored) <= window
    }
}
