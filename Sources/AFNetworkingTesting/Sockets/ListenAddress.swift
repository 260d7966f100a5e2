import Glibc

/// An address that a `TestServer` listens at. Other machines cannot reach it.
@nonexhaustive
public enum ListenAddress: Sendable, Hashable {
    /// 127.0.0.1; port 0 lets the system pick a free one.
    case ipv4Loopback(port: UInt16 = 0)
    /// ::1; port 0 lets the system pick a free one.
    case ipv6Loopback(port: UInt16 = 0)
    /// A Unix stream socket at this path, which must not exist. The server removes it when it stops.
    case unix(String)

    /// 127.0.0.1 and a port the system picks.
    public static var ipv4Loopback: ListenAddress { .ipv4Loopback(port: 0) }
    /// ::1 and a port the system picks.
    public static var ipv6Loopback: ListenAddress { .ipv6Loopback(port: 0) }
}
