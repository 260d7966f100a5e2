import AFWire

/// Whether a server may set a cookie (RFC 6265bis §5.7), as far as that does not depend on the stored cookies.
package enum CookieAdmission {
    package static func admit(
        _ cookie: SetCookie,
        from question: CookieQuestion,
        now: Int64,
        suffixes: PublicSuffixes,
        limits: CookieLimits = .standard
    ) throws(CookieRefusal) -> CookieContent {
        let scope = try scope(of: cookie, question: question, suffixes: suffixes)
        if cookie.isSecure, !question.isSecured { throw .notSecured }
        let content = CookieContent(
            name: cookie.name,
            value: cookie.value,
            domain: scope.domain,
            isHostOnly: scope.isHostOnly,
            path: path(of: cookie, question: question),
            expires: expiry(of: cookie, now: now, limits: limits),
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            sameSite: cookie.sameSite
        )
        try checkPrefix(content, hasPath: cookie.path != .standard(isWritten: false))
        try checkSite(content, question: question, suffixes: suffixes)
        return content
    }

    /// For the program's own cookies. The program may set any cookie that a server could have set somewhere.
    package static func check(_ content: CookieContent, suffixes: PublicSuffixes) throws(CookieRefusal) {
        if !content.isHostOnly, suffixes.isPublicSuffix(content.domain) { throw .publicSuffix }
        try checkPrefix(content, hasPath: true)
    }

    /// For a cookie of the program's own that it says comes from a server.
    package static func check(
        _ content: CookieContent,
        from question: CookieQuestion,
        suffixes: PublicSuffixes
    ) throws(CookieRefusal) {
        let belongs =
            content.isHostOnly
            ? question.host == content.domain
            : CookieMatching.host(question.host, isName: question.hostIsName, matches: content.domain)
        guard belongs else { throw .foreignDomain }
        if content.isSecure, !question.isSecured { throw .notSecured }
        try check(content, suffixes: suffixes)
        try checkSite(content, question: question, suffixes: suffixes)
    }

    // MARK: - Steps

    private static func scope(
        of cookie: SetCookie,
        question: CookieQuestion,
        suffixes: PublicSuffixes
    ) throws(CookieRefusal) -> (domain: String, isHostOnly: Bool) {
        let host = question.host
        guard let bytes = cookie.domain else { return (host, true) }
        // Hosts are in punycode. Other text could compare as equal to a host without being the same.
        guard bytes.allSatisfy({ $0 < 0x80 }) else { throw .foreignDomain }
        let domain = String(decoding: bytes, as: UTF8.self)
        guard question.hostIsName else {
            guard domain == host || domain == question.url.endpoint.host.bracketed else { throw .foreignDomain }
            return (host, true)
        }
        guard CookieMatching.host(host, isName: true, matches: domain) else { throw .foreignDomain }
        guard suffixes.isPublicSuffix(domain) else { return (domain, false) }
        guard domain == host else { throw .publicSuffix }
        return (host, true)
    }

    private static func path(of cookie: SetCookie, question: CookieQuestion) -> [UInt8] {
        switch cookie.path {
        case .given(let path): path
        case .standard: CookieMatching.defaultPath(question.path)
        }
    }

    private static func expiry(of cookie: SetCookie, now: Int64, limits: CookieLimits) -> Int64? {
        switch cookie.lifetime {
        case .session: nil
        case .seconds(let seconds): seconds <= 0 ? CookieContent.ended : now + min(seconds, limits.lifetime)
        case .until(let date): min(date, now + limits.lifetime)
        }
    }

    /// RFC 6265bis §4.1.3 and §5.7. The prefixes are compared without regard to case, because some servers do.
    ///
    /// A cookie that only looks as if it had a prefix is refused in any case: a cookie without a name is sent as its
    /// value alone, and some servers strip more from a name than SP and HTAB, for example a no-break space.
    package static func checkPrefix(_ content: CookieContent, hasPath: Bool) throws(CookieRefusal) {
        let written = content.name.isEmpty ? content.value : content.name
        let read = asRead(written)
        let isHost = has(read, prefix: "__host-")
        guard isHost || has(read, prefix: "__secure-") else { return }
        guard !content.name.isEmpty, has(written, prefix: isHost ? "__host-" : "__secure-"), content.isSecure else {
            throw .prefix
        }
        guard isHost else { return }
        guard content.isHostOnly, hasPath, content.path == [UInt8(ascii: "/")] else { throw .prefix }
    }

    /// The name as a server may read it: without white space, invisible characters and bytes that are not UTF-8. A long
    /// s, whose upper case is S, counts as an S.
    private static func asRead(_ name: [UInt8]) -> [UInt8] {
        if name.allSatisfy({ 0x20 < $0 && $0 < 0x7F }) { return name }
        return String(decoding: name, as: UTF8.self).unicodeScalars.flatMap { scalar -> [UInt8] in
            let properties = scalar.properties
            let isLost =
                properties.isWhitespace || properties.isDefaultIgnorableCodePoint || scalar == "\u{FFFD}"
                || properties.generalCategory == .control || properties.generalCategory == .format
            return isLost ? [] : scalar == "\u{17F}" ? [UInt8(ascii: "s")] : Array(UTF8.encode(scalar) ?? .init())
        }
    }

    private static func has(_ bytes: [UInt8], prefix: StaticString) -> Bool {
        bytes.prefix(prefix.utf8CodeUnitCount).withContiguousStorageIfAvailable {
            ByteScanning.equalsIgnoringCase(UnsafeRawBufferPointer($0), lowercase: prefix)
        } ?? false
    }

    private static func checkSite(
        _ content: CookieContent,
        question: CookieQuestion,
        suffixes: PublicSuffixes
    ) throws(CookieRefusal) {
        switch content.sameSite {
        case .unspecified, .none: return
        case .lax, .strict: if question.isCrossSite(suffixes) { throw .crossSite }
        }
    }
}
