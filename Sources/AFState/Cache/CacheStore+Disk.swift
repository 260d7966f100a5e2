import AFLoop
import Glibc

/// The state of the disk's side of a store between two pieces of work.
struct CacheDisk {
    /// Also open while the disk is left alone, to remove doomed entries.
    var folder: CacheFolder?
    var isOff = false
    /// When the folder was last listed, on the machine's clock; so is the next.
    var scanned: Int64 = .min / 2
    var isOffUntil: Int64 = .min / 2
    /// Until then no doomed entry is tried again that could not be removed.
    var keepsUntil: Int64 = .min / 2
}

// Every method here may wait for the disk.
extension CacheStore {
    /// Seconds for which the disk is left alone after it failed.
    private static let pause: Int64 = 60
    /// Seconds after which the folder is listed again, for what other processes did, and a use is marked again.
    private static let interval: Int64 = 60

    package var diskUsage: Int {
        catchUp()
        return withState { $0.disk.total }
    }

    package func setDiskCapacity(_ capacity: Int) {
        withState { $0.setDiskCapacity(capacity) }
        disk.withLock { disk in
            if let folder = opened(&disk) { trim(folder, nil) }
        }
    }

    // MARK: - Looking

    /// Loads an entry from memory or the disk.
    package func load(_ key: CacheKey, _ choose: ([CacheEntry]) -> CacheEntry?) -> CacheEntry? {
        disk.withLock { disk in
            let folder = opened(&disk)
            removeDoomed(&disk)
            let (ids, removals) = withState { ($0.disk.ids(of: key.digest), $0.removals) }
            let read = folder.map { folder in ids.compactMap { self.read($0, in: folder) } } ?? []
            return withState { state in
                let known = state.entries(for: key.digest)
                // An entry that was removed while it was read does not come back.
                let fresh = state.removals == removals ? read.filter { one in !known.contains { $0.id == one.id } } : []
                guard let entry = choose(known + fresh) else { return nil }
                state.keep(entry)
                return entry
            }
        }
    }

    /// Nil if the file is gone, or no entry. A damaged file is removed.
    private func read(_ id: CacheEntryID, in folder: CacheFolder) -> CacheEntry? {
        let moment = monotonicClock()
        let (marked, limit) = withState { ($0.disk[id]?.marked ?? .min / 2, max($0.diskCapacity, 1 << 16)) }
        let marksUse = moment - marked >= CacheStore.interval
        do throws(SystemCallError) {
            if let bytes = try folder.read(id.name, limit: limit, marksUse: marksUse),
                let entry = CacheEntryCoding.decode(bytes), entry.id == id
            {
                withState { $0.noteRead(id, size: bytes.count, marked: marksUse ? moment : marked) }
                return entry
            }
            folder.remove(id.name)
        } catch {
            // A caller that replaces or removes the entry must know that it is there.
            guard error.code == ENOENT else { return nil }
        }
        withState { $0.noteGone(id) }
        return nil
    }

    // MARK: - Following memory

    /// Removes from the disk the entries that were removed in memory, and writes those that were stored there.
    package func catchUp() {
        disk.withLock { disk in
            while true {
                let folder = opened(&disk)
                removeDoomed(&disk)
                guard let entry = withState({ $0.pending.values.first }) else { break }
                guard let folder, !disk.isOff else {
                    withState { $0.dropAllPending() }
                    return removeDoomed(&disk)
                }
                let bytes = CacheEntryCoding.encode(entry)
                let isWritten = publish(bytes, as: entry.id, in: folder, &disk)
                withState { $0.settle(entry, written: isWritten ? bytes.count : nil, at: monotonicClock()) }
                guard !disk.isOff, let folder = disk.folder else { continue }
                rescanIfDue(folder, &disk)
                trim(folder, entry.id.key)
            }
        }
    }

    /// An entry that cannot be removed now is removed later.
    private func removeDoomed(_ disk: inout CacheDisk) {
        guard withState({ !$0.dooms.isEmpty }), monotonicClock() >= disk.keepsUntil else { return }
        // Try this also with a disk that cannot be read or written: it may be full, or have failed only once.
        guard let folder = disk.folder ?? path.flatMap({ try? CacheFolder(existingIn: $0) }) else {
            return keepDoomed(&disk)
        }
        disk.folder = folder
        var dooms = withState { $0.takeDooms() }
        let others = try? folder.entries(doomedBy: dooms)
        if dooms.isAll { folder.removeTemporary() }
        dooms.ids = dooms.ids.union(others ?? []).filter { !folder.remove($0.name) }
        if others != nil { (dooms.isAll, dooms.keys) = (false, []) }
        guard !dooms.isEmpty else { return }
        withState { $0.doom(dooms) }
        keepDoomed(&disk)
    }

    private func keepDoomed(_ disk: inout CacheDisk) {
        if !disk.isOff { giveUp(&disk) }
        disk.folder = nil
        disk.keepsUntil = monotonicClock() + CacheStore.pause
    }

    /// A program that removed the folder meant to remove its content: make another one.
    private func publish(_ bytes: [UInt8], as id: CacheEntryID, in folder: CacheFolder, _ disk: inout CacheDisk) -> Bool
    {
        do throws(SystemCallError) {
            try folder.write(bytes, as: id.name)
            return true
        } catch {
            if folder.isGone {
                disk.folder = nil
                if let again = opened(&disk), (try? again.write(bytes, as: id.name)) != nil { return true }
            }
            // The file that the entry would have replaced is outdated.
            withState { $0.doom([id]) }
            giveUp(&disk)
            return false
        }
    }

    /// Removes the entries that were received at a time or later.
    ///
    /// - Parameter time: Seconds since 1970.
    package func removeAll(since time: Int64) {
        withState { $0.forget(since: time) }
        disk.withLock { disk in
            let opened = opened(&disk)
            removeDoomed(&disk)
            guard let folder = opened, !disk.isOff else {
                // Without the folder the store cannot tell when each entry was received.
                withState { $0.doomAll() }
                return
            }
            // Using a file sets its time of modification, so no file is older than the entry in it.
            guard let found = try? folder.scan(wall: wallClock()) else { return withState { $0.doomAll() } }
            for file in found where file.used / 1_000_000_000 >= time {
                let bytes = try? folder.read(file.id.name, limit: .max / 2, marksUse: false)
                let entry = bytes.flatMap { $0 }.flatMap { CacheEntryCoding.decode($0) }
                if let entry, entry.head.responseTime < time { continue }
                let isGone = folder.remove(file.id.name)
                withState { isGone ? $0.noteGone(file.id) : $0.doom([file.id]) }
            }
        }
        // Another thread may have read one of them into memory meanwhile.
        withState { $0.forget(since: time) }
    }

    // MARK: - The folder

    /// Nil if there is no folder, or if it failed not long ago.
    private func opened(_ disk: inout CacheDisk) -> CacheFolder? {
        if let folder = disk.folder, !disk.isOff { return folder }
        guard let path, monotonicClock() >= disk.isOffUntil else { return nil }
        do throws(SystemCallError) {
            let folder = try CacheFolder(in: path)
            disk.folder = folder
            disk.isOff = false
            disk.keepsUntil = .min / 2
            rescan(folder, &disk)
            return disk.isOff ? nil : folder
        } catch {
            giveUp(&disk, mayHoldAny: !CacheFolder.isMissing(in: path))
            return nil
        }
    }

    /// - Parameter mayHoldAny: Whether the disk may hold entries.
    private func giveUp(_ disk: inout CacheDisk, mayHoldAny: Bool = true) {
        disk.isOff = true
        disk.isOffUntil = monotonicClock() + CacheStore.pause
        // A look-up does not wait for a disk that fails. The entries are found again once the disk can be used.
        withState { $0.noteUnknown(mayHoldAny: mayHoldAny) }
    }

    private func rescanIfDue(_ folder: CacheFolder, _ disk: inout CacheDisk) {
        guard monotonicClock() - disk.scanned >= CacheStore.interval else { return }
        rescan(folder, &disk)
    }

    private func rescan(_ folder: CacheFolder, _ disk: inout CacheDisk) {
        disk.scanned = monotonicClock()
        guard let found = try? folder.scan(wall: wallClock()) else { return giveUp(&disk) }
        withState { $0.setDisk(found) }
    }

    private func trim(_ folder: CacheFolder, _ key: CacheDigest?) {
        for id in withState({ $0.shrinkDisk(afterWriting: key) }) { folder.remove(id.name) }
    }

    // MARK: - For tests

    /// Whether the counted entries are those that exist.
    func isConsistent() -> Bool {
        disk.withLock { disk in
            let found = disk.isOff ? [] : (try? disk.folder?.scan(wall: wallClock())) ?? []
            return withState { state in
                let sizes = Dictionary(found.map { ($0.id, $0.size) }) { first, _ in first }
                let isDiskRight =
                    state.disk.ids.allSatisfy { state.disk.size(of: $0) == sizes[$0] }
                    && state.disk.total == sizes.filter { !state.dooms.contains($0.key) }.values.reduce(0, +)
                let sum = state.memory.ids.reduce(0) { $0 + (state.memory.size(of: $1) ?? 0) }
                return isDiskRight && state.memory.total == sum && sum <= state.memoryCapacity
                    && state.disk.total <= state.diskCapacity
                    && state.pendingBytes == state.pending.values.reduce(0) { $0 + $1.size }
            }
        }
    }
}
