import AFLoop
package import AFWire

/// Makes connections for one host and port go to another place.
///
/// All else keeps the host of the URL: the `Host` field, TLS (SNI) and the check of the certificate, cookies and
/// credentials. So you can try a server before its name points to it, and nothing else is different; no other server
/// can pass for it. The cache keeps its responses for requests that connect to the same place.
///
/// Set them as ``/AFURLSession/URLSessionConfiguration/hostOverrides``.
public struct HostOverride: Sendable, Hashable {
    /// The host it is for; nil: any host.
    let host: Endpoint.Host?
    /// The port it is for; nil: any port.
    private let port: UInt16?
    /// Where the session connects to: one host, or several addresses. Empty: to the same host.
    private let destinations: [Endpoint.Host]
    /// The port there; nil: the same.
    private let destinationPort: UInt16?

    /// Makes an override. Nil if a host is no name and no address, or a port is not from 1 to 65535.
    ///
    /// - Parameters:
    ///   - host: The host it is for, as in a URL. Nil: any host.
    ///   - port: The port it is for. Nil: any port.
    ///   - destination: Where the session connects to: a name or an address, an IPv6 address with or without brackets.
    ///     Nil: the same host.
    ///   - destinationPort: The port there. Nil: the same port.
    public init?(
        host: String? = nil,
        port: Int? = nil,
        toHost destination: String? = nil,
        toPort destinationPort: Int? = nil
    ) {
        self.init(host, port: port, destinations: destination.map { [$0] } ?? [], destinationPort: destinationPort)
    }

    /// Makes an override that leads to one of several addresses. The session tries them as it tries those of a name that it
    /// looks up (RFC 8305): in their order, with the families in turn, the next one when one does not answer soon or cannot
    /// be connected to. Nil if a host is no name and no address, one of the addresses is a name, there are none of them, or a
    /// port is not from 1 to 65535.
    ///
    /// - Parameters:
    ///   - host: The host it is for, as in a URL. Nil: any host.
    ///   - port: The port it is for. Nil: any port.
    ///   - addresses: Where the session connects to, 16 of them at most: an IPv6 address with or without brackets.
    ///   - destinationPort: The port there. Nil: the same port.
    public init?(
        host: String? = nil,
        port: Int? = nil,
        toAddresses addresses: [String],
        toPort destinationPort: Int? = nil
    ) {
        self.init(host, port: port, destinations: addresses, destinationPort: destinationPort)
        guard leadsToAddress else { return nil }
    }

    private init?(_ host: String?, port: Int?, destinations: [String], destinationPort: Int?) {
        do throws(RequestRejection) {
            self.host = try host.map { text throws(RequestRejection) in try Self.host(text) }
            self.destinations = try destinations.map { text throws(RequestRejection) in try Self.host(text) }
        } catch {
            return nil
        }
        for number in [port, destinationPort] {
            if let number, !(1...65535).contains(number) { return nil }
        }
        self.port = port.map { UInt16($0) }
        self.destinationPort = destinationPort.map { UInt16($0) }
    }

    private static func host(_ text: String) throws(RequestRejection) -> Endpoint.Host {
        let isBareIPv6 = text.utf8.contains(UInt8(ascii: ":")) && !text.hasPrefix("[")
        return try (isBareIPv6 ? "[\(text)]" : text).withUTF8Bytes { bytes throws(RequestRejection) in
            try Endpoint.Host(bytes, offset: 0)
        }
    }

    /// Whether the session connects to an address, and looks no name up.
    public var leadsToAddress: Bool { !destinations.isEmpty && destinations.allSatisfy { $0.kind != .name } }

    /// Where to connect in place of `endpoint`: one place, or several addresses. Nil if the override is for another host or
    /// port.
    package func apply(to endpoint: Endpoint) -> [Endpoint]? {
        guard host?.isSameHost(as: endpoint.host) ?? true, port == nil || port == endpoint.port else { return nil }
        let hosts = destinations.isEmpty ? [endpoint.host] : destinations
        return hosts.map { Endpoint(scheme: endpoint.scheme, host: $0, port: destinationPort ?? endpoint.port) }
    }
}
