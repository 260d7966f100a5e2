/// Entries with their sizes, the latest used first. Every step takes the same time for any number of entries. The total
/// is always the sum of the sizes.
///
/// Entries that say nothing to a cache are elsewhere, in an eighth of the room.
struct CacheMemory {
    private struct Node {
        var entry: CacheEntry
        var size: Int
        /// Where the entry is on disk.
        var place: CachePlace?
        /// Whether it was used since it was written there.
        var isUsed = false
        var newer = none
        var older = none
        /// The next of its URL, in the order in which they were inserted.
        var sibling = none
    }

    /// An entry that was removed.
    struct Removed {
        let entry: CacheEntry
        let place: CachePlace?
    }

    private static let none = -1

    private var nodes: [Node?] = []
    private var free: [Int] = []
    /// The first of each URL.
    private var families: [CacheKey: Int] = [:]
    private var newest = none
    private var oldest = none
    /// How many there are, and the sum of their sizes, without those that say nothing.
    private var count = 0
    private var size = 0
    private var inert = CacheInert()

    var isEmpty: Bool { count == 0 && inert.total == 0 }
    /// The sum of the sizes.
    var total: Int { size + inert.total }
    /// Whether all entries say nothing to a cache.
    var isInert: Bool { count == 0 }

    // MARK: - Looking

    /// All entries, in no order.
    var entries: [CacheEntry] { nodes.compactMap { $0?.entry } + inert.entries }

    /// The entries of a URL, in the order in which they were inserted.
    func entries(of key: CacheKey) -> [CacheEntry] {
        let entries = indices(of: key).compactMap { nodes[$0]?.entry }
        return if let entry = inert[key] { [entry] + entries } else { entries }
    }

    /// Where the entries of a URL are on disk.
    func places(of key: CacheKey) -> [CachePlace] { indices(of: key).compactMap { nodes[$0]?.place } }

    /// The entry with the same URL that an entry with this id would replace.
    subscript(id: CacheEntryID) -> CacheEntry? { index(of: id).flatMap { nodes[$0]?.entry } ?? inert[id] }

    func place(of id: CacheEntryID) -> CachePlace? { index(of: id).flatMap { nodes[$0]?.place } }

    /// Whether an entry of the URL may say something to a cache.
    func hasUseful(of key: CacheKey) -> Bool { count > 0 && families[key] != nil }

    private func indices(of key: CacheKey) -> [Int] {
        guard count > 0, var index = families[key] else { return [] }
        var found = [index]
        while let next = nodes[index]?.sibling, next != CacheMemory.none {
            found.append(next)
            index = next
        }
        return found
    }

    private func index(of id: CacheEntryID) -> Int? {
        guard count > 0, var index = families[id.head.key] else { return nil }
        while index != CacheMemory.none, let node = nodes[index] {
            if node.entry.head === id.head || node.entry.head.isSame(as: id.head) { return index }
            index = node.sibling
        }
        return nil
    }

    // MARK: - Changing

    /// Inserts the entry as the latest used, in place of the one with its id.
    ///
    /// - Returns: The one that it replaces.
    @discardableResult
    mutating func insert(_ entry: CacheEntry, place: CachePlace? = nil) -> Removed? {
        if entry.isInert {
            inert.insert(entry)
            return index(of: entry.id).flatMap { remove(at: $0) }
        }
        let removed = remove(entry.id)
        let index = free.popLast() ?? nodes.count
        if index == nodes.count { nodes.append(nil) }
        var node = Node(entry: entry, size: entry.size, place: place)
        link(&node, at: index)
        nodes[index] = node
        if let last = indices(of: entry.head.key).last {
            nodes[last]?.sibling = index
        } else {
            families[entry.head.key] = index
        }
        count += 1
        return removed
    }

    mutating func setPlace(_ place: CachePlace?, of id: CacheEntryID) {
        guard let index = index(of: id) else { return }
        nodes[index]?.place = place
        nodes[index]?.isUsed = false
    }

    mutating func use(_ id: CacheEntryID) {
        guard let index = index(of: id) else { return }
        nodes[index]?.isUsed = true
        moveToFront(index)
    }

    private mutating func moveToFront(_ index: Int) {
        guard var node = nodes[index], node.newer != CacheMemory.none else { return }
        unlink(node)
        link(&node, at: index)
        nodes[index] = node
    }

    @discardableResult
    mutating func remove(_ id: CacheEntryID) -> Removed? {
        if let index = index(of: id) { return remove(at: index) }
        return inert.remove(id).map { Removed(entry: $0, place: nil) }
    }

    private mutating func remove(at index: Int) -> Removed? {
        guard nodes.indices.contains(index), let node = nodes[index] else { return nil }
        unlink(node)
        let key = node.entry.head.key
        if families[key] == index {
            families[key] = node.sibling == CacheMemory.none ? nil : node.sibling
        } else if let before = indices(of: key).first(where: { nodes[$0]?.sibling == index }) {
            nodes[before]?.sibling = node.sibling
        }
        nodes[index] = nil
        free.append(index)
        count -= 1
        return Removed(entry: node.entry, place: node.place)
    }

    /// Puts the node in front of the list.
    private mutating func link(_ node: inout Node, at index: Int) {
        (node.newer, node.older) = (CacheMemory.none, newest)
        if newest != CacheMemory.none { nodes[newest]?.newer = index } else { oldest = index }
        newest = index
        size += node.size
    }

    private mutating func unlink(_ node: Node) {
        if node.newer != CacheMemory.none { nodes[node.newer]?.older = node.older } else { newest = node.older }
        if node.older != CacheMemory.none { nodes[node.older]?.newer = node.newer } else { oldest = node.newer }
        size -= node.size
    }

    /// Removes the entry that was used longest ago, of those that say something to a cache.
    mutating func removeOldest() -> Removed? { remove(at: oldest) }

    /// Removes the entries that were used longest ago until the rest fits.
    mutating func shrink(to capacity: Int) -> [Removed] {
        var removed: [Removed] = []
        inert.shrink(to: max(capacity, 0) / 8)
        while total > max(capacity, 0), let oldest = removeOldest() { removed.append(oldest) }
        return removed
    }

    /// Whether the entries need more room than there is.
    func exceeds(_ capacity: Int) -> Bool { total > capacity || inert.total > capacity / 8 }

    mutating func forgetPlaces() {
        for index in nodes.indices { nodes[index]?.place = nil }
    }

    /// The entries whose places are in these segments lose them.
    ///
    /// - Returns: Those entries that were used since they were written there.
    mutating func forgetPlaces(in segments: Set<UInt16>) -> [CacheEntry] {
        var found: [CacheEntry] = []
        for index in nodes.indices {
            guard let node = nodes[index], let place = node.place, segments.contains(place.segment) else { continue }
            nodes[index]?.place = nil
            if node.isUsed { found.append(node.entry) }
        }
        return found
    }
}
