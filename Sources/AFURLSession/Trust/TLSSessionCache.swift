import AFTLS

/// What makes handshakes with servers we know short, and why we may skip looking at
/// their certificates then.
///
/// Belongs to one security context, that is, to one set of rules: a session accepted
/// under other rules cannot be found here.
struct TLSSessionCache {
    struct Entry {
        let session: TLSSession
        /// The server as it was judged when the session came into being.
        let trust: ServerTrust
    }

    static let peerLimit = 256
    static let sessionsPerPeer = 2

    private struct Shelf {
        var entries: [Entry] = []
        var lastUse: UInt64 = 0
    }

    private var shelves: [ConnectionKey: Shelf] = [:]
    private var uses: UInt64 = 0

    var count: Int { shelves.values.reduce(0) { $0 + $1.entries.count } }

    mutating func keep(_ session: TLSSession, _ trust: ServerTrust, for key: ConnectionKey) {
        uses += 1
        var shelf = shelves[key] ?? Shelf()
        shelf.lastUse = uses
        shelf.entries.append(Entry(session: session, trust: trust))
        if shelf.entries.count > TLSSessionCache.sessionsPerPeer { shelf.entries.removeFirst() }
        shelves[key] = shelf
        if shelves.count > TLSSessionCache.peerLimit { evict() }
    }

    /// The freshest one. One that serves a single handshake is gone then.
    mutating func take(for key: ConnectionKey) -> Entry? {
        guard var shelf = shelves[key] else { return nil }
        uses += 1
        shelf.lastUse = uses
        while let entry = shelf.entries.popLast() {
            guard entry.session.isResumable else { continue }
            if !entry.session.servesOnce { shelf.entries.append(entry) }
            shelves[key] = shelf.entries.isEmpty ? nil : shelf
            return entry
        }
        shelves[key] = nil
        return nil
    }

    /// The server no longer convinces us, or did not take a session of its own.
    mutating func forget(_ key: ConnectionKey) {
        shelves[key] = nil
    }

    private mutating func evict() {
        guard let oldest = shelves.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        shelves[oldest.key] = nil
    }
}
