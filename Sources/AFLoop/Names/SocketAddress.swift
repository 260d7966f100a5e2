import CAFLinux
import Glibc

/// Where a stream socket can connect to: IPv4, IPv6, or a path.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
    /// The bytes of the `sockaddr`, exactly as long as its family says.
    private let bytes: [UInt8]

    package init?(ipv4 text: String, port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, text, &address.sin_addr) == 1 else { return nil }
        bytes = withUnsafeBytes(of: &address) { Array($0) }
    }

    /// `zone` is an interface name or index, for link-local addresses.
    package init?(ipv6 text: String, zone: String? = nil, port: UInt16) {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        guard inet_pton(AF_INET6, text, &address.sin6_addr) == 1 else { return nil }
        if let zone {
            address.sin6_scope_id = UInt32(zone) ?? if_nametoindex(zone)
            guard address.sin6_scope_id != 0 else { return nil }
        }
        bytes = withUnsafeBytes(of: &address) { Array($0) }
    }

    /// 0.0.0.0, for who has no address.
    package static let nowhere = SocketAddress(unspecified: ())

    private init(unspecified: Void) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        bytes = withUnsafeBytes(of: &address) { Array($0) }
    }

    /// Nil if the path is empty, contains NUL, or is longer than the kernel allows.
    package init?(unixPath path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard !path.isEmpty, path.utf8.count <= capacity, !path.utf8.contains(0) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        bytes = withUnsafeBytes(of: &address) { Array($0) }
    }

    /// From the address alone, in network order: 4 or 16 bytes.
    package init?(internetBytes: [UInt8], scope: UInt32 = 0, port: UInt16 = 0) {
        switch internetBytes.count {
        case 4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: internetBytes) }
            bytes = withUnsafeBytes(of: &address) { Array($0) }
        case 16:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: internetBytes) }
            bytes = withUnsafeBytes(of: &address) { Array($0) }
        default:
            return nil
        }
    }

    /// Takes what the resolver found, with the port filled in. Nil for families we do not speak.
    init?(_ found: UnsafePointer<sockaddr>, port: UInt16) {
        switch Int32(found.pointee.sa_family) {
        case AF_INET:
            var address = UnsafeRawPointer(found).loadUnaligned(as: sockaddr_in.self)
            address.sin_port = port.bigEndian
            bytes = withUnsafeBytes(of: &address) { Array($0) }
        case AF_INET6:
            var address = UnsafeRawPointer(found).loadUnaligned(as: sockaddr_in6.self)
            address.sin6_port = port.bigEndian
            bytes = withUnsafeBytes(of: &address) { Array($0) }
        default:
            return nil
        }
    }

    init?(_ query: (UnsafeMutablePointer<sockaddr_storage>, UnsafeMutablePointer<socklen_t>) -> Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        guard query(&storage, &length) == 0 else { return nil }
        let count = min(Int(length), MemoryLayout<sockaddr_storage>.size)
        bytes = withUnsafeBytes(of: &storage) { Array($0.prefix(count)) }
    }

    package var family: Int32 { withPointer { address, _ in Int32(address.pointee.sa_family) } }

    package var isIPv6: Bool { family == AF_INET6 }
    package var isInternet: Bool { family == AF_INET || isIPv6 }

    /// The address alone, in network order: 4 or 16 bytes. Nil for a path.
    package var internetBytes: [UInt8]? {
        switch family {
        case AF_INET: Array(bytes[4..<8])
        case AF_INET6: Array(bytes[8..<24])
        default: nil
        }
    }

    /// The interface it belongs to, if it is a link-local address that names one; otherwise 0.
    package var scope: UInt32 {
        guard isIPv6 else { return 0 }
        return withPointer { address, _ in
            UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_scope_id
        }
    }

    package func withPort(_ port: UInt16) -> SocketAddress {
        withPointer { address, _ in SocketAddress(address, port: port) } ?? self
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        // An aligned copy: an array of bytes promises no alignment.
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
        }
    }

    // MARK: - Text

    /// The address without the port.
    package var host: String {
        withPointer { address, _ in
            let raw = UnsafeRawPointer(address)
            switch Int32(address.pointee.sa_family) {
            case AF_INET:
                var ip = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
                return SystemCallError.text { _ = inet_ntop(AF_INET, &ip, $0, socklen_t($1)) }
            case AF_INET6:
                var ip = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
                return SystemCallError.text { _ = inet_ntop(AF_INET6, &ip, $0, socklen_t($1)) }
            default:
                let path = bytes.dropFirst(MemoryLayout<sa_family_t>.size).prefix { $0 != 0 }
                return String(decoding: path, as: UTF8.self)
            }
        }
    }

    package var port: UInt16? {
        withPointer { address, _ in
            let raw = UnsafeRawPointer(address)
            switch Int32(address.pointee.sa_family) {
            case AF_INET: return UInt16(bigEndian: raw.loadUnaligned(as: sockaddr_in.self).sin_port)
            case AF_INET6: return UInt16(bigEndian: raw.loadUnaligned(as: sockaddr_in6.self).sin6_port)
            default: return nil
            }
        }
    }

    package var description: String {
        guard let port else { return host }
        return isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
