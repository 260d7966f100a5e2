import AFBase
package import AFLoop

/// Decides which addresses a session connects to.
///
/// ```swift
/// configuration.addressFilter = .publicAddressesOnly
/// configuration.addressFilter = AddressFilter { $0.role == .proxy || $0.address.hasPrefix("10.1.") }
/// ```
///
/// The session asks the filter about every address right before it connects to it: about the address it uses, not one
/// that the name had some time ago. So the filter holds for every redirect, every repetition and every address of a
/// name, and a name that resolves to something else the next time gains nothing. Unix-domain sockets have no address;
/// the session does not ask about them.
///
/// The session asks about the address of a proxy as ``Role/proxy``, because the program chose the proxy. Only the proxy
/// sees which address it connects to, unless the session tells it one: an address in the URL, or a name that the
/// session looks up because the proxy speaks SOCKS without names. The session asks about those as ``Role/server``.
///
/// A session with a filter takes from the cache only responses that were loaded by sessions with the very same filter.
/// What a filter of your own let through is not kept on disk, because the next process cannot tell that filter from
/// another.
///
/// The session calls the decision on the network thread: it must be quick and must never block.
public struct AddressFilter: Sendable {
    /// What is at an address.
    @nonexhaustive
    public enum Role: Sendable, Hashable {
        /// The server of the URL.
        case server
        /// A proxy on the way to it.
        case proxy
    }

    /// An address that the session is about to connect to.
    public struct Candidate: Sendable, Hashable, CustomStringConvertible {
        /// The host of the URL, or of the proxy, whose address it is.
        public let host: String
        /// The address, as in `192.0.2.1` or `2001:db8::1`. An IPv4 address stands here as such, also if the URL has it
        /// as IPv6 (`[::ffff:192.0.2.1]`): the connection is one of IPv4.
        public let address: String
        /// The port that the session connects to.
        public let port: Int
        /// What is expected there.
        public let role: Role
        /// The address in network order: 4 or 16 bytes.
        public let bytes: [UInt8]

        /// Whether it is an address of the public internet. Not public are loopback, link-local, private, shared and
        /// multicast addresses, those of documentation and of tunnels whose other end is not known, and those that no
        /// registry has given out; and all IPv6 addresses that only wrap one of them.
        public var isPublic: Bool { AddressScope.isPublic(bytes) }

        /// The address and the port.
        public var description: String { bytes.count == 16 ? "[\(address)]:\(port)" : "\(address):\(port)" }
    }

    /// Servers have to be at addresses of the public internet; proxies may be anywhere.
    public static let publicAddressesOnly = AddressFilter(number: numberOfPublicOnly) {
        $0.role == .proxy || $0.isPublic
    }

    /// The only number that means the same filter in every process.
    package static let numberOfPublicOnly: UInt64 = 0

    /// Tells the filter from all others.
    package let number: UInt64
    private let decision: @Sendable (Candidate) -> Bool

    /// - Parameter allows: Whether the session may connect to an address.
    public init(_ allows: @escaping @Sendable (Candidate) -> Bool) {
        self.init(number: UniqueNumber.next(), allows: allows)
    }

    private init(number: UInt64, allows: @escaping @Sendable (Candidate) -> Bool) {
        self.number = number
        decision = allows
    }

    package func allows(_ address: SocketAddress, of host: String, as role: Role) -> Bool {
        let address = address.unmapped
        guard let bytes = address.internetBytes else { return true }
        let port = Int(address.port ?? 0)
        return decision(Candidate(host: host, address: address.host, port: port, role: role, bytes: bytes))
    }
}

/// Which addresses belong to the public internet, by the registries of special-purpose addresses (RFC 6890 and what
/// came after it).
package enum AddressScope {
    private struct Block {
        let bytes: [UInt8]
        let bits: Int

        init(_ bytes: [UInt8], bits: Int) {
            self.bytes = bytes
            self.bits = bits
        }

        func contains(_ address: [UInt8]) -> Bool {
            let whole = bits / 8
            guard address.starts(with: bytes.prefix(whole)) else { return false }
            let rest = bits % 8
            return rest == 0 || (address[whole] ^ bytes[whole]) >> (8 - rest) == 0
        }
    }

    private static let special4 = [
        Block([0], bits: 8), Block([10], bits: 8), Block([100, 64], bits: 10), Block([127], bits: 8),
        Block([169, 254], bits: 16),
        Block([172, 16], bits: 12), Block([192, 0, 0], bits: 24), Block([192, 0, 2], bits: 24),
        Block([192, 88, 99], bits: 24),
        Block([192, 168], bits: 16), Block([198, 18], bits: 15), Block([198, 51, 100], bits: 24),
        Block([203, 0, 113], bits: 24),
        Block([224], bits: 4), Block([240], bits: 4),
    ]

    /// All public addresses that were ever given out are in this block…
    private static let global6 = Block([0x20], bits: 3)

    /// …and these parts of it are not public: protocols and their tunnels, benchmarks, documentation.
    private static let special6 = [
        Block([0x20, 0x01, 0x00], bits: 23), Block([0x20, 0x01, 0x0D, 0xB8], bits: 32),
        Block([0x3F, 0xFF, 0x00], bits: 20),
    ]

    /// Networks behind routers of IPv4 (6to4). The address of the router follows.
    private static let routed6 = Block([0x20, 0x02], bits: 16)

    /// - Parameter address: In network order, 4 or 16 bytes.
    package static func isPublic(_ address: [UInt8]) -> Bool {
        if address.count == 4 { return !special4.contains { $0.contains(address) } }
        guard address.count == 16 else { return false }
        switch ReachedIPv4(address) {
        case .mapped(let host)?, .translated(let host)?: return isPublic(host)
        case nil: if routed6.contains(address) { return isPublic(Array(address[2..<6])) }
        }
        return global6.contains(address) && !special6.contains { $0.contains(address) }
    }
}
