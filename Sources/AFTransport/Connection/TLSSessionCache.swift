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
        let place: ConnectionKey
        var entries: [Entry] = []
        var lastUse: UInt64 = 0
    }

    package private(set) var count = 0
    /// A list, of no more peers than there are sessions: a look costs nothing beside a handshake, and the first entry of a
    /// dictionary has the runtime pass over all conformances of the program.
    private var shelves: [Shelf] = []
    private var uses: UInt64 = 0
    /// A session of TLS 1.3 serves one handshake. Short handshakes for all connections that a peer may have at a time
    /// take one session for each.
    private let sessionsPerPeer: Int

    package init(sessionsPerPeer: Int) {
        self.sessionsPerPeer = min(max(2, sessionsPerPeer), TLSSessionCache.limit)
    }

    package mutating func keep(_ session: TLSSession, trust: ServerTrust, for key: ConnectionKey) {
        let index = index(of: key) ?? shelves.endIndex
        if index == shelves.endIndex { shelves.append(Shelf(place: key.place)) }
        uses += 1
        shelves[index].lastUse = uses
        shelves[index].entries.append(Entry(session: session, trust: trust))
        count += 1
        if shelves[index].entries.count > sessionsPerPeer {
            shelves[index].entries.removeFirst()
            count -= 1
        }
        while count > TLSSessionCache.limit { evict() }
    }

    private func index(of key: ConnectionKey) -> Int? {
        let place = key.place
        return shelves.firstIndex { $0.place == place }
    }

    /// The freshest session. One that serves a single handshake leaves the cache.
    package mutating func take(for key: ConnectionKey) -> Entry? {
        guard let index = index(of: key) else { return nil }
        uses += 1
        shelves[index].lastUse = uses
        let before = shelves[index].entries.count
        var taken: Entry?
        while taken == nil, let entry = shelves[index].entries.popLast() {
            guard entry.session.isResumable else { continue }
            if !entry.session.servesOnce { shelves[index].entries.append(entry) }
            taken = entry
        }
        count -= before - shelves[index].entries.count
        if shelves[index].entries.isEmpty { shelves.remove(at: index) }
        return taken
    }

    /// Call it when the server is not trusted any more, or when a handshake that offered a session has failed.
    package mutating func forget(_ key: ConnectionKey) {
        guard let index = index(of: key) else { return }
        count -= shelves.remove(at: index).entries.count
    }

    private mutating func evict() {
        guard let oldest = shelves.indices.min(by: { shelves[$0].lastUse < shelves[$1].lastUse }) else { return }
        count -= shelves.remove(at: oldest).entries.count
    }
}
