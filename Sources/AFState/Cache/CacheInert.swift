/// Responses that say nothing to a cache: of each URL the latest, and of all of them those that came last.
///
/// Many programs get little else. By the rules of HTTP none of these answers a request; only the policies that ask for
/// any age use one. So they are kept for next to nothing: in a ring, the first to come of which is the first to go, where
/// each knows the one before it whose URL has the same remainder.
struct CacheInert {
    private struct Slot {
        /// Nil once it is removed.
        var entry: CacheEntry?
        /// The number of the one before it with the same remainder. Once that is gone, so are all before it.
        let before: Int
    }

    /// By their numbers, of which there is always a power of two.
    private var slots: [Slot] = []
    /// The number of the last one, by the remainder.
    private var latest: [Int] = []
    /// The numbers that are kept.
    private var kept = 0..<0
    /// The sum of the sizes.
    private(set) var total = 0

    /// All of them, the oldest first.
    var entries: [CacheEntry] { kept.compactMap { slots[place($0)].entry } }

    /// That of a URL.
    subscript(key: CacheKey) -> CacheEntry? { number(of: key).flatMap { slots[place($0)].entry } }

    /// The one that an entry with this id would replace.
    subscript(id: CacheEntryID) -> CacheEntry? { self[id.head.key].flatMap { $0.id == id ? $0 : nil } }

    private func place(_ number: Int) -> Int { number & (slots.count - 1) }

    private func number(of key: CacheKey) -> Int? {
        guard !kept.isEmpty else { return nil }
        var number = latest[place(key.hash)]
        while number >= kept.lowerBound {
            let slot = slots[place(number)]
            if slot.entry?.head.key == key { return number }
            number = slot.before
        }
        return nil
    }

    /// Keeps the entry, in place of that of its URL.
    mutating func insert(_ entry: CacheEntry) {
        total += entry.size
        if let number = number(of: entry.head.key) {
            total -= slots[place(number)].entry?.size ?? 0
            slots[place(number)].entry = entry
        } else {
            if kept.count == slots.count { makeRoom() }
            add(entry)
        }
    }

    private mutating func add(_ entry: CacheEntry) {
        let remainder = place(entry.head.key.hash)
        slots[place(kept.upperBound)] = Slot(entry: entry, before: latest[remainder])
        latest[remainder] = kept.upperBound
        kept = kept.lowerBound..<kept.upperBound + 1
    }

    /// Leaves out those that are removed, and takes more memory where that is not enough.
    private mutating func makeRoom() {
        let entries = entries
        let room = entries.count * 2 > slots.count ? slots.count * 2 : max(slots.count, 64)
        kept = 0..<0
        slots = Array(repeating: Slot(entry: nil, before: -1), count: room)
        latest = Array(repeating: -1, count: room)
        for entry in entries { add(entry) }
    }

    mutating func remove(_ id: CacheEntryID) -> CacheEntry? {
        guard let number = number(of: id.head.key), let entry = slots[place(number)].entry, entry.id == id else {
            return nil
        }
        slots[place(number)].entry = nil
        total -= entry.size
        return entry
    }

    /// Removes the first ones until the rest fits.
    mutating func shrink(to room: Int) {
        while total > room, let number = kept.first {
            total -= slots[place(number)].entry?.size ?? 0
            slots[place(number)].entry = nil
            kept.removeFirst()
        }
    }
}
