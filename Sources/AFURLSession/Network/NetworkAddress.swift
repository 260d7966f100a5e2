package import AFLoop
import AFWire
public import Glibc

/// An IPv4 or IPv6 address, without a port.
public struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
    package let socketAddress: SocketAddress

    package init?(_ address: SocketAddress) {
        guard address.isInternet else { return nil }
        socketAddress = address.withPort(0)
    }

    /// Reads text as in `192.0.2.1`, `2001:db8::1` or, with the name or number of an interface, `fe80::1%eth0`.
    ///
    /// Nil if the text is no address, or if there is no such interface. Numbers that only some programs take for
    /// addresses, as in `010.1` or `2130706433`, are none.
    public init?(_ text: String) {
        let parts = text.unicodeScalars.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
            .map(Substring.init)
        let zone = parts.count == 2 ? "%25\(parts[1])" : ""
        let spelling = text.utf8.contains(UInt8(ascii: ":")) ? "[\(parts[0])\(zone)]" : text
        guard let endpoint = try? Endpoint(scheme: .http, host: spelling), let address = endpoint.host.socketAddress
        else {
            return nil
        }
        self.init(address)
    }

    /// Reads the form that system calls use. Nil if the family is neither `AF_INET` nor `AF_INET6`.
    ///
    /// - Parameter address: Points to a `sockaddr_in` or `sockaddr_in6`, whichever its family says.
    public init?(_ address: UnsafePointer<sockaddr>) {
        guard let found = NetworkAddress.read(UnsafeRawPointer(address)) else { return nil }
        self.init(found)
    }

    /// Reads the form that system calls use. Nil if the family is neither `AF_INET` nor `AF_INET6`.
    public init?(_ address: sockaddr_storage) {
        guard let found = withUnsafePointer(to: address, { NetworkAddress.read(UnsafeRawPointer($0)) }) else {
            return nil
        }
        self.init(found)
    }

    /// Reads no more bytes than the family has.
    private static func read(_ pointer: UnsafeRawPointer) -> SocketAddress? {
        switch Int32(pointer.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET:
            let address = pointer.loadUnaligned(as: sockaddr_in.self)
            return SocketAddress(internetBytes: withUnsafeBytes(of: address.sin_addr) { Array($0) })
        case AF_INET6:
            let address = pointer.loadUnaligned(as: sockaddr_in6.self)
            let bytes = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
            return SocketAddress(internetBytes: bytes, scope: address.sin6_scope_id)
        default: return nil
        }
    }

    /// The bytes in network order, 4 or 16.
    public var bytes: [UInt8] { socketAddress.internetBytes ?? [] }

    /// The index of the interface that a link-local address belongs to, if the address names one.
    public var interfaceIndex: Int? { socketAddress.scope == 0 ? nil : Int(socketAddress.scope) }

    /// The address as text, as in `192.0.2.1` or `2001:db8::1`.
    public var description: String {
        interfaceIndex.map { "\(socketAddress.host)%\($0)" } ?? socketAddress.host
    }
}
