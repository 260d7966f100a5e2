import AFBase
package import AFLoop

/// Decides which addresses a session connects to.
///
/// ```swift
/// configuration.addressFilter = .publicAddressesOnly
/// configuration.addressFilter = AddressFilter { $0.role == .proxy || $0.address.hasPrefix("10.1.") }
/// ```
///
/// It is asked about every address right before it is connected to: the one that is used, not the one a name had some
/// time ago. So it holds for every redirect, every repetition and every address of a name, and a name that is resolved
/// to something else the next time gains nothing. Unix-domain sockets have no address and are not asked about.
///
/// A proxy is asked about as a proxy, because it stands where the program put it. Which address a proxy connects to is
/// seen by nobody but the proxy, unless it is told one: an address in the URL, or a name that is looked up here because
/// the proxy speaks SOCKS without names. Those are asked about as the server's.
///
/// A session with a filter is answered from the cache only with what came to sessions with the very same one; what one of
/// your own let through is not kept on disk, because the next process cannot tell it from another.
///
/// The decision is called on the network thread: it must be quick and must never block.
public struct AddressFilter: Sendable {
    /// What is at an address.
    public enum Role: Sendable, Hashable {
        /// The server of the URL.
        case server
        /// A proxy on the way to it.
        case proxy
    }

    /// An address that is about to be connected to.
    public struct Candidate: Sendable, Hashable, CustomStringConvertible {
        /// The host of the URL, or of the proxy, whose address it is.
        public let host: String
        /// The address, as in `192.0.2.1` or `2001:db8::1`.
        public let address: String
        /// The port that is connected to.
        public let port: Int
        /// What is expected there.
        public let role: Role
        /// The address in network order: 4 or 16 bytes.
        public let bytes: [UInt8]

        /// Whether it is an address of the public internet. Not public are loopback, link-local, private, shared and
        /// multicast addresses, those of documentation and of tunnels whose other end is not known, and whatever is not
        /// given out; and all that only wrap one of them in IPv6.
        public var isPublic: Bool { AddressScope.isPublic(bytes) }

        /// The address and the port.
        public var description: String { bytes.count == 16 ? "[\(address)]:\(port)" : "\(address):\(port)" }
    }

    /// Servers have to be at addresses of the public internet; proxies may be anywhere.
    public static let publicAddressesOnly = AddressFilter(number: numberOfPublicOnly) {
        $0.role == .proxy || $0.isPublic
    }

    /// Means the same in every process; no other number does.
    package static let numberOfPublicOnly: UInt64 = 0

    /// Tells it from all others.
    package let number: UInt64
    private let decision: @Sendable (Candidate) -> Bool

    /// - Parameter allows: Whether an address may be connected to.
    public init(_ allows: @escaping @Sendable (Candidate) -> Bool) {
        self.init(number: UniqueNumber.next(), allows)
    }

    private init(number: UInt64, _ allows: @escaping @Sendable (Candidate) -> Bool) {
        self.number = number
        decision = allows
    }

    package func allows(_ address: SocketAddress, of host: String, as role: Role) -> Bool {
        guard let bytes = address.internetBytes else { return true }
        let port = Int(address.port ?? 0)
        return decision(Candidate(host: host, address: address.host, port: port, role: role, bytes: bytes))
    }
}
