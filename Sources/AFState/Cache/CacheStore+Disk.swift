import AFBase
import AFLoop
import Glibc

/// The state of the disk's side of a store between two pieces of work.
struct CacheDisk {
    /// Also open while the disk is left alone, to remove marked entries.
    var folder: CacheFolder?
    var isOff = false
    /// Why the folder could not be opened.
    var refusal: SystemCallError?
    /// When the folder was last looked at, on the machine's clock; so is the next.
    var looked: Int64 = .min / 2
    var isOffUntil: Int64 = .min / 2
    /// Until then no marked entry is tried again that could not be removed.
    var keepsUntil: Int64 = .min / 2
}

// Every method here may wait for the disk.
extension CacheStore {
    /// Seconds for which the disk is left alone after it failed.
    private static let pause: Int64 = 60
    /// Seconds after which the folder is looked at again, for what other processes did.
    private static let interval: Int64 = 60
    /// How many bytes are written at a time.
    private static let batch = 1 << 20

    /// What the disk gives away for the folder, in bytes.
    package var diskUsage: Int {
        catchUp()
        return disk.withLock { disk in opened(&disk)?.usage.bytes ?? 0 }
    }

    package func setDiskCapacity(_ capacity: Int) {
        changeLimits { $0.setDiskCapacity(capacity) }
        disk.withLock { disk in
            if let folder = opened(&disk) { trim(folder) }
        }
    }

    // MARK: - Looking

    /// Loads an entry from memory or the disk.
    package func load(_ key: CacheKey, choose: ([CacheEntry]) -> CacheEntry?) -> CacheEntry? {
        disk.withLock { disk in
            let folder = opened(&disk)
            removePending(&disk)
            let (places, removals) = withState { ($0.places(of: key), $0.removals) }
            let read = folder.map { folder in places.compactMap { self.read($0, key: key, in: folder) } } ?? []
            return withState { state -> CacheEntry? in
                // An entry that was removed while it was read does not come back.
                guard state.removals == removals else { return choose(state.entries(for: key)) }
                let fresh = read.filter { state.keep($0.entry, at: $0.place, moves: $0.isOld) }.map(\.entry)
                let known = state.entries(for: key)
                let longer = fresh.filter { one in !known.contains { $0.id == one.id } }
                guard let entry = choose(known + longer) else { return nil }
                state.use(entry)
                return entry
            }
        }
    }

    private struct Read {
        let entry: CacheEntry
        let place: CachePlace
        let isOld: Bool
    }

    /// Nil if the record is gone, of another URL, or damaged.
    private func read(_ place: CachePlace, key: CacheKey, in folder: CacheFolder) -> Read? {
        let tag = key.tag
        do throws(SystemCallError) {
            guard let bytes = try folder.read(place, tag: tag) else {
                withState { $0.noteGone(place, tag: tag) }
                return nil
            }
            guard let entry = CacheEntryCoding.decode(bytes, for: key, options: options) else { return nil }
            return Read(entry: entry, place: place, isOld: folder.isOld(place))
        } catch {
            // A caller that replaces or removes the entry must know that it is there.
            return nil
        }
    }

    // MARK: - Following memory

    /// Removes from the disk the entries that were removed in memory, and writes those that were stored there.
    package func catchUp() {
        disk.withLock { catchUp(&$0) }
    }

    /// The same, unless another thread is at the disk, which may hang.
    func catchUpIfFree() {
        _ = disk.withLockIfFree { catchUp(&$0) }
    }

    private func catchUp(_ disk: inout CacheDisk) {
        while true {
            let folder = opened(&disk)
            // Also what the last entries were written over.
            removePending(&disk)
            let entries = withState { $0.nextPending(upTo: CacheStore.batch) }
            guard !entries.isEmpty else { break }
            guard let folder, !disk.isOff else {
                withState { $0.dropAllPending() }
                if let refusal = disk.refusal { refused(refusal) }
                break
            }
            write(entries, in: folder, disk: &disk)
        }
    }

    private func write(_ entries: [CacheEntry], in folder: CacheFolder, disk: inout CacheDisk) {
        let records = entries.map { entry in
            (tag: entry.head.key.tag, payload: CacheEntryCoding.encode(entry))
        }
        let size = records.reduce(0) { $0 + Int64($1.payload.count) }
        do throws(SystemCallError) {
            // The rest of the disk is for others. What is on it already is used all the same.
            guard try folder.freeSpace() - size >= floor else { return drop(entries) }
            let places = try append(records, in: folder, disk: &disk)
            withState { state in
                for (entry, place) in zip(entries, places) { state.settle(entry, at: place) }
            }
        } catch {
            giveUp(&disk)
            return drop(entries)
        }
        guard let folder = disk.folder else { return }
        lookAgainIfDue(folder, disk: &disk)
        trim(folder)
    }

    private func drop(_ entries: [CacheEntry]) {
        withState { state in for entry in entries { state.drop(entry) } }
    }

    /// A program that removed the folder meant to remove its content: make another one.
    private func append(
        _ records: [(tag: UInt64, payload: [UInt8])],
        in folder: CacheFolder,
        disk: inout CacheDisk
    ) throws(SystemCallError) -> [CachePlace] {
        do throws(SystemCallError) {
            if !folder.isGone { return try folder.append(records) }
        } catch {
            guard folder.isGone else { throw error }
        }
        disk.folder = nil
        guard let again = opened(&disk) else { throw SystemCallError(.open, code: ENOENT) }
        return try again.append(records)
    }

    /// A record that cannot be removed now is removed later.
    private func removePending(_ disk: inout CacheDisk) {
        guard withState({ !$0.pendingRemovals.isEmpty }), monotonicClock() >= disk.keepsUntil else { return }
        // Try this also with a disk that cannot be read or written: it may be full, or have failed only once.
        let existing = disk.folder ?? home.flatMap { try? CacheFolder(existingIn: $0, capacity: diskCapacity) }
        guard let folder = existing else { return keepPending(&disk) }
        disk.folder = folder
        let pendingRemovals = withState { $0.takeRemovals() }
        do throws(SystemCallError) {
            if pendingRemovals.isAll { return try folder.removeAll() }
            for (place, tag) in pendingRemovals.places { try remove(place, tag: tag, in: folder) }
            guard !pendingRemovals.tags.isEmpty else { return }
            // Other processes may have written some.
            look(at: try folder.refresh(), disk: &disk)
            for tag in pendingRemovals.tags {
                for place in withState({ $0.disk.places(of: tag) }) { try remove(place, tag: tag, in: folder) }
            }
        } catch {
            // Rather no entry at all than one that is outdated.
            guard (try? folder.removeAll()) == nil else { return withState { $0.noteAllGone() } }
            withState { $0.removeLater(pendingRemovals) }
            keepPending(&disk)
        }
    }

    /// A segment whose record cannot be marked goes with it.
    private func remove(_ place: CachePlace, tag: UInt64, in folder: CacheFolder) throws(SystemCallError) {
        do throws(SystemCallError) {
            try folder.remove(place)
            withState { $0.noteGone(place, tag: tag) }
        } catch {
            try folder.removeSegment(of: place)
            withState { $0.noteGone([place.segment], movesUsed: true) }
        }
    }

    private func keepPending(_ disk: inout CacheDisk) {
        if !disk.isOff { giveUp(&disk) }
        disk.folder = nil
        disk.keepsUntil = monotonicClock() + CacheStore.pause
    }

    /// Removes the entries that were received at a time or later.
    ///
    /// - Parameter time: Seconds since 1970.
    package func removeAll(since time: Int64) {
        catchUp()
        withState { $0.forget(since: time) }
        disk.withLock { disk in
            let opened = opened(&disk)
            removePending(&disk)
            guard let folder = opened, !disk.isOff else {
                // Without the folder the store cannot tell when each entry was received.
                return withState { $0.removeAllLater() }
            }
            for entry in withState({ $0.disk.entries }) {
                let bytes = (try? folder.read(entry.place, tag: entry.tag)).flatMap { $0 }
                if let received = bytes.flatMap({ CacheEntryCoding.responseTime($0) }), received < time { continue }
                withState { $0.removeLater(entry.place, tag: entry.tag) }
            }
            removePending(&disk)
        }
        // Another thread may have read one of them into memory meanwhile.
        withState { $0.forget(since: time) }
    }

    // MARK: - The folder

    /// Nil if there is no folder, or if it failed not long ago.
    private func opened(_ disk: inout CacheDisk) -> CacheFolder? {
        if let folder = disk.folder, !disk.isOff { return folder }
        guard let home, monotonicClock() >= disk.isOffUntil else { return nil }
        do throws(SystemCallError) {
            disk.refusal = nil
            let folder = try openFolder(in: home, disk: &disk)
            let index = try folder.load()
            (disk.folder, disk.isOff, disk.keepsUntil) = (folder, false, .min / 2)
            disk.looked = monotonicClock()
            withState { state in
                state.loseFolder()
                state.setDisk(index)
            }
            return folder
        } catch {
            giveUp(&disk, mayHoldAny: disk.refusal == nil || !CacheFolder.isMissing(in: home.path))
            return nil
        }
    }

    private func openFolder(in home: CacheHome, disk: inout CacheDisk) throws(SystemCallError) -> CacheFolder {
        do throws(SystemCallError) {
            return try CacheFolder(in: home, capacity: diskCapacity)
        } catch {
            disk.refusal = error
            throw error
        }
    }

    /// - Parameter mayHoldAny: Whether the disk may hold entries.
    private func giveUp(_ disk: inout CacheDisk, mayHoldAny: Bool = true) {
        disk.isOff = true
        disk.isOffUntil = monotonicClock() + CacheStore.pause
        // A look-up does not wait for a disk that fails. The entries are found again once the disk can be used.
        withState { $0.noteUnknown(mayHoldAny: mayHoldAny) }
        disk.folder = nil
    }

    private func lookAgainIfDue(_ folder: CacheFolder, disk: inout CacheDisk) {
        guard monotonicClock() - disk.looked >= CacheStore.interval else { return }
        do throws(SystemCallError) {
            look(at: try folder.refresh(), disk: &disk)
            _ = folder.removeFormerLayouts(atMost: 1000)
        } catch {
            giveUp(&disk)
        }
    }

    private func look(at changes: CacheFolder.Changes, disk: inout CacheDisk) {
        disk.looked = monotonicClock()
        withState { state in
            state.noteGone(Set(changes.removed), movesUsed: false)
            for entry in changes.added { state.note(entry.place, tag: entry.tag) }
        }
    }

    private func trim(_ folder: CacheFolder) {
        folder.capacity = diskCapacity
        let removed = folder.trim(to: folder.capacity)
        if !removed.isEmpty { withState { $0.noteGone(Set(removed), movesUsed: true) } }
    }

    // MARK: - For tests

    /// Whether the counted entries are those that exist.
    func isConsistent() -> Bool {
        catchUp()
        return disk.withLock { disk in
            // Opened anew: places of another folder are other places.
            let other =
                disk.isOff || disk.folder == nil
                ? nil : home.flatMap { try? CacheFolder(in: $0, capacity: diskCapacity) }
            let found = (try? other?.load())?.entries.map(\.tag) ?? []
            return withState { state in
                let sum = state.memory.entries.reduce(0) { $0 + $1.size }
                return state.memory.total == sum && sum <= state.memoryCapacity
                    && Set(found).isSuperset(of: state.disk.entries.map(\.tag))
                    && state.pending.total == state.pending.entries.reduce(0) { $0 + $1.size }
            }
        }
    }
}
