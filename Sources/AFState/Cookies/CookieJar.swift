/// The cookies of a store, and the storage model of RFC 6265bis §5.7 and §5.8. A value: its owner locks it and passes
/// the time.
///
/// Cookies are kept by domain. A host is looked up with each of its parents, so the cookies of other domains cost a
/// request nothing. A look-up takes a step for each label of the host and each cookie of the domains it finds.
package struct CookieJar: Sendable {
    package struct Domain: Sendable {
        /// The registrable domain. When there are too many cookies, the limit counts them by it.
        package let site: String
        package var cookies: [StoredCookie]
    }

    package let limits: CookieLimits
    package private(set) var count = 0
    /// Another one whenever a cookie is removed, and none takes its place.
    package private(set) var epoch = CookieEpoch.begin()
    package var domains: [String: Domain] = [:]
    private var siteCounts: [String: Int] = [:]
    private var securedCount = 0
    private var ticks: UInt64 = 0
    /// The latest time that the owner has passed.
    private var clock = Int64.min
    /// No cookie ends before this time.
    private var firstEnd = Int64.max

    package init(limits: CookieLimits = .standard) {
        self.limits = limits
    }

    package var isEmpty: Bool { count == 0 }

    /// The cookies in order of creation.
    package var cookies: [StoredCookie] {
        domains.values.flatMap(\.cookies).sorted { $0.order < $1.order }
    }

    // MARK: - Time

    /// Removes the cookies that have ended. They do not come back when the clock is set back. A cookie that was stored
    /// while the clock was ahead does not live longer than any cookie may.
    @discardableResult
    package mutating func advance(to now: Int64) -> Bool {
        if now < clock { capLifetimes(at: now) }
        clock = now
        guard firstEnd <= now else { return false }
        let before = count
        removeAll { $0.content.isExpired(at: now) }
        firstEnd = domains.values.flatMap(\.cookies).compactMap(\.content.expires).min() ?? .max
        return count != before
    }

    private mutating func capLifetimes(at now: Int64) {
        let latest = now + limits.lifetime
        for key in Array(domains.keys) {
            guard var domain = domains[key] else { continue }
            for index in domain.cookies.indices {
                guard let end = domain.cookies[index].content.expires, end > latest else { continue }
                domain.cookies[index].content.expires = latest
                firstEnd = min(firstEnd, latest)
            }
            domains[key] = domain
        }
    }

    // MARK: - Storing

    /// Stores a cookie that was admitted, in place of the one with its key.
    ///
    /// - Parameters:
    ///   - isSecured: Whether the cookie came over a secured connection, or from the program.
    ///   - isOneOfMany: Whether the jar may have too many of all domains together until `evictExcess()` is called.
    /// - Returns: Whether the jar has changed.
    @discardableResult
    package mutating func store(
        _ content: CookieContent,
        isSecured: Bool,
        now: Int64,
        suffixes: PublicSuffixes,
        isOneOfMany: Bool = false
    ) throws(CookieRefusal) -> Bool {
        advance(to: now)
        if !isSecured, !content.isSecure, coversSecured(content) { throw .coversSecured }
        var content = content
        if let end = content.expires { content.expires = min(end, now + limits.lifetime) }
        let former = take(content.key)
        if content.isExpired(at: now) {
            if former != nil { epoch = .begin() }
            return former != nil
        }
        ticks += 1
        let created = former?.created ?? now
        add(
            StoredCookie(content: content, created: created, order: former?.order ?? ticks, lastUse: ticks),
            suffixes: suffixes
        )
        evictExcess(in: content.domain)
        if !isOneOfMany { evictOneByOne() }
        return former?.content != content
    }

    /// Stores a cookie of another jar.
    package mutating func restore(_ cookie: StoredCookie, now: Int64, suffixes: PublicSuffixes) {
        guard !cookie.content.isExpired(at: now),
            (try? CookieAdmission.check(cookie.content, suffixes: suffixes)) != nil
        else { return }
        var cookie = cookie
        if let end = cookie.content.expires { cookie.content.expires = min(end, now + limits.lifetime) }
        _ = take(cookie.content.key)
        ticks = max(ticks, cookie.order, cookie.lastUse)
        add(cookie, suffixes: suffixes)
        evictExcess(in: cookie.content.domain)
        evictOneByOne()
    }

    private mutating func add(_ cookie: StoredCookie, suffixes: PublicSuffixes) {
        let name = cookie.content.domain
        if let site = domains[name]?.site {
            siteCounts[site, default: 0] += 1
            domains[name]?.cookies.append(cookie)
        } else {
            let site = suffixes.registrableDomain(of: name) ?? name
            siteCounts[site, default: 0] += 1
            domains[name] = Domain(site: site, cookies: [cookie])
        }
        count += 1
        if cookie.content.isSecure { securedCount += 1 }
        if let end = cookie.content.expires { firstEnd = min(firstEnd, end) }
    }

    /// Whether a secured cookie of that name would be sent together with this one, or instead of it. An attacker on the
    /// way could otherwise replace it by its own cookie.
    private func coversSecured(_ new: CookieContent) -> Bool {
        guard securedCount > 0 else { return false }
        return domains.contains { name, domain in
            guard
                name == new.domain || CookieMatching.host(name, isBelow: new.domain)
                    || CookieMatching.host(new.domain, isBelow: name)
            else { return false }
            return domain.cookies.contains { old in
                old.content.isSecure && old.content.name == new.name
                    && CookieMatching.path(new.path, matches: old.content.path)
            }
        }
    }

    /// Uses other rules from now on: drops the cookies that they forbid, and counts sites by them.
    package mutating func judge(by suffixes: PublicSuffixes) {
        removeAll { !$0.content.isHostOnly && suffixes.isPublicSuffix($0.content.domain) }
        siteCounts = [:]
        for (name, domain) in domains {
            let site = suffixes.registrableDomain(of: name) ?? name
            siteCounts[site, default: 0] += domain.cookies.count
            domains[name] = Domain(site: site, cookies: domain.cookies)
        }
    }

    // MARK: - Removing

    @discardableResult
    package mutating func remove(_ key: CookieContent.Key) -> StoredCookie? {
        let removed = take(key)
        if removed != nil { epoch = .begin() }
        return removed
    }

    private mutating func take(_ key: CookieContent.Key) -> StoredCookie? {
        guard let index = domains[key.domain]?.cookies.firstIndex(where: { $0.content.key == key }) else { return nil }
        return remove(at: index, of: key.domain)
    }

    private mutating func remove(at index: Int, of name: String) -> StoredCookie? {
        guard let site = domains[name]?.site, let cookie = domains[name]?.cookies.remove(at: index) else { return nil }
        if domains[name]?.cookies.isEmpty == true { domains[name] = nil }
        noteRemoved(cookie, from: site)
        return cookie
    }

    private mutating func noteRemoved(_ cookie: StoredCookie, from site: String) {
        count -= 1
        if cookie.content.isSecure { securedCount -= 1 }
        let left = (siteCounts[site] ?? 1) - 1
        siteCounts[site] = left == 0 ? nil : left
    }

    package mutating func removeAll(where isUnwanted: (StoredCookie) -> Bool) {
        let before = count
        defer { if count < before { epoch = .begin() } }
        for (name, domain) in domains {
            let kept = domain.cookies.filter { !isUnwanted($0) }
            guard kept.count < domain.cookies.count else { continue }
            for cookie in domain.cookies where isUnwanted(cookie) { noteRemoved(cookie, from: domain.site) }
            domains[name] = kept.isEmpty ? nil : Domain(site: domain.site, cookies: kept)
        }
    }

    mutating func noteUse(at index: Int, of domain: String) {
        ticks += 1
        domains[domain]?.cookies[index].lastUse = ticks
    }
}

// MARK: - Too many

extension CookieJar {
    /// Removes cookies of the domain itself first (RFC 6265bis §5.7), so that a domain that stores too many loses its
    /// own.
    private mutating func evictExcess(in name: String) {
        while let domain = domains[name], domain.cookies.count > limits.perDomain {
            evict(domain.cookies.indices.min { rank(domain.cookies[$0]) < rank(domain.cookies[$1]) }, of: name)
        }
    }

    private mutating func evictOneByOne() {
        while count > limits.total { evictAnywhere() }
    }

    /// Removes the same cookies as one by one, in one go: after many were stored, one by one would take for each of them
    /// the time of a look at all.
    package mutating func evictExcess() {
        var left = count - limits.total
        // For a few too many, a look at all cookies for each of them does; sorting all of them is for more.
        guard left > 8 else { return evictOneByOne() }
        let all = domains.values.flatMap { domain in domain.cookies.map { (site: domain.site, cookie: $0) } }
        var surplus = siteCounts.compactMapValues { $0 > limits.perDomain ? $0 - limits.perDomain : nil }
        var evicted: Set<CookieContent.Key> = []
        let ofLargeSites = all.filter { surplus[$0.site] != nil }
        for (site, cookie) in ofLargeSites.sorted(by: { rank($0.cookie) < rank($1.cookie) }) where left > 0 {
            guard let count = surplus[site], count > 0 else { continue }
            surplus[site] = count - 1
            evicted.insert(cookie.content.key)
            left -= 1
        }
        let others = all.lazy.map(\.cookie).filter { !evicted.contains($0.content.key) }
        if left > 0 { evicted.formUnion(others.sorted { $0.lastUse < $1.lastUse }.prefix(left).map(\.content.key)) }
        removeAll { evicted.contains($0.content.key) }
    }

    /// Then removes cookies of sites that have more than a domain may have, on any number of domains; then the longest
    /// unused.
    private mutating func evictAnywhere() {
        var first: (rank: (Int, UInt64), index: Int, domain: String)?
        for (name, domain) in domains {
            let isExcessive = siteCounts[domain.site, default: 0] > limits.perDomain
            for (index, cookie) in domain.cookies.enumerated() {
                let rank = (isExcessive ? rank(cookie).0 : 2, cookie.lastUse)
                if first.map({ rank < $0.rank }) ?? true { first = (rank, index, name) }
            }
        }
        evict(first?.index, of: first?.domain ?? "")
    }

    /// Cookies that are not secured are removed first, then the longest unused. Ended cookies are removed already.
    private func rank(_ cookie: StoredCookie) -> (Int, UInt64) {
        (cookie.content.isSecure ? 1 : 0, cookie.lastUse)
    }

    private mutating func evict(_ index: Int?, of name: String) {
        guard let index else { return }
        _ = remove(at: index, of: name)
    }
}
