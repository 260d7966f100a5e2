import AFLoop

/// The part of a store that needs no disk. A value that the store's lock guards.
struct CacheState {
    struct DiskRecord {
        /// When the entry was last marked as used for other processes, on the machine's clock.
        var marked: Int64
    }

    /// The entries to remove from the disk before anything else is done there.
    struct Dooms {
        /// If there are more, everything is removed.
        private static let limit = 10_000

        var isAll = false
        var keys: Set<CacheDigest> = []
        var ids: Set<CacheEntryID> = []

        var isEmpty: Bool { !isAll && keys.isEmpty && ids.isEmpty }

        func contains(_ id: CacheEntryID) -> Bool { isAll || keys.contains(id.key) || ids.contains(id) }

        mutating func add(_ key: CacheDigest) {
            keys.insert(key)
            if keys.count > Dooms.limit { self = Dooms(isAll: true) }
        }

        mutating func add(_ id: CacheEntryID) {
            ids.insert(id)
            if ids.count > Dooms.limit { self = Dooms(isAll: true) }
        }
    }

    /// How many bytes may wait for a slow disk; an entry beyond that is kept in memory only.
    private static let pendingLimit = 8 << 20
    /// How many responses are kept for one URL; the oldest are removed first.
    static let variantLimit = 16
    /// For how many URLs the last removal is known. If there are more, one of all is assumed.
    private static let forgottenLimit = 1_000
    /// How many URLs may be forgotten before the disk has to follow, although it holds nothing that is known here.
    private static let unhurriedDooms = 500

    private(set) var memory = CacheIndex<CacheEntry>()
    /// The entries that are known to be on disk.
    private(set) var disk = CacheIndex<DiskRecord>()
    /// The entries that are still to be written to the disk.
    private(set) var pending: [CacheEntryID: CacheEntry] = [:]
    private(set) var pendingBytes = 0
    private(set) var dooms = Dooms()
    /// How often an entry was removed because it must not be used any more.
    private(set) var removals: UInt32 = 0
    /// The number of the last removal of all entries of a URL.
    private var forgotten: [CacheDigest: UInt32] = [:]
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

    var isSurelyEmpty: Bool { isIndexed && memory.isEmpty && disk.isEmpty && pending.isEmpty }

    /// Whether there may be an entry that must be removed once it is outdated, even on a disk that cannot be used now.
    var mayHoldOutdated: Bool { isUnknown || !isSurelyEmpty }

    /// The longest entry that is kept in memory, and on disk: a twentieth of the capacity.
    private var memoryLimit: Int { memoryCapacity / 20 }
    private var diskLimit: Int { diskCapacity / 20 }
    var entryLimit: Int { max(memoryLimit, diskLimit) }

    // MARK: - Looking

    /// The entries of a URL that need no disk.
    func entries(for key: CacheDigest) -> [CacheEntry] {
        let entries = memory.values(of: key)
        guard !pending.isEmpty else { return entries }
        return entries + pending.values.filter { $0.id.key == key && memory[$0.id] == nil }
    }

    /// Whether the disk may have entries of the URL that memory does not have.
    func mayHaveMore(of key: CacheDigest) -> Bool {
        !isIndexed || disk.ids(of: key).contains { memory[$0] == nil && pending[$0] == nil }
    }

    mutating func use(_ id: CacheEntryID) { memory.use(id) }

    /// Takes an entry that was read from the disk.
    mutating func keep(_ entry: CacheEntry) {
        if memory[entry.id] == nil { remember(entry) }
        memory.use(entry.id)
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
        let replaced = entries(for: entry.id.key).filter { $0.id == entry.id || isReplaced($0) }
        if let ticket {
            guard !isForgotten(entry.id.key, since: ticket) else { return false }
            if let former, let present = memory[former.id] ?? pending[former.id], present !== former { return false }
            guard !replaced.contains(where: { $0 !== former && CacheRules.outlives($0.head, entry.head) }) else {
                return false
            }
        }
        for other in replaced where other.id != entry.id { supersede(other.id) }
        // The entry with the same id is outdated, even if the new one does not fit.
        supersede(entry.id)
        let isRemembered = remember(entry)
        guard entry.isLasting, entry.size <= diskLimit, pendingBytes + entry.size <= CacheState.pendingLimit else {
            return isRemembered
        }
        dooms.ids.remove(entry.id)
        pending[entry.id] = entry
        pendingBytes += entry.size
        return true
    }

    @discardableResult
    private mutating func remember(_ entry: CacheEntry) -> Bool {
        guard entry.size <= memoryLimit else { return false }
        memory.insert(entry, as: entry.id, size: entry.size)
        for id in memory.ids(of: entry.id.key).dropLast(CacheState.variantLimit) { removeFromMemory(id) }
        shrinkMemory()
        return true
    }

    private mutating func supersede(_ id: CacheEntryID) {
        removeFromMemory(id)
        // An entry that is being written at this moment is not in the index yet.
        let mayBeOnDisk = hasDisk && (!isIndexed || isUnknown || disk[id] != nil || pending[id] != nil)
        dropPending(id)
        disk.remove(id)
        if mayBeOnDisk { dooms.add(id) }
    }

    private mutating func removeFromMemory(_ id: CacheEntryID) {
        if let entry = memory.remove(id), entry.presented != nil { trash.append(entry) }
    }

    private mutating func dropPending(_ id: CacheEntryID) {
        guard let entry = pending.removeValue(forKey: id) else { return }
        pendingBytes -= entry.size
        if entry.presented != nil { trash.append(entry) }
    }

    private mutating func shrinkMemory() {
        trash += memory.shrink(to: memoryCapacity).map(\.value).filter { $0.presented != nil }
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
    mutating func forget(_ key: CacheDigest) -> Bool {
        let isUrgent = mayHoldOutdated
        countRemoval()
        forgotten[key] = removals
        if forgotten.count > CacheState.forgottenLimit { countRemovalOfAll() }
        for id in memory.ids(of: key) { removeFromMemory(id) }
        // The known entries are doomed one by one too, since the disk may not be usable to find the others.
        for id in pending.keys where id.key == key { supersedeOnDisk(id) }
        doom(disk.ids(of: key))
        // Another process may have stored something since the folder was listed.
        if hasDisk { dooms.add(key) }
        return isUrgent || dooms.keys.count > CacheState.unhurriedDooms
    }

    private mutating func countRemoval() { removals &+= 1 }

    private mutating func countRemovalOfAll() {
        countRemoval()
        forgotten = [:]
        lastOfAll = removals
    }

    /// Whether a response to a request that was sent with the ticket may be one of those that were removed.
    private func isForgotten(_ key: CacheDigest, since ticket: CacheTicket) -> Bool {
        Int32(bitPattern: (forgotten[key] ?? lastOfAll) &- ticket.removals) > 0
    }

    mutating func forgetAll() {
        countRemovalOfAll()
        for id in memory.ids { removeFromMemory(id) }
        for id in Array(pending.keys) { supersedeOnDisk(id) }
        if hasDisk { doomAll() }
    }

    /// Forgets one entry, and keeps the others of its URL.
    mutating func forget(_ id: CacheEntryID) {
        countRemoval()
        supersede(id)
    }

    /// Forgets entries in memory only.
    mutating func forget(since time: Int64) {
        countRemovalOfAll()
        for id in memory.ids where memory[id].map({ $0.head.responseTime >= time }) == true { removeFromMemory(id) }
        for (id, entry) in pending where entry.head.responseTime >= time { supersede(id) }
    }

    // MARK: - From the disk

    mutating func takeDooms() -> Dooms {
        defer { dooms = Dooms() }
        return dooms
    }

    /// The pending entries cannot be written now. Those on disk that they would have replaced are outdated.
    mutating func dropAllPending() {
        for id in Array(pending.keys) { supersedeOnDisk(id) }
    }

    private mutating func supersedeOnDisk(_ id: CacheEntryID) {
        dropPending(id)
        dooms.add(id)
    }

    /// Dooms these again: they could not be removed yet.
    mutating func doom(_ left: Dooms) {
        dooms.isAll = dooms.isAll || left.isAll
        for key in left.keys { dooms.add(key) }
        doom(Array(left.ids))
    }

    /// Dooms these: they are removed from the disk as soon as that is possible.
    mutating func doom(_ ids: [CacheEntryID]) {
        for id in ids {
            disk.remove(id)
            dooms.add(id)
        }
    }

    /// Dooms the entries of a URL that may be on a disk that cannot be used now.
    ///
    /// - Returns: Whether there may be any.
    mutating func doomUnknown(_ key: CacheDigest) -> Bool {
        if isUnknown { dooms.add(key) }
        return isUnknown
    }

    mutating func doomAll() {
        doom(disk.ids)
        dooms.isAll = true
    }

    /// Takes note that a pending entry has been written, or could not be.
    mutating func settle(_ entry: CacheEntry, written size: Int?, at moment: Int64) {
        // The entry was replaced or forgotten meanwhile, and the file that was written is then replaced or doomed too.
        guard pending[entry.id] === entry else { return }
        dropPending(entry.id)
        if let size { disk.insert(DiskRecord(marked: moment), as: entry.id, size: size) }
    }

    mutating func noteRead(_ id: CacheEntryID, size: Int, marked: Int64) {
        guard disk[id] != nil else { return }
        // Another process may have replaced the file by one of another size.
        disk.insert(DiskRecord(marked: marked), as: id, size: size)
    }

    mutating func noteGone(_ id: CacheEntryID) { disk.remove(id) }

    /// Takes note that the disk cannot be used for now.
    mutating func noteUnknown(mayHoldAny: Bool) {
        isIndexed = true
        isUnknown = mayHoldAny
        disk.removeAll()
    }

    /// - Parameter found: The entries on disk, the latest used last.
    mutating func setDisk(_ found: [CacheFolder.Found]) {
        isIndexed = true
        isUnknown = false
        let former = disk
        disk.removeAll()
        for file in found where !dooms.contains(file.id) {
            disk.insert(former[file.id] ?? DiskRecord(marked: .min / 2), as: file.id, size: file.size)
        }
    }

    /// The entries to remove from the disk so that the rest fits.
    mutating func shrinkDisk(afterWriting key: CacheDigest?) -> [CacheEntryID] {
        let extra = key.map { disk.ids(of: $0).dropLast(CacheState.variantLimit) } ?? []
        for id in extra { disk.remove(id) }
        return Array(extra) + disk.shrink(to: diskCapacity).map(\.id)
    }
}

/// The state of a store when a request was sent. The response is not stored if responses for its URL were removed since:
/// the server may have made it before the change that they were removed for.
package struct CacheTicket: Sendable {
    let removals: UInt32

    /// Of a session without a store.
    package static let none = CacheTicket(removals: 0)
}
