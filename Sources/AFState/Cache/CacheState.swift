/// The part of a store that needs no disk. A value that the store's lock guards.
///
/// A URL is found in constant time among all, and then each of its variants, at most `variantLimit`, is looked at.
struct CacheState {
    /// How many bytes may wait for a slow disk; an entry beyond that is kept in memory only.
    private static let pendingLimit = 8 << 20
    /// How many responses are kept for one URL; the oldest are removed first.
    static let variantLimit = 16
    /// For how many URLs the last removal is known. If there are more, one of all is assumed.
    private static let forgottenLimit = 1_000
    /// How many URLs may be forgotten before the disk has to follow, although it holds nothing that is known here.
    private static let unhurriedRemovals = 500

    private(set) var memory = CacheMemory()
    /// The entries that are known to be on disk.
    private(set) var disk = CacheDiskIndex()
    /// The entries that are still to be written to the disk. Their places are those that they will leave.
    private(set) var pending = CacheMemory()
    private(set) var pendingRemovals = CacheRemovals()
    /// How often an entry was removed because it must not be used any more.
    private(set) var removals: UInt32 = 0
    /// The number of the last removal of all entries of a URL.
    private var forgotten: [CacheKey: UInt32] = [:]
    /// The last removal that concerns every URL.
    private var lastOfAll: UInt32 = 0
    /// The content of the disk is known, or the disk cannot be used.
    private(set) var isIndexed: Bool
    /// The disk cannot be used and may hold any entry.
    private var isUnknown = false
    private(set) var memoryCapacity: Int
    private(set) var diskCapacity: Int
    private let hasDisk: Bool
    /// Removed entries with objects of the program. They are released only after the lock is released.
    var trash: [CacheEntry] = []

    init(memoryCapacity: Int, diskCapacity: Int, hasDisk: Bool) {
        self.memoryCapacity = max(memoryCapacity, 0)
        self.diskCapacity = hasDisk ? max(diskCapacity, 0) : 0
        self.hasDisk = hasDisk
        isIndexed = !hasDisk
    }

    /// Whether all entries say nothing to a cache.
    var isInert: Bool { isIndexed && memory.isInert && disk.isEmpty && pending.isEmpty }

    var isSurelyEmpty: Bool { isInert && memory.isEmpty }

    var work: CacheWork { !pendingRemovals.isEmpty ? .removing : pending.isEmpty ? .nothing : .writing }

    /// Whether there may be an entry that must be removed once it is outdated, even on a disk that cannot be used now.
    var mayHoldOutdated: Bool { isUnknown || !isSurelyEmpty }

    /// The longest entry that is kept in memory, and on disk: a twentieth of the capacity.
    private var memoryLimit: Int { memoryCapacity / 20 }
    private var diskLimit: Int { diskCapacity / 20 }
    var entryLimit: Int { max(memoryLimit, diskLimit) }

    // MARK: - Looking

    /// The entries of a URL that need no disk.
    func entries(for key: CacheKey) -> [CacheEntry] {
        let entries = memory.entries(of: key)
        guard !pending.isEmpty else { return entries }
        return entries + pending.entries(of: key).filter { memory[$0.id] == nil }
    }

    /// Whether any of them says something to a cache, or the disk may have others.
    func mayAnswer(_ key: CacheKey) -> Bool {
        memory.hasUseful(of: key) || pending.hasUseful(of: key) || mayHaveMore(of: key)
    }

    /// Whether the disk may have entries of the URL that memory does not have.
    func mayHaveMore(of key: CacheKey) -> Bool { !isIndexed || !unknownPlaces(of: key).isEmpty }

    /// Where the disk has entries, perhaps of this URL, that memory does not have.
    private func unknownPlaces(of key: CacheKey) -> [CachePlace] {
        guard !disk.isEmpty else { return [] }
        let tag = key.tag
        guard disk.mayHold(tag) else { return [] }
        let known = memory.places(of: key) + pending.places(of: key)
        return disk.places(of: tag).filter { !known.contains($0) }
    }

    /// Where the disk may have entries of the URL.
    func places(of key: CacheKey) -> [CachePlace] { disk.isEmpty ? [] : disk.places(of: key.tag) }

    mutating func use(_ entry: CacheEntry) { memory.use(entry.id) }

    /// Takes an entry that was read from the disk.
    ///
    /// - Parameter moves: Whether the disk is to have it anew, because the disk gives up first what is old.
    /// - Returns: Whether it still counts.
    mutating func keep(_ entry: CacheEntry, at place: CachePlace, moves: Bool) -> Bool {
        let id = entry.id
        guard disk.places(of: id.head.key.tag).contains(place) else { return false }
        if let present = memory[id] ?? pending[id] {
            let isKnown = (memory.place(of: id) ?? pending.place(of: id)) == place
            if isKnown { return true }
            // This process wrote the record before the disk failed for a while, or another process did.
            guard CacheState.isLater(entry, than: present) else {
                removeLater(place, tag: id.head.key.tag)
                return false
            }
            removeLater(memory.remove(id))
            removeLater(pending.remove(id))
        }
        remember(entry, at: place)
        if moves { write(entry, leaving: place) }
        return true
    }

    private static func isLater(_ entry: CacheEntry, than other: CacheEntry) -> Bool {
        (entry.head.responseTime, entry.head.requestTime) > (other.head.responseTime, other.head.requestTime)
    }

    // MARK: - Storing

    /// - Parameter former: The entry that the new one is an update of.
    /// - Returns: Whether the entry is kept anywhere.
    mutating func insert(
        _ entry: CacheEntry,
        ticket: CacheTicket?,
        inPlaceOf former: CacheEntry?,
        replacing isReplaced: (CacheEntry) -> Bool
    ) -> Bool {
        let key = entry.head.key
        if let ticket, isForgotten(key, since: ticket) { return false }
        if ticket != nil, entry.isInert, isInert(key) { return keepInert(entry) }
        let id = entry.id
        let replaced = entries(for: key).filter { $0.head.isSame(as: entry.head) || isReplaced($0) }
        if ticket != nil {
            if let former, let present = memory[former.id] ?? pending[former.id], present !== former { return false }
            guard !replaced.contains(where: { $0 !== former && CacheRules.outlives($0.head, head: entry.head) }) else {
                return false
            }
        }
        for other in replaced where !other.head.isSame(as: entry.head) { supersede(other.id) }
        // The entry with the same id is outdated, even if the new one does not fit.
        supersedeOnDisk(id)
        let isRemembered = remember(entry, at: nil)
        if !isRemembered { removeLater(memory.remove(id)) }
        return write(entry, leaving: nil) || isRemembered
    }

    /// Whether nothing that is kept of the URL says anything to a cache.
    private func isInert(_ key: CacheKey) -> Bool { !isUnknown && !mayAnswer(key) }

    /// Most responses say nothing to a cache. The later one stays; which one its server made later does not matter.
    private mutating func keepInert(_ entry: CacheEntry) -> Bool {
        guard entry.size <= memoryLimit else { return false }
        if let present = memory[entry.id], present.head.responseTime > entry.head.responseTime { return true }
        memory.insert(entry)
        if memory.exceeds(memoryCapacity) { shrinkMemory() }
        return true
    }

    @discardableResult
    private mutating func remember(_ entry: CacheEntry, at place: CachePlace?) -> Bool {
        guard entry.size <= memoryLimit else { return false }
        if let former = memory.insert(entry, place: place) {
            removeLater(former)
        }
        let variants = memory.entries(of: entry.head.key)
        for entry in variants.dropLast(CacheState.variantLimit) { discard(memory.remove(entry.id)) }
        if memory.exceeds(memoryCapacity) { shrinkMemory() }
        return true
    }

    @discardableResult
    private mutating func write(_ entry: CacheEntry, leaving place: CachePlace?) -> Bool {
        guard hasDisk, entry.mayGoToDisk, entry.size <= diskLimit,
            pending.total + entry.size <= CacheState.pendingLimit
        else { return false }
        pending.insert(entry, place: place)
        return true
    }

    /// Removes an entry that is outdated. What the disk has of the URL and memory does not know may be this one.
    private mutating func supersede(_ id: CacheEntryID) {
        supersedeOnDisk(id)
        removeLater(memory.remove(id))
    }

    private mutating func supersedeOnDisk(_ id: CacheEntryID) {
        guard hasDisk else { return }
        let unknown = unknownPlaces(of: id.head.key)
        removeLater(pending.remove(id))
        // The store does not know what is on the disk.
        if !isIndexed || isUnknown { pendingRemovals.add(tag: id.head.key.tag) }
        for place in unknown { removeLater(place, tag: id.head.key.tag) }
    }

    private mutating func removeLater(_ removed: CacheMemory.Removed?) {
        discard(removed)
        if let removed, let place = removed.place { removeLater(place, tag: removed.entry.head.key.tag) }
    }

    /// Marks a record: it is removed from the disk as soon as that is possible.
    mutating func removeLater(_ place: CachePlace, tag: UInt64) {
        disk.remove(tag, place: place)
        pendingRemovals.add(place, tag: tag)
    }

    private mutating func discard(_ removed: CacheMemory.Removed?) {
        if let entry = removed?.entry, entry.presented != nil { trash.append(entry) }
    }

    private mutating func shrinkMemory() {
        for removed in memory.shrink(to: memoryCapacity) { discard(removed) }
    }

    mutating func setMemoryCapacity(_ capacity: Int) {
        memoryCapacity = max(capacity, 0)
        shrinkMemory()
    }

    mutating func setDiskCapacity(_ capacity: Int) {
        diskCapacity = hasDisk ? max(capacity, 0) : 0
    }

    // MARK: - Removing outdated entries

    /// - Returns: Whether the disk has to follow soon.
    @discardableResult
    mutating func forget(_ key: CacheKey) -> Bool {
        let isUrgent = mayHoldOutdated
        countRemoval()
        forgotten[key] = removals
        if forgotten.count > CacheState.forgottenLimit { countRemovalOfAll() }
        for entry in memory.entries(of: key) { removeLater(memory.remove(entry.id)) }
        for entry in pending.entries(of: key) { removeLater(pending.remove(entry.id)) }
        guard hasDisk else { return false }
        let tag = key.tag
        for place in places(of: key) { removeLater(place, tag: tag) }
        // Another process may have stored something since the folder was looked at.
        pendingRemovals.add(tag: tag)
        return isUrgent || pendingRemovals.tags.count > CacheState.unhurriedRemovals
    }

    private mutating func countRemoval() { removals &+= 1 }

    private mutating func countRemovalOfAll() {
        countRemoval()
        forgotten = [:]
        lastOfAll = removals
    }

    /// Whether a response to a request that was sent with the ticket may be one of those that were removed.
    private func isForgotten(_ key: CacheKey, since ticket: CacheTicket) -> Bool {
        Int32(bitPattern: ((forgotten.isEmpty ? nil : forgotten[key]) ?? lastOfAll) &- ticket.removals) > 0
    }

    mutating func forgetAll() {
        countRemovalOfAll()
        for entry in memory.entries { discard(memory.remove(entry.id)) }
        dropAllPending()
        if hasDisk { removeAllLater() }
    }

    /// Forgets one entry, and keeps the others of its URL that memory knows.
    mutating func forget(_ id: CacheEntryID) {
        countRemoval()
        supersede(id)
    }

    /// Forgets entries that were received at a time or later, as far as memory knows them.
    mutating func forget(since time: Int64) {
        countRemovalOfAll()
        for entry in memory.entries + pending.entries where entry.head.responseTime >= time { supersede(entry.id) }
    }

    // MARK: - From the disk

    mutating func takeRemovals() -> CacheRemovals {
        defer { pendingRemovals = CacheRemovals() }
        return pendingRemovals
    }

    /// The pending entries cannot be written now. Those on disk that they would have replaced are outdated.
    mutating func dropAllPending() {
        while let removed = pending.removeOldest() { removeLater(removed) }
    }

    /// Marks these again: they could not be removed yet.
    mutating func removeLater(_ left: CacheRemovals) { pendingRemovals.add(left) }

    /// Marks the entries of a URL that may be on a disk that cannot be used now.
    ///
    /// - Returns: Whether there may be any.
    mutating func removeUnknownLater(_ key: CacheKey) -> Bool {
        if isUnknown { pendingRemovals.add(tag: key.tag) }
        return isUnknown
    }

    mutating func removeAllLater() {
        disk = CacheDiskIndex()
        pendingRemovals = CacheRemovals(isAll: true)
    }

    /// The entries to write next, up to so many bytes.
    func nextPending(upTo limit: Int) -> [CacheEntry] {
        var size = 0
        return pending.entries.prefix { entry in
            defer { size += entry.size }
            return size == 0 || size + entry.size <= limit
        }
    }

    /// Takes note of where a pending entry has been written.
    mutating func settle(_ entry: CacheEntry, at place: CachePlace) {
        let id = entry.id
        let tag = id.head.key.tag
        // The entry was replaced or forgotten meanwhile.
        guard pending[id] === entry else { return pendingRemovals.add(place, tag: tag) }
        removeLater(pending.remove(id))
        disk.insert(tag, place: place)
        if memory[id] === entry { memory.setPlace(place, of: id) }
        // Of several, memory has the latest.
        let places = disk.places(of: tag)
        guard places.count > CacheState.variantLimit else { return }
        let kept = memory.places(of: id.head.key) + [place]
        for place in places.filter({ !kept.contains($0) }).prefix(places.count - CacheState.variantLimit) {
            removeLater(place, tag: tag)
        }
    }

    /// Takes note that a pending entry could not be written.
    mutating func drop(_ entry: CacheEntry) {
        guard pending[entry.id] === entry else { return }
        removeLater(pending.remove(entry.id))
    }

    mutating func noteGone(_ place: CachePlace, tag: UInt64) { disk.remove(tag, place: place) }

    /// Takes note that the disk cannot be used for now.
    mutating func noteUnknown(mayHoldAny: Bool) {
        loseFolder()
        isIndexed = true
        isUnknown = mayHoldAny
    }

    /// Forgets all places: in a folder that is opened again they mean something else.
    mutating func loseFolder() {
        disk = CacheDiskIndex()
        memory.forgetPlaces()
        pending.forgetPlaces()
        pendingRemovals.forgetPlaces()
    }

    /// Takes note that the folder is empty.
    mutating func noteAllGone() {
        loseFolder()
        pendingRemovals = CacheRemovals()
    }

    /// Takes what a folder holds that was just opened.
    mutating func setDisk(_ index: CacheDiskIndex) {
        isIndexed = true
        isUnknown = false
        disk = pendingRemovals.isAll ? CacheDiskIndex() : index
        for tag in pendingRemovals.tags { for place in disk.places(of: tag) { removeLater(place, tag: tag) } }
    }

    /// Takes a record that another process has written.
    mutating func note(_ place: CachePlace, tag: UInt64) {
        if pendingRemovals.contains(tag) {
            pendingRemovals.add(place, tag: tag)
        } else {
            disk.insert(tag, place: place)
        }
    }

    /// Takes note that segments are gone. What memory has of them and the program uses is written anew.
    mutating func noteGone(_ segments: Set<UInt16>, movesUsed: Bool) {
        for segment in segments { disk.removeAll(inSegment: segment) }
        _ = pending.forgetPlaces(in: segments)
        let left = memory.forgetPlaces(in: segments)
        if movesUsed { for entry in left { write(entry, leaving: nil) } }
    }
}

/// The state of a store when a request was sent. The response is not stored if responses for its URL were removed since:
/// the server may have made it before the change that they were removed for.
package struct CacheTicket: Sendable {
    let removals: UInt32

    /// Of a session without a store.
    package static let none = CacheTicket(removals: 0)
}
