import AFBase
package import AFWire
public import FoundationEssentials

/// The hosts that ask for TLS on all connections (HTTP Strict Transport Security, RFC 6797).
///
/// Give one to `URLSessionConfiguration.strictTransportSecurity`. The session then sends requests for `http://` URLs of
/// known hosts to `https://`, redirects included, before it sends anything. It learns further hosts from responses that
/// came over TLS, if the server's chain passes the standard evaluation: what only an evaluator or a delegate accepts says
/// nothing to the other sessions of the store. A new store knows no host. It lives in memory; to keep it, save ``entries`` and make the next store
/// from them.
///
/// Servers cannot fill the memory: the store learns 10,000 hosts at most, and 100 of one site, that is, of one registered
/// name. A site that goes beyond loses its own hosts, those furthest below the registered name first. When the store is
/// full, an entry that has ended goes; else one of the site with the most hosts.
///
/// Safe to use from any thread, and by several sessions.
public final class HSTSStore: Sendable {
    /// One host, and until when it asks for TLS.
    public struct Entry: Hashable, Sendable, Codable {
        /// In canonical spelling.
        public let host: String
        /// Whether the entry covers the names below it.
        public let includesSubdomains: Bool
        /// When the store forgets it.
        public let expires: Date

        /// Nil if `host` is no name: there are no entries for addresses.
        public init?(host: String, includesSubdomains: Bool, expires: Date) {
            guard let endpoint = try? Endpoint(scheme: .https, host: host), endpoint.host.kind == .name else {
                return nil
            }
            self.host = endpoint.host.text
            self.includesSubdomains = includesSubdomains
            self.expires = expires
        }

        /// Reads an entry, and refuses one that ``init(host:includesSubdomains:expires:)`` would not have made.
        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            let host = try fields.decode(String.self, forKey: .host)
            let read = Entry(
                host: host,
                includesSubdomains: try fields.decode(Bool.self, forKey: .includesSubdomains),
                expires: try fields.decode(Date.self, forKey: .expires)
            )
            guard let read else {
                throw DecodingError.dataCorruptedError(forKey: .host, in: fields, debugDescription: "not a host name")
            }
            self = read
        }
    }

    /// A server cannot make the store remember an entry for longer.
    private static let longestAge: Int64 = 400 * 86_400

    private let known = Lock(HSTSHosts())
    private let suffixes: PublicSuffixSource

    /// A store that knows these hosts, and no others.
    public convenience init(entries: [Entry] = []) {
        self.init(entries: entries, suffixes: .system)
    }

    package init(entries: [Entry] = [], suffixes: PublicSuffixSource) {
        self.suffixes = suffixes
        for entry in entries { insert(entry) }
    }

    /// All hosts that the store knows, in the order of their names.
    public var entries: [Entry] { known.withLock { $0.entries }.sorted { $0.host < $1.host } }

    /// Adds a host, or replaces its entry. The store keeps as many as the program adds.
    public func insert(_ entry: Entry) {
        known.withLock { $0.insert(entry, site: site(of:)) }
    }

    /// The registered name above a host, by the rules that are known: nothing waits for the system's list.
    private func site(of host: String) -> String {
        (suffixes.current ?? suffixes.known).registrableDomain(of: host) ?? host
    }

    /// Forgets a host.
    public func remove(host: String) {
        guard let name = (try? Endpoint(scheme: .https, host: host))?.host.text else { return }
        known.withLock { $0.remove(name) }
    }

    /// Forgets all hosts.
    public func removeAll() {
        known.withLock { $0 = HSTSHosts() }
    }

    /// Whether requests to a host go over TLS.
    public func covers(host: String) -> Bool {
        guard let endpoint = try? Endpoint(scheme: .https, host: host) else { return false }
        return covers(endpoint.host, at: Int64(Date().timeIntervalSince1970))
    }

    // MARK: - For sessions

    package func covers(_ host: Endpoint.Host, at now: Int64) -> Bool {
        guard host.kind == .name else { return false }
        return known.withLock { known in
            guard !known.isEmpty else { return false }
            var name = Substring(host.text)
            while true {
                if let entry = known[String(name)], entry.expires.timeIntervalSince1970 > Double(now),
                    entry.includesSubdomains || name.utf8.count == host.text.utf8.count
                {
                    return true
                }
                guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return false }
                name = name[name.utf8.index(after: dot)...]
            }
        }
    }

    /// Learns from the response of a server, or unlearns.
    package func learn(
        _ headers: HTTPHeaders,
        from host: Endpoint.Host,
        under scope: @autoclosure () -> TrustScope,
        at now: Int64
    ) {
        // RFC 6797 §8.1: not from a server whose chain only a delegate or an evaluator has accepted: the sessions that
        // share the store would not. And only the first field counts.
        guard host.kind == .name, let value = headers.firstBytes("Strict-Transport-Security"),
            let policy = value.withUnsafeBytes({ TransportSecurity($0) }), scope().isProven
        else { return }
        let age = min(policy.maxAge, HSTSStore.longestAge)
        let expires = Date(timeIntervalSince1970: Double(now + age))
        let entry = Entry(host: host.text, includesSubdomains: policy.includesSubdomains, expires: expires)
        known.withLock { known in
            guard age > 0, let entry else { return known.remove(host.text) }
            known.learn(entry, at: Date(timeIntervalSince1970: Double(now)), site: site(of:))
        }
    }
}
