import AFBase

/// An absolute http or https URL, split once into what goes where.
///
/// Parsed from the bytes of the URL's text, never from decoded parts: whatever is checked here is what is sent. Every
/// step walks forward once, so a hostile URL costs time in proportion to its length and nothing more. Dot segments
/// are left as they are; the origin resolves them.
package struct RequestURL: Hashable, Sendable {
    package static let maximumLength = 65_536

    package let endpoint: Endpoint
    /// Origin form (RFC 9112 §3.2.1): begins with `/`, holds no fragment, and only bytes a request line may hold.
    package let target: [UInt8]
    /// What stood before `@`, still encoded. It goes nowhere unless the caller asks for it.
    package let userInfo: [UInt8]?

    package init(_ text: String) throws(RequestRejection) {
        self = try text.withUTF8Bytes { bytes throws(RequestRejection) in try RequestURL(bytes) }
    }

    /// - Parameter opensWebSocket: Whether `ws` and `wss` stand for `http` and `https`.
    package init(_ text: String, opensWebSocket: Bool) throws(RequestRejection) {
        guard opensWebSocket else {
            self = try RequestURL(text)
            return
        }
        let converted = Self.httpText(ofWebSocket: text)
        do {
            self = try RequestURL(converted)
        } catch {
            // The program counts in what it wrote.
            throw error.moved(by: converted.utf8.count - text.utf8.count)
        }
    }

    package static func httpText(ofWebSocket text: String) -> String {
        text.withUTF8Bytes { String(decoding: httpBytes(ofWebSocket: $0), as: UTF8.self) }
    }

    /// RFC 6455 §3: `ws` and `wss` name the same servers as `http` and `https`, with the same ports.
    package static func httpBytes(ofWebSocket bytes: UnsafeRawBufferPointer) -> [UInt8] {
        guard hasPrefix(bytes, lowered: "ws:") || hasPrefix(bytes, lowered: "wss:") else { return Array(bytes) }
        return Array("http".utf8) + bytes[2...]
    }

    package init(_ bytes: UnsafeRawBufferPointer) throws(RequestRejection) {
        if bytes.count > Self.maximumLength { throw RequestRejection(.url, rule: .tooLong) }
        let scheme = try Self.scheme(bytes)
        let authority = try Self.authority(bytes, from: scheme.text.utf8.count + 1)
        let origin = UnsafeRawBufferPointer(rebasing: bytes[..<authority.upperBound])
        if let known = KnownOrigins.endpoint(of: origin) {
            endpoint = known
            userInfo = nil
            target = try Self.target(bytes, from: authority.upperBound)
            return
        }
        let split = try Self.splitAuthority(bytes, authority: authority)
        let port = try Self.port(bytes, range: split.port)
        let host = try Endpoint.Host(UnsafeRawBufferPointer(rebasing: bytes[split.host]), offset: split.host.lowerBound)
        endpoint = Endpoint(scheme: scheme, host: host, port: port ?? scheme.defaultPort)
        userInfo = split.userInfo.map { Array(bytes[$0]) }
        target = try Self.target(bytes, from: authority.upperBound)
        if userInfo == nil { KnownOrigins.note(endpoint, as: origin) }
    }

    /// `text` with the zone of a link-local address: what leads to the same peer again. Others do not see it.
    package var localText: String {
        "\(endpoint.scheme.text)://\(endpoint.urlField)\(String(decoding: target, as: UTF8.self))"
    }

    /// The URL without user information, fragment and zone, for messages, logs and keys.
    package var text: String {
        "\(endpoint.scheme.text)://\(endpoint.hostField)\(String(decoding: target, as: UTF8.self))"
    }
}

// MARK: - Steps, in the order of the text

extension RequestURL {
    /// What stands before the query; nil if it may hold a password.
    private static func place(_ bytes: UnsafeRawBufferPointer) -> EscapedText? {
        let place = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return place.contains(UInt8(ascii: "@")) ? nil : EscapedText(place)
    }

    private static func scheme(_ bytes: UnsafeRawBufferPointer) throws(RequestRejection) -> Endpoint.Scheme {
        if bytes.isEmpty { throw RequestRejection(.url, rule: .empty) }
        if hasPrefix(bytes, lowered: "http:") { return .http }
        if hasPrefix(bytes, lowered: "https:") { return .https }
        // RFC 3986 §3.1, but for the first byte: what has no such prefix has no scheme at all.
        let end = bytes.firstIndex { !ASCIISet.letterDigits.contains($0) && !"+-.".utf8.contains($0) } ?? bytes.count
        guard end < bytes.count, bytes[end] == UInt8(ascii: ":") else {
            throw RequestRejection(.scheme, rule: .missing, at: 0, excerpt: place(bytes))
        }
        throw RequestRejection(.scheme, rule: .notHTTP, at: 0, excerpt: EscapedText(bytes[..<end]))
    }

    private static func hasPrefix(_ bytes: UnsafeRawBufferPointer, lowered: StaticString) -> Bool {
        guard bytes.count >= lowered.utf8CodeUnitCount else { return false }
        for index in 0..<lowered.utf8CodeUnitCount where ASCII.folded(bytes[index]) != lowered.utf8Start[index] {
            return false
        }
        return true
    }

    /// From behind `//` to the first `/`, `?` or `#`.
    private static func authority(
        _ bytes: UnsafeRawBufferPointer,
        from start: Int
    ) throws(RequestRejection) -> Range<Int> {
        guard bytes.count >= start + 2, bytes[start] == UInt8(ascii: "/"), bytes[start + 1] == UInt8(ascii: "/") else {
            throw RequestRejection(.scheme, rule: .noAuthority, at: start)
        }
        var end = start + 2
        while end < bytes.count, !isAuthorityEnd(bytes[end]) { end += 1 }
        return start + 2..<end
    }

    @inline(__always)
    private static func isAuthorityEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func splitAuthority(
        _ bytes: UnsafeRawBufferPointer,
        authority: Range<Int>
    ) throws(RequestRejection) -> (userInfo: Range<Int>?, host: Range<Int>, port: Range<Int>) {
        var userInfo: Range<Int>?
        var start = authority.lowerBound
        for index in authority where bytes[index] == UInt8(ascii: "@") {
            // Which of two @ ends the user information is where parsers differ, and the host with it.
            if userInfo != nil { throw RequestRejection(.userInfo, rule: .severalAtSigns, at: index) }
            userInfo = authority.lowerBound..<index
            start = index + 1
        }
        if let userInfo { try checkUserInfo(bytes, range: userInfo) }

        var end = start
        if end < authority.upperBound, bytes[end] == UInt8(ascii: "[") {
            while end < authority.upperBound, bytes[end] != UInt8(ascii: "]") { end += 1 }
            if end < authority.upperBound { end += 1 }
            guard end == authority.upperBound || bytes[end] == UInt8(ascii: ":") else {
                throw RequestRejection(.host, rule: .notIPv6, at: end)
            }
        } else {
            while end < authority.upperBound, bytes[end] != UInt8(ascii: ":") { end += 1 }
        }
        if start == end { throw RequestRejection(.host, rule: .missing, at: start) }
        return (userInfo, start..<end, min(end + 1, authority.upperBound)..<authority.upperBound)
    }

    /// An encoded separator in front of `@` is the mark of a host hidden from a reader (`http://good\@evil/` reaches
    /// us as `good%5C@evil`), so it is refused although RFC 3986 allows it. Such a user name can be given as a
    /// credential instead.
    private static func checkUserInfo(_ bytes: UnsafeRawBufferPointer, range: Range<Int>) throws(RequestRejection) {
        for index in range where !ASCIISet.userInfo.contains(bytes[index]) {
            guard bytes[index] == UInt8(ascii: "%") else {
                let rule: RequestRejection.Rule = bytes[index] == UInt8(ascii: "\\") ? .backslash : .forbiddenByte
                throw RequestRejection(.userInfo, rule: rule, at: index)
            }
            guard index + 2 < range.upperBound, let high = ByteScanning.hexDigit(bytes[index + 1]),
                let low = ByteScanning.hexDigit(bytes[index + 2])
            else { throw RequestRejection(.userInfo, rule: .forbiddenByte, at: index) }
            switch high << 4 | low {
            case 0..<0x20, 0x7F, UInt8(ascii: "@"), UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"),
                UInt8(ascii: "#"):
                throw RequestRejection(.userInfo, rule: .encodedSeparator, at: index)
            default: continue
            }
        }
    }

    /// Nil when absent or empty, which both mean the scheme's own (RFC 3986 §3.2.3). No excerpt in its errors: in
    /// `http://user:pass/word@host/` the port is a piece of the password.
    private static func port(_ bytes: UnsafeRawBufferPointer, range: Range<Int>) throws(RequestRejection) -> UInt16? {
        if range.isEmpty { return nil }
        var port = 0
        for index in range {
            guard ASCIISet.digits.contains(bytes[index]), port > 0 || bytes[index] != UInt8(ascii: "0") else {
                throw RequestRejection(.port, rule: .portRange, at: index)
            }
            port = port * 10 + Int(bytes[index] - UInt8(ascii: "0"))
            guard port <= 65_535 else {
                throw RequestRejection(.port, rule: .portRange, at: range.lowerBound)
            }
        }
        return UInt16(port)
    }

    private static func target(_ bytes: UnsafeRawBufferPointer, from start: Int) throws(RequestRejection) -> [UInt8] {
        let allowed = ASCIISet.target
        var clean = true
        var end = start
        while end < bytes.count {
            let byte = bytes[end]
            if !allowed.contains(byte) {
                if byte == UInt8(ascii: "#") { break }
                if byte < 0x20 || byte == 0x7F { throw RequestRejection(.target, rule: .control, at: end) }
                if byte == UInt8(ascii: "\\") { throw RequestRejection(.target, rule: .backslash, at: end) }
                clean = false
            }
            end += 1
        }
        let part = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        let slash: [UInt8] = part.first == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
        if clean, slash.isEmpty { return Array(part) }
        return PercentEncoding.encodeOnce(part, allowed: allowed, prefix: slash)
    }
}
