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
