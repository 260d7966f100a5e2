/// What becomes of a field the caller sets although its meaning belongs to the connection or to the framing.
///
/// | field                               | what happens                                                          |
/// |-------------------------------------|-----------------------------------------------------------------------|
/// | `Host`                              | checked as host and port, sent instead of ours; the identity for      |
/// |                                     | connecting, TLS, cookies, cache and redirects stays the URL's         |
/// | `Content-Length`                    | of a stream, which must keep to it; else ignored: ours is computed    |
/// |                                     | from the body                                                         |
/// | `Transfer-Encoding`                 | ignored; the framing follows from the body                            |
/// | `Connection`                        | only the option `close` counts, and is sent; all else is ignored      |
/// | `Keep-Alive`, `TE`                  | ignored; they describe a connection the caller does not see           |
/// | `Trailer`                           | ignored; it follows from the request's trailers                       |
/// | `Proxy-*`                           | ignored; proxy fields come from the proxy's configuration and must    |
/// |                                     | never reach an origin                                                 |
/// | `Upgrade`, `HTTP2-Settings`         | refused: we would not speak the protocol that was asked for           |
/// | `Expect`                            | sent with a body, ignored without one (RFC 9110 §10.1.1)              |
/// | all others, `Authorization` as well | sent as given                                                         |
package enum ReservedField: Sendable {
    case host
    case connection
    case expect
    case ignored
    case refused

    /// Nil for an ordinary field. Decided by length first: most names need no comparison.
    package static func of(_ name: UnsafeRawBufferPointer) -> ReservedField? {
        func isNamed(_ lowered: StaticString) -> Bool { ByteScanning.equalsIgnoringCase(name, lowercase: lowered) }
        switch name.count {
        case 2 where isNamed("te"): return .ignored
        case 4 where isNamed("host"): return .host
        case 6 where isNamed("expect"): return .expect
        case 7 where isNamed("upgrade"): return .refused
        case 7 where isNamed("trailer"): return .ignored
        case 10 where isNamed("connection"): return .connection
        case 10 where isNamed("keep-alive"): return .ignored
        case 14 where isNamed("content-length"): return .ignored
        case 14 where isNamed("http2-settings"): return .refused
        case 17 where isNamed("transfer-encoding"): return .ignored
        default: return isProxyField(name) ? .ignored : nil
        }
    }

    private static func isProxyField(_ name: UnsafeRawBufferPointer) -> Bool {
        guard name.count > 6, name[5] == UInt8(ascii: "-") else { return false }
        return ByteScanning.equalsIgnoringCase(UnsafeRawBufferPointer(rebasing: name[..<6]), lowercase: "proxy-")
    }

    /// Whether a `Connection` value lists `close`.
    package static func listsClose(_ value: UnsafeRawBufferPointer) -> Bool {
        var found = false
        ByteScanning.forEachListElement(of: value) { option in
            if ByteScanning.equalsIgnoringCase(option, lowercase: "close") { found = true }
        }
        return found
    }
}
