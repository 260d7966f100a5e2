/// Where a request goes: scheme, host and port, validated and in one canonical spelling.
///
/// This one value feeds the filter, the pool, DNS, SNI, the certificate check, `Host`, cookies and the cache, so none
/// of them can disagree about who the peer is. Only the final dot of an absolute name does not count in that. It cannot be empty and cannot be built from unchecked text.
///
/// A class, because it is handed on many times for each request and never changes.
package final class Endpoint: Sendable {
    package enum Scheme: Hashable, Sendable {
        case http
        case https

        package var text: String {
            switch self {
            case .http: "http"
            case .https: "https"
            }
        }

        package var defaultPort: UInt16 {
            switch self {
            case .http: 80
            case .https: 443
            }
        }
    }

    package let scheme: Scheme
    package let host: Host
    package let port: UInt16
    /// The bytes of `hostField`.
    package let hostFieldBytes: [UInt8]

    package init(scheme: Scheme, host: Host, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
        hostFieldBytes = Array((port == scheme.defaultPort ? host.written : "\(host.written):\(port)").utf8)
    }

    /// Validates a host as it stands in a URL (an IPv6 address in brackets) and joins it with scheme and port.
    package convenience init(scheme: Scheme, host: String, port: UInt16? = nil) throws(RequestRejection) {
        let parsed = try host.withUTF8Bytes { bytes throws(RequestRejection) in try Host(bytes, offset: 0) }
        if port == 0 { throw RequestRejection(.port, rule: .portRange) }
        self.init(scheme: scheme, host: parsed, port: port ?? scheme.defaultPort)
    }

    /// Whether its connections have TLS. Asked here, since another module compares schemes through their witness table.
    package var isSecured: Bool { scheme == .https }

    package var isDefaultPort: Bool { port == scheme.defaultPort }

    /// What stands in `Host`: no zone, brackets around IPv6, the port unless it is the scheme's own.
    package var hostField: String { String(decoding: hostFieldBytes, as: UTF8.self) }

    /// `hostField` as it stands in a URL of this host: with the zone, without which a link-local address names no host.
    package var urlField: String {
        guard let zone = host.zone else { return hostField }
        let bracketed = "[\(host.text)%25\(zone)]"
        return isDefaultPort ? bracketed : "\(bracketed):\(port)"
    }

    /// `host:port` for messages, logs and proxies.
    package var text: String { "\(host.written):\(port)" }
}

extension Endpoint: Hashable {
    package static func == (one: Endpoint, other: Endpoint) -> Bool {
        one === other || (one.port == other.port && one.scheme == other.scheme && one.host == other.host)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(host)
        hasher.combine(port)
    }
}
