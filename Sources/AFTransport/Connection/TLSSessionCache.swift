package import AFTLS

/// TLS sessions with servers that we know, which make handshakes short, and the trust that lets us skip their
/// certificates then.
///
/// Belongs to one security context, that is, to one set of rules: a session accepted
/// under other rules cannot be found here.
package struct TLSSessionCache {
    package struct Entry {
        package let session: TLSSession
        /// The server as it was judged when the session was made.
        package let trust: ServerTrust
    }

    /// Of all peers together; a session takes some kilobytes.
    package static let limit = 256

    private struct Shelf {
        package var entries: [Entry] = []
        package var lastUse: UInt64 = 0
    }

    package private(set) var count = 0
    private var shelves: [ConnectionKey: Shelf] = [:]
    private var uses: UInt64 = 0
    /// A session of TLS 1.3 serves one handshake. Short handshakes for all connections that a peer may have at a time
    /// take one session for each.
    private let sessionsPerPeer: Int

    package init(sessionsPerPeer: Int) {
        self.sessionsPerPeer = min(max(2, sessionsPerPeer), TLSSessionCache.limit)
    }

    package mutating func keep(_ session: TLSSession, trust: ServerTrust, for key: ConnectionKey) {
        uses += 1
        let place = key.place
        var shelf = shelves[place] ?? Shelf()
        shelf.lastUse = uses
        shelf.entries.append(Entry(session: session, trust: trust))
        count += 1
        if shelf.entries.count > sessionsPerPeer {
            shelf.entries.removeFirst()
            count -= 1
        }
        shelves[place] = shelf
        while count > TLSSessionCache.limit { evict() }
    }

    /// The freshest session. One that serves a single handshake leaves the cache.
    package mutating func take(for key: ConnectionKey) -> Entry? {
        let place = key.place
        guard var shelf = shelves[place] else { return nil }
        uses += 1
        shelf.lastUse = uses
        let before = shelf.entries.count
        var taken: Entry?
        while taken == nil, let entry = shelf.entries.popLast() {
            guard entry.session.isResumable else { continue }
            if !entry.session.servesOnce { shelf.entries.append(entry) }
            taken = entry
        }
        count -= before - shelf.entries.count
        shelves[place] = shelf.entries.isEmpty ? nil : shelf
        return taken
    }

    /// Call it when the server is not trusted any more, or when a handshake that offered a session has failed.
    package mutating func forget(_ key: ConnectionKey) {
        count -= shelves.removeValue(forKey: key.place)?.entries.count ?? 0
    }

    private mutating func evict() {
        guard let oldest = shelves.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        forget(oldest.key)
    }
}
