import AFBase
import AFWire

/// The parts of a proxy's URL. Parsed forwards from its bytes; what could be read in two ways is refused.
package struct ProxyURL {
    let kind: ProxyServer.Kind
    let host: Endpoint.Host
    let port: UInt16?
    let user: String?
    let password: String

    /// Longer than any name, any user and any password may be.
    private static let maximumLength = 4096

    init(_ text: String) throws(ProxyConfigurationError) {
        var rest = Array(text.utf8)[...]
        guard rest.count <= ProxyURL.maximumLength else { throw ProxyConfigurationError(.host) }
        kind = try ProxyURL.takeKind(&rest)
        let authority = try ProxyURL.authority(of: rest)
        let place: ArraySlice<UInt8>
        if let at = authority.firstIndex(of: UInt8(ascii: "@")) {
            place = authority[(at + 1)...]
            // Programs differ in which of two `@` ends the credentials, and so in what the host is: refuse both.
            guard !place.contains(UInt8(ascii: "@")) else { throw ProxyConfigurationError(.credentials) }
            (user, password) = try ProxyURL.credentials(authority[..<at])
        } else {
            place = authority
            (user, password) = (nil, "")
        }
        (host, port) = try ProxyURL.hostAndPort(place)
    }

    /// Text without `://` has no scheme: in `host:3128` it is a port that follows the colon.
    private static func takeKind(_ rest: inout ArraySlice<UInt8>) throws(ProxyConfigurationError) -> ProxyServer.Kind {
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8) else {
            return .http
        }
        let scheme = String(decoding: rest[..<colon].map(ASCII.folded), as: UTF8.self)
        guard let kind = ProxyServer.Kind(rawValue: scheme) else { throw ProxyConfigurationError(.scheme) }
        rest = rest[(colon + 3)...]
        return kind
    }

    private static func authority(
        of rest: ArraySlice<UInt8>
    ) throws(ProxyConfigurationError) -> ArraySlice<UInt8> {
        let end = rest.firstIndex { "/?#\\".utf8.contains($0) } ?? rest.endIndex
        let tail = rest[end...]
        guard tail.isEmpty || tail.elementsEqual("/".utf8) else { throw ProxyConfigurationError(.path) }
        return rest[..<end]
    }

    private static func credentials(_ bytes: ArraySlice<UInt8>) throws(ProxyConfigurationError) -> (String, String) {
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        let user = try decoded(bytes[..<colon])
        guard !user.isEmpty else { throw ProxyConfigurationError(.credentials) }
        return (user, try decoded(bytes[colon...].dropFirst()))
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) throws(ProxyConfigurationError) -> String {
        let decoded = bytes.withUnsafeBytes { PercentEncoding.decode($0) }
        guard let decoded, let text = String(validating: decoded, as: UTF8.self),
            !decoded.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { throw ProxyConfigurationError(.credentials) }
        return text
    }

    static func hostAndPort(
        _ bytes: ArraySlice<UInt8>
    ) throws(ProxyConfigurationError) -> (Endpoint.Host, UInt16?) {
        var end = bytes.endIndex
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { throw ProxyConfigurationError(.host) }
            end = bracket + 1
        } else {
            end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? end
        }
        let tail = bytes[end...]
        guard let text = String(validating: bytes[..<end], as: UTF8.self) else { throw ProxyConfigurationError(.host) }
        let host = try ProxyServer.host(text)
        if tail.isEmpty { return (host, nil) }
        guard tail.first == UInt8(ascii: ":"), let port = port(tail.dropFirst()) else {
            throw ProxyConfigurationError(.port)
        }
        return (host, port)
    }

    /// One spelling for each port: digits, and no zero in front.
    package static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard let first = digits.first, first != UInt8(ascii: "0"), digits.count <= 5 else { return nil }
        var port = 0
        for digit in digits {
            guard ASCII.isDigit(digit) else { return nil }
            port = port * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return UInt16(exactly: port)
    }
}
