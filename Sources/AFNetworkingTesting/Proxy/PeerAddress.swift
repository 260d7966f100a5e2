import Glibc

/// An address that the proxy connects to, in the form that the kernel takes.
struct PeerAddress: Sendable, Equatable {
    let family: Int32
    private let bytes: [UInt8]

    init(_ address: ListenAddress) throws(SystemFailure) {
        let endpoint = try SocketEndpoint(address)
        family = endpoint.family
        bytes = endpoint.withAddress { pointer, count in
            Array(UnsafeRawBufferPointer(start: pointer, count: Int(count)))
        }
    }

    /// Nil if the text is not an address.
    init?(literal: String, port: UInt16) {
        guard let first = Self.lookUp(literal, port: port, flags: AI_NUMERICHOST).first else { return nil }
        self = first
    }

    /// Asks the system's resolver, which may use the network.
    static func resolve(_ name: String, port: UInt16) -> [PeerAddress] { lookUp(name, port: port, flags: 0) }

    private init(family: Int32, bytes: [UInt8]) {
        self.family = family
        self.bytes = bytes
    }

    private static func lookUp(_ name: String, port: UInt16, flags: Int32) -> [PeerAddress] {
        // A zero byte would end the name early.
        guard !name.isEmpty, !name.utf8.contains(0) else { return [] }
        var hints = addrinfo()
        hints.ai_flags = flags | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, String(port), &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [PeerAddress] = []
        var next = list
        while let entry = next?.pointee {
            let content = UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen))
            found.append(PeerAddress(family: entry.ai_family, bytes: Array(content)))
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

    func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
        }
    }
}

extension PeerAddress {
    /// The text of an IPv6 address.
    static func text(ipv6 bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard bytes.count == 16, inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
