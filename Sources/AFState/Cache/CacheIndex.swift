/// Entries with their sizes, the latest used first. Every step takes the same time for any number of entries. The total
/// is always the sum of the sizes.
struct CacheIndex<Value> {
    private struct Node {
        let id: CacheEntryID
        var value: Value
        var size: Int
        var newer: Int?
        var older: Int?
    }

    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var places: [CacheEntryID: Int] = [:]
    private var families: [CacheDigest: [CacheEntryID]] = [:]
    private var newest: Int?
    private var oldest: Int?
    /// The sum of the sizes.
    private(set) var total = 0

    var count: Int { places.count }
    var isEmpty: Bool { places.isEmpty }

    /// The ids of all entries, in no order.
    var ids: [CacheEntryID] { Array(places.keys) }

    /// The ids of one URL's entries, in the order in which they were inserted.
    func ids(of key: CacheDigest) -> [CacheEntryID] { families[key] ?? [] }

    func values(of key: CacheDigest) -> [Value] { ids(of: key).compactMap { self[$0] } }

    subscript(id: CacheEntryID) -> Value? {
        places[id].flatMap { nodes[$0]?.value }
    }

    func size(of id: CacheEntryID) -> Int? {
        places[id].flatMap { nodes[$0]?.size }
    }

    /// The id of the entry that was used longest ago.
    var oldestID: CacheEntryID? { oldest.flatMap { nodes[$0]?.id } }

    /// Inserts the value as the latest used, in place of the one with this id.
    mutating func insert(_ value: Value, as id: CacheEntryID, size: Int) {
        remove(id)
        let place = free.popLast() ?? nodes.count
        let node = Node(id: id, value: value, size: size, newer: nil, older: newest)
        if place == nodes.count { nodes.append(node) } else { nodes[place] = node }
        if let newest { nodes[newest]?.newer = place } else { oldest = place }
        newest = place
        places[id] = place
        families[id.key, default: []].append(id)
        total += size
    }

    mutating func use(_ id: CacheEntryID) {
        guard let place = places[id], place != newest, let node = nodes[place] else { return }
        unlink(node)
        nodes[place]?.newer = nil
        nodes[place]?.older = newest
        if let newest { nodes[newest]?.newer = place }
        newest = place
    }

    @discardableResult
    mutating func remove(_ id: CacheEntryID) -> Value? {
        guard let place = places.removeValue(forKey: id), let node = nodes[place] else { return nil }
        unlink(node)
        nodes[place] = nil
        free.append(place)
        families[id.key]?.removeAll { $0 == id }
        if families[id.key]?.isEmpty == true { families[id.key] = nil }
        total -= node.size
        return node.value
    }

    private mutating func unlink(_ node: Node) {
        if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
        if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
    }

    mutating func removeAll() { self = CacheIndex() }

    /// Removes the entries that were used longest ago until the rest fits.
    ///
    /// - Returns: The removed entries.
    mutating func shrink(to capacity: Int) -> [(id: CacheEntryID, value: Value)] {
        var removed: [(CacheEntryID, Value)] = []
        while total > max(capacity, 0), let oldestID, let value = remove(oldestID) {
            removed.append((oldestID, value))
        }
        return removed
    }
}
