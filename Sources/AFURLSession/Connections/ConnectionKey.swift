import AFLoop
import AFWire

/// What two requests must have in common to share a connection. Compared by value,
/// every field; whatever influences who is at the other end belongs in here.
struct ConnectionKey: Hashable {
    let endpoint: Endpoint
    /// The session's Unix-domain socket, which takes the place of host and port.
    let unixPath: String?
    /// The rules a secured connection is made under; nil for one in the clear.
    let security: SecurityContext?

    /// The same place, whatever the rules. For what belongs to the rules and must not
    /// hold them.
    var place: ConnectionKey { ConnectionKey(endpoint: endpoint, unixPath: unixPath, security: nil) }

    /// Where to dial. Nil if the path is no possible socket address.
    var target: DialTarget? {
        if let unixPath { return SocketAddress(unixPath: unixPath).map(DialTarget.address) }
        let host = endpoint.host
        let address =
            switch host.kind {
            case .ipv4: SocketAddress(ipv4: host.text, port: endpoint.port)
            case .ipv6: SocketAddress(ipv6: host.text, zone: host.zone, port: endpoint.port)
            case .name: nil as SocketAddress?
            }
        if let address { return .address(address) }
        return host.kind == .name ? .name(host.text, port: endpoint.port) : nil
    }
}
