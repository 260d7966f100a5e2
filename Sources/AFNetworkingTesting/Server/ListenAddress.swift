/// Where a `TestServer` listens. Never reachable from another machine.
public enum ListenAddress: Sendable, Hashable {
    /// 127.0.0.1; port 0 lets the system pick a free one.
    case ipv4Loopback(port: UInt16 = 0)
    /// ::1; port 0 lets the system pick a free one.
    case ipv6Loopback(port: UInt16 = 0)
    /// A Unix stream socket at this path, which must not exist yet and is removed when the server stops.
    case unix(String)

    /// 127.0.0.1 and a port the system picks.
    public static var ipv4Loopback: ListenAddress { .ipv4Loopback(port: 0) }
    /// ::1 and a port the system picks.
    public static var ipv6Loopback: ListenAddress { .ipv6Loopback(port: 0) }
}
