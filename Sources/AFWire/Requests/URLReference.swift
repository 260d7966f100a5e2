/// A reference as it stands in `Location`, resolved against the URL it was received from (RFC 3986 §5.2, strictly).
///
/// Works on bytes, and what comes out has passed the same checks as any URL of a caller. User information of either
/// side is dropped: a server has no say in whose credentials are used.
package struct URLReference: Hashable, Sendable {
    /// Where it leads.
    package let url: RequestURL
    /// What stood behind `#`, or the base's if there was no `#` (RFC 9110 §10.2.2). Never sent.
    package let fragment: [UInt8]?

    /// The whole as text, without user information. With a zone, which is of this host only: it is never sent.
    package var text: String {
        guard let fragment else { return url.localText }
        return "\(url.localText)#\(String(decoding: fragment, as: UTF8.self))"
    }

    package init(
        _ reference: UnsafeRawBufferPointer,
        relativeTo base: RequestURL,
        fragment baseFragment: [UInt8]? = nil
    ) throws(RequestRejection) {
        if reference.count > RequestURL.maximumLength { throw RequestRejection(.url, rule: .tooLong) }
        let bytes = Array(reference)
        let hash = bytes.firstIndex(of: UInt8(ascii: "#"))
        let text = try Self.absolute(bytes[..<(hash ?? bytes.endIndex)], base: base)
        url = try text.withUnsafeBytes { text in Result { () throws(RequestRejection) in try RequestURL(text) } }.get()
        if let hash { fragment = try Self.checked(bytes[(hash + 1)...]) } else { fragment = baseFragment }
    }

    private static func checked(_ fragment: ArraySlice<UInt8>) throws(RequestRejection) -> [UInt8] {
        if fragment.contains(where: { $0 < 0x20 || $0 == 0x7F }) { throw RequestRejection(.url, rule: .control) }
        return Array(fragment).withUnsafeBytes { PercentEncoding.encodeOnce($0, allowed: .target) }
    }

    // MARK: - RFC 3986 §5.2.2

    private static func absolute(
        _ reference: ArraySlice<UInt8>,
        base: RequestURL
    ) throws(RequestRejection) -> [UInt8] {
        if let schemeEnd = schemeEnd(reference) {
            return withoutDots(in: reference, authorityAt: schemeEnd)
        }
        let scheme = Array("\(base.endpoint.scheme.text):".utf8)
        if reference.starts(with: "//".utf8) {
            return withoutDots(in: (scheme + reference)[...], authorityAt: scheme.count)
        }
        let origin = scheme + Array("//\(base.endpoint.urlField)".utf8)
        return origin + target(reference, base: base.target)
    }

    /// Behind the colon, if the reference begins with a scheme.
    private static func schemeEnd(_ reference: ArraySlice<UInt8>) -> Int? {
        guard let first = reference.first, ASCIISet.letters.contains(first) else { return nil }
        let end = reference.firstIndex { !ASCIISet.letterDigits.contains($0) && !"+-.".utf8.contains($0) }
        guard let end, reference[end] == UInt8(ascii: ":") else { return nil }
        return end + 1
    }

    private static func withoutDots(in text: ArraySlice<UInt8>, authorityAt start: Int) -> [UInt8] {
        guard text[start...].starts(with: "//".utf8) else { return Array(text) }
        let path = text[(start + 2)...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        guard let path, text[path] == UInt8(ascii: "/") else { return Array(text) }
        return text[..<path] + withoutDots(text[path...])
    }

    private static func target(_ reference: ArraySlice<UInt8>, base: [UInt8]) -> [UInt8] {
        let path = base.prefix { $0 != UInt8(ascii: "?") }
        switch reference.first {
        case nil: return base
        case UInt8(ascii: "?"): return Array(path) + reference
        case UInt8(ascii: "/"): return withoutDots(reference)
        default:
            let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
            return withoutDots((path[..<slash] + [UInt8(ascii: "/")] + reference)[...])
        }
    }

    /// RFC 3986 §5.2.4, on the path in front of any query.
    private static func withoutDots(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let path = text.prefix { $0 != UInt8(ascii: "?") }
        var segments: [ArraySlice<UInt8>] = []
        var endsInDots = false
        for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            endsInDots = isDots(segment)
            guard endsInDots else {
                segments.append(segment)
                continue
            }
            if segment.count == 2, !segments.isEmpty { segments.removeLast() }
        }
        if endsInDots { segments.append([]) }
        let joined = segments.flatMap { [UInt8(ascii: "/")] + $0 }
        return (joined.isEmpty ? [UInt8(ascii: "/")] : joined) + text[path.endIndex...]
    }

    private static func isDots(_ segment: ArraySlice<UInt8>) -> Bool {
        segment.count <= 2 && !segment.isEmpty && segment.allSatisfy { $0 == UInt8(ascii: ".") }
    }
}
