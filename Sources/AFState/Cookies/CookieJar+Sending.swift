import AFWire

/// The cookies that are sent with a request (RFC 6265bis §5.8).
extension CookieJar {
    private struct Candidate {
        let domain: String
        let index: Int
        let cookie: StoredCookie
    }

    /// The cookies for a request, in the order in which they are sent. This does not count as a use.
    package mutating func cookies(for question: CookieQuestion, now: Int64, suffixes: PublicSuffixes) -> [StoredCookie]
    {
        candidates(for: question, now: now, suffixes: suffixes).map(\.cookie)
    }

    /// The value of the `Cookie` field; nil if there is nothing to send.
    package mutating func field(for question: CookieQuestion, now: Int64, suffixes: PublicSuffixes) -> [UInt8]? {
        var bytes: [UInt8] = []
        var sent = 0
        for candidate in candidates(for: question, now: now, suffixes: suffixes) {
            guard sent < limits.perRequest else { break }
            // A shorter cookie behind this one may still have room.
            let length = candidate.cookie.content.pairLength + (sent > 0 ? 2 : 0)
            guard bytes.count + length <= limits.requestBytes else { continue }
            if sent > 0 { bytes += [UInt8(ascii: ";"), UInt8(ascii: " ")] }
            candidate.cookie.content.appendPair(to: &bytes)
            sent += 1
            noteUse(at: candidate.index, of: candidate.domain)
        }
        return sent > 0 ? bytes : nil
    }

    private mutating func candidates(
        for question: CookieQuestion,
        now: Int64,
        suffixes: PublicSuffixes
    ) -> [Candidate] {
        advance(to: now)
        var found: [Candidate] = []
        let path = question.path
        let isCrossSite = question.isCrossSite(suffixes)
        forEachDomain(of: question) { name, isHost in
            guard let domain = domains[name] else { return }
            for (index, cookie) in domain.cookies.enumerated() {
                guard isHost || !cookie.content.isHostOnly,
                    cookie.content.goes(to: question, path: path, isCrossSite: isCrossSite)
                else { continue }
                found.append(Candidate(domain: name, index: index, cookie: cookie))
            }
        }
        return found.sorted { one, other in
            let (left, right) = (one.cookie.content.path.count, other.cookie.content.path.count)
            return left == right ? one.cookie.order < other.cookie.order : left > right
        }
    }

    /// Calls `body` with the host and, if it is a name, with each of its parents.
    private func forEachDomain(of question: CookieQuestion, body: (_ name: String, _ isHost: Bool) -> Void) {
        let host = question.host
        body(host, true)
        guard question.hostIsName else { return }
        var rest = Substring(host)
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            body(String(rest), false)
        }
    }
}

extension CookieContent {
    fileprivate func goes(to question: CookieQuestion, path: ArraySlice<UInt8>, isCrossSite: Bool) -> Bool {
        if isSecure, !question.isSecured { return false }
        if let ports = details?.ports, !ports.isEmpty, !ports.contains(question.url.endpoint.port) { return false }
        switch sameSite {
        case .unspecified, .none: break
        // A load of another site's main document is always a part of that document and never a navigation, so lax acts
        // as strict.
        case .lax, .strict: if isCrossSite { return false }
        }
        return CookieMatching.path(path, matches: self.path)
    }
}
