import AFWire

/// What may be stored, and when it may be used: RFC 9111 for a private cache, with RFC 5861 (stale responses) and RFC
/// 8246 (`immutable`). Pure: the caller passes the time, and the rules read and write nothing.
///
/// A value that cannot be read counts as the strictest of its possible meanings.
package enum CacheRules {
    /// The limit that every number of seconds is clamped to (RFC 9111 §1.2.2).
    package static let longest: Int64 = 1 << 31
    /// The longest lifetime that is guessed for a response that names none.
    static let longestGuess: Int64 = 24 * 60 * 60

    // MARK: - Which one

    /// The stored response that the request selects, the latest of several.
    ///
    /// - Parameters:
    ///   - scope: Under which the request's server is trusted. A response that the program itself stored counts under all.
    ///   - decodes: Whether the task gets bodies without their content coding.
    ///   - origin: Where the request's cookies are from. If no response is for the same cookies, one is selected whose
    ///     server can say whether it is for these.
    package static func select<Entry>(
        from entries: [Entry],
        head: (Entry) -> StoredHead,
        for request: CacheRequest,
        under scope: TrustScope,
        decodes: Bool,
        origin: CookieOrigin? = nil
    ) -> Entry? {
        // A response that is not HTTP's answers no task.
        let own = latest(of: entries, head: head) {
            $0.status > 0 && matches($0, request: request, under: scope, decodes: decodes)
        }
        if own != nil || origin == nil { return own }
        return latest(of: entries, head: head) {
            isForOtherCookies($0, request: request, of: origin, under: scope, decodes: decodes)
                && strongTag(of: $0) != nil
        }
    }

    private static func latest<Entry>(
        of entries: [Entry],
        head: (Entry) -> StoredHead,
        where isWanted: (StoredHead) -> Bool
    ) -> Entry? {
        var best: Entry?
        for entry in entries where isWanted(head(entry)) {
            if let best, isOlder(head(entry), than: head(best)) { continue }
            best = entry
        }
        return best
    }

    package static func matches(
        _ head: StoredHead,
        request: CacheRequest,
        under scope: TrustScope,
        decodes: Bool
    ) -> Bool {
        mayAnswer(head, request: request) && head.partition.admits(request.identities)
            && isFor(scope, decodes: decodes, head: head)
    }

    private static func isFor(_ scope: TrustScope, decodes: Bool, head: StoredHead) -> Bool {
        (head.partition.scope == scope || head.partition.scope == .program)
            && (head.isDecoded == decodes || !head.facts.contains(.contentEncoding))
    }

    /// Whether the response is to a request that says the same but for its cookies, which are from the same storage.
    package static func isForOtherCookies(
        _ head: StoredHead,
        request: CacheRequest,
        of origin: CookieOrigin?,
        under scope: TrustScope,
        decodes: Bool
    ) -> Bool {
        guard let origin, head.cookies == origin, head.key == request.key, head.status == 200 else { return false }
        return isFor(scope, decodes: decodes, head: head)
            && head.vary.allSatisfy { $0.name == "cookie" || VaryField($0.name, of: request.headers) == $0 }
    }

    /// Whether a stored response may be the answer to some request with the same URL and the same fields.
    package static func mayAnswer(_ head: StoredHead, request: CacheRequest) -> Bool {
        head.key == request.key && head.vary.allSatisfy { VaryField($0.name, of: request.headers) == $0 }
    }

    /// Of two that were received in the same second, the one that is further behind is the later.
    private static func isOlder(_ head: StoredHead, than other: StoredHead) -> Bool {
        (head.responseTime, head.requestTime) < (other.responseTime, other.requestTime)
    }

    /// Whether a stored response stays in place of another one for the same request: it came while that was on its way,
    /// and is the later one (RFC 9111 §4).
    static func outlives(_ stored: StoredHead, head: StoredHead) -> Bool {
        guard stored.responseTime >= head.requestTime else { return false }
        // Most have the same date, which need not be read then.
        let isSameDate = hasSameDate(stored.headers, other: head.headers)
        if isSameDate { return head.responseTime < stored.responseTime }
        return (date(of: head), head.responseTime) < (date(of: stored), stored.responseTime)
    }

    private static func hasSameDate(_ one: HTTPHeaders, other: HTTPHeaders) -> Bool {
        var isSame = false
        one.withFirstValue(of: "Date") { date in
            other.withFirstValue(of: "Date") { isSame = $0.elementsEqual(date) }
        }
        return isSame
    }

    // MARK: - What to do

    /// - Parameter stored: The response that ``select(from:head:for:under:decodes:origin:)`` found.
    package static func plan(
        _ request: CacheRequest,
        policy: CacheUse,
        stored: StoredHead?,
        now: CacheInstant
    ) -> CachePlan {
        let stored = request.mayBeAnswered ? stored : nil
        let network: CachePlan = request.control.onlyIfCached ? .fail : .network
        if let stored, !stored.partition.admits(request.identities) {
            return askAboutOtherCookies(stored, for: request, policy: policy)
                ?? plan(request, policy: policy, stored: nil, now: now)
        }
        switch policy {
        case .reloadIgnoringLocalCacheData: return network
        case .reloadIgnoringLocalAndRemoteCacheData:
            return request.control.onlyIfCached ? .fail : .network(noCacheFields)
        case .returnCacheDataElseLoad: return stored == nil ? network : .serve
        case .returnCacheDataDontLoad: return stored == nil ? .fail : .serve
        case .reloadRevalidatingCacheData: return revalidate(stored, for: request, now: now)
        case .useProtocolCachePolicy:
            guard let stored, !request.control.noStore, !stored.isInert || request.control != CacheControl() else {
                return network
            }
            return follow(stored, for: request, now: now)
        }
    }

    /// The fields for every cache on the way (RFC 9111 §5.2.1.4, §5.4).
    private static var noCacheFields: HTTPHeaders {
        var fields = HTTPHeaders()
        fields.append("Cache-Control", value: "no-cache")
        fields.append("Pragma", value: "no-cache")
        return fields
    }

    private static func revalidate(_ stored: StoredHead?, for request: CacheRequest, now: CacheInstant) -> CachePlan {
        // RFC 8246 §2: as long as it is fresh, asking the server gains nothing.
        if let stored, stored.control.immutable, isUsable(stored, for: request, now: now) == .fresh { return .serve }
        if request.control.onlyIfCached { return .fail }
        var fields = stored.map(conditions(for:)) ?? HTTPHeaders()
        let asksAboutStored = !fields.isEmpty
        // With this, caches on the way have to ask the server as well (RFC 9111 §5.2.1.1).
        fields.append("Cache-Control", value: "max-age=0")
        return asksAboutStored ? .validate(fields) : .network(fields)
    }

    /// Only the server may say that the response is for this request, too.
    private static func askAboutOtherCookies(
        _ stored: StoredHead,
        for request: CacheRequest,
        policy: CacheUse
    ) -> CachePlan? {
        guard !request.control.noStore, !request.control.onlyIfCached, let tag = strongTag(of: stored) else {
            return nil
        }
        var fields = HTTPHeaders()
        fields.append("If-None-Match", value: tag)
        switch policy {
        case .useProtocolCachePolicy: return .validate(fields)
        case .reloadRevalidatingCacheData:
            fields.append("Cache-Control", value: "max-age=0")
            return .validate(fields)
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .returnCacheDataElseLoad,
            .returnCacheDataDontLoad:
            return nil
        }
    }

    private static func follow(_ stored: StoredHead, for request: CacheRequest, now: CacheInstant) -> CachePlan {
        switch isUsable(stored, for: request, now: now) {
        case .fresh, .staleAllowed: return .serve
        case .staleWhileRevalidate:
            // Without a validator the whole request would be sent again.
            return request.control.onlyIfCached ? .serve : .serveAndValidate(conditions(for: stored))
        case .no: return ask(stored, for: request, now: now)
        }
    }

    private static func ask(_ stored: StoredHead, for request: CacheRequest, now: CacheInstant) -> CachePlan {
        if request.control.onlyIfCached { return .fail }
        let conditions = conditions(for: stored)
        // Without a validator, the stored response can still stand in for an error.
        let helps = !conditions.isEmpty || mayReplaceError(nil, with: stored, for: request, now: now)
        return helps ? .validate(conditions) : .network
    }
}

/// How a request wants the cache to be used.
package enum CacheUse: Sendable {
    /// The rules of HTTP decide.
    case useProtocolCachePolicy
    case reloadIgnoringLocalCacheData
    case reloadIgnoringLocalAndRemoteCacheData
    case returnCacheDataElseLoad
    case returnCacheDataDontLoad
    case reloadRevalidatingCacheData
}
