import AFBase

/// Finds the addresses of hosts in place of the system, for example in a registry of services.
///
/// The session asks about names of servers and proxies; not about addresses, hosts with a ``HostOverride``, or `localhost`
/// and the names below it. Its ``AddressFilter`` judges each answer. A closure runs as a Swift task, which is cancelled when
/// no request waits for it any more; it must not load with the same session. Responses from such names are stored for
/// sessions with the very same resolver, and not on disk.
public struct NameResolver: Sendable {
    /// What the session wants to know.
    public struct Question: Sendable, Hashable {
        /// The name, as in the URL, in ASCII.
        public let host: String
        /// The port that the session connects to.
        public let port: Int
    }

    /// Where a host is.
    public struct Answer: Sendable, Hashable {
        /// IPv4 and IPv6 addresses, the best one first. Text that is none fails the lookup.
        public var addresses: [String]
        /// How long the session uses the answer again, an hour at most. Zero: not at all.
        public var timeToLive: Duration

        /// Makes an answer. Without addresses it says that the host has none.
        public init(_ addresses: [String], timeToLive: Duration = .zero) {
            (self.addresses, self.timeToLive) = (addresses, timeToLive)
        }
    }

    /// Finds addresses, or throws.
    public typealias Lookup = @Sendable (Question) async throws -> Answer

    /// Tells it from all others, and from filters of addresses.
    package let number = UniqueNumber.next()
    /// All are asked at once. Of two, the first is for IPv6.
    let lookups: [Lookup]
    /// Runs them. Nil: the threads of Swift tasks do.
    package var executor: (any TaskExecutor)?

    /// Makes a resolver that answers with addresses of both families at once.
    public init(_ lookup: @escaping Lookup) { lookups = [lookup] }

    /// Makes a resolver that is asked for the families apart. The session connects with the first answer (RFC 8305): with IPv6
    /// addresses at once, with others after 50 ms.
    public init(ipv4: @escaping Lookup, ipv6: @escaping Lookup) { lookups = [ipv6, ipv4] }
}
