package import AFTLS

/// Servers whose chains were proven before, under the rules that this cache belongs to.
///
/// Proving a chain is a sixth of a full handshake, and nearly always it is the chain of the last time. The cache
/// remembers only the standard evaluation, and uses it again only for the same certificates, byte for byte, for the
/// same host, as long as all of them are valid. The server still proves in every handshake that it has the key, and the
/// evaluator still looks at pins.
package struct TrustedServers {
    package static let limit = 64

    private struct Entry {
        package let trust: ServerTrust
        package var lastUse: UInt64
    }

    /// A host, by one way to it, with the delegate that answers for it.
    private struct Place: Hashable {
        package let host: String
        package let route: ProxyRoute?
        package let judge: TrustJudge?
    }

    private var entries: [Place: Entry] = [:]
    private var uses: UInt64 = 0

    package var count: Int { entries.count }

    package mutating func keep(_ trust: ServerTrust, by route: ProxyRoute?, for judge: TrustJudge?) {
        guard trust.isKnownTrusted else { return }
        uses += 1
        entries[Place(host: trust.host, route: route, judge: judge)] = Entry(trust: trust, lastUse: uses)
        guard entries.count > TrustedServers.limit else { return }
        if let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) { entries[oldest.key] = nil }
    }

    /// The remembered trust at this moment, if the server shows the same certificates again.
    package mutating func recall(
        _ host: String,
        by route: ProxyRoute?,
        for judge: TrustJudge?,
        showing served: [Certificate],
        at moment: Int64
    ) -> ServerTrust? {
        let place = Place(host: host, route: route, judge: judge)
        guard let entry = entries[place], entry.trust.servedChain == served else { return nil }
        guard let trust = entry.trust.recalled(at: moment) else {
            entries[place] = nil
            return nil
        }
        uses += 1
        entries[place]?.lastUse = uses
        return trust
    }
}
