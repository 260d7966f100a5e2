import Glibc

/// An address in the form that the kernel takes: one to listen at, or one that a proxy connects to.
struct SocketEndpoint: Sendable, Equatable {
    let family: Int32
    let path: String?
    private let bytes: [UInt8]

    private init(family: Int32, bytes: [UInt8]) {
        (self.family, path, self.bytes) = (family, nil, bytes)
    }

    init(_ address: ListenAddress) throws(SocketFailure) {
        switch address {
        case .ipv4Loopback(let port):
            var socketAddress = sockaddr_in()
            socketAddress.sin_family = sa_family_t(AF_INET)
            socketAddress.sin_port = port.bigEndian
            socketAddress.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            (family, path, bytes) = (AF_INET, nil, Self.bytes(of: socketAddress))

        case .ipv6Loopback(let port):
            var socketAddress = sockaddr_in6()
            socketAddress.sin6_family = sa_family_t(AF_INET6)
            socketAddress.sin6_port = port.bigEndian
            socketAddress.sin6_addr = in6addr_loopback
            (family, path, bytes) = (AF_INET6, nil, Self.bytes(of: socketAddress))

        case .unix(let name):
            var socketAddress = sockaddr_un()
            socketAddress.sun_family = sa_family_t(AF_UNIX)
            let capacity = MemoryLayout.size(ofValue: socketAddress.sun_path)
            let text = Array(name.utf8)
            // A zero byte would end the name early, and an empty name means an unnamed socket.
            guard !text.isEmpty, text.count < capacity, !text.contains(0) else {
                throw SocketFailure(call: "bind", code: text.count < capacity ? EINVAL : ENAMETOOLONG)
            }
            withUnsafeMutableBytes(of: &socketAddress.sun_path) { $0.copyBytes(from: text) }
            (family, path, bytes) = (AF_UNIX, name, Self.bytes(of: socketAddress))
        }
    }

    func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        // `sockaddr_storage` is aligned for every family.
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
        }
    }

    /// The port a socket is bound to; 0 for Unix sockets.
    static func localPort(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0, storage.ss_family != sa_family_t(AF_UNIX) else { return 0 }
        // IPv4 and IPv6 addresses both begin with the family, then the port in network order.
        return withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    }

    private static func bytes<Address>(of address: Address) -> [UInt8] {
        withUnsafeBytes(of: address) { Array($0) }
    }

    // MARK: - Targets of a proxy

    /// Nil if the text is not an address.
    init?(literal: String, port: UInt16) {
        guard let first = Self.lookUp(literal, port: port, flags: AI_NUMERICHOST).first else { return nil }
        self = first
    }

    /// Asks the system's resolver, which may use the network.
    static func resolve(_ name: String, port: UInt16) -> [SocketEndpoint] { lookUp(name, port: port, flags: 0) }

    private static func lookUp(_ name: String, port: UInt16, flags: Int32) -> [SocketEndpoint] {
        // A zero byte would end the name early.
        guard !name.isEmpty, !name.utf8.contains(0) else { return [] }
        var hints = addrinfo()
        hints.ai_flags = flags | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, String(port), &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [SocketEndpoint] = []
        var next = list
        while let entry = next?.pointee {
            let content = UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen))
            found.append(SocketEndpoint(family: entry.ai_family, bytes: Array(content)))
            next = entry.ai_next
        }
        return found
    }

    /// Whether connections to it stay on this machine.
    var isLocal: Bool {
        switch family {
        case AF_UNIX: true
        case AF_INET: bytes.count > 4 && bytes[4] == 127
        case AF_INET6:
            bytes.count >= 24
                && (bytes[8..<24].elementsEqual([UInt8](repeating: 0, count: 15) + [1])
                    || bytes[8..<21].elementsEqual([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 127]))
        default: false
        }
    }

    /// The text of an IPv6 address.
    static func text(ipv6 bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard bytes.count == 16, inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
