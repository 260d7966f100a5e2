/// Where a record is on the disk: 16 bits for the segment, 22 for the offset and 26 for the length, both in units of 16
/// bytes.
struct CachePlace: Hashable, Sendable {
    static let unit = 16
    /// Records begin before this offset, and are shorter than this.
    static let offsetLimit = unit << 22
    static let lengthLimit = unit << 26

    let packed: UInt64

    /// - Parameters:
    ///   - segment: Not 0.
    ///   - length: Of the record with its header and its padding.
    init?(segment: UInt16, offset: Int, length: Int) {
        guard segment != 0, offset >= 0, length > 0, offset < CachePlace.offsetLimit, length < CachePlace.lengthLimit,
            offset % CachePlace.unit == 0, length % CachePlace.unit == 0
        else { return nil }
        packed = UInt64(segment) << 48 | UInt64(offset / CachePlace.unit) << 26 | UInt64(length / CachePlace.unit)
    }

    fileprivate init(packed: UInt64) { self.packed = packed }

    var segment: UInt16 { UInt16(truncatingIfNeeded: packed >> 48) }
    var offset: Int { Int(packed >> 26 & 0x3f_ffff) * CachePlace.unit }
    var length: Int { Int(packed & 0x3ff_ffff) * CachePlace.unit }
}

/// Where the records of each tag are: a flat table, 16 bytes a slot, of which seven tenths are in use at most.
/// A tag may have several places.
///
/// The slots stand in groups of four, one line of the processor's cache. A tag may be in 16 groups, which follow from the
/// tag; what finds them full is left out. So an attacker who makes tags collide gains misses, never time.
struct CacheDiskIndex: Sendable {
    struct Entry: Hashable, Sendable {
        let tag: UInt64
        let place: CachePlace
    }

    private struct Slot {
        var tag: UInt64 = 0
        /// No place at all, or of an entry that was removed: a look-up goes on behind such a slot.
        var packed: UInt64 = Slot.free

        static let free: UInt64 = 0
        static let removed: UInt64 = 1

        var segment: UInt16 { UInt16(truncatingIfNeeded: packed >> 48) }
    }

    private static let leastSlots = 16

    private var slots: [Slot] = []
    /// The slots that are not free.
    private var used = 0
    private(set) var count = 0
    private var counts: [UInt16: Int] = [:]
    /// Segments whose entries count as removed. Their slots are freed when the table is made anew.
    private var gone: Set<UInt16> = []

    init() {}

    init(_ entries: [Entry]) {
        resize(for: entries.count)
        // Entries of one segment mostly follow each other, and a table is quicker than a dictionary.
        var runs: [(segment: UInt16, count: Int)] = []
        slots.withUnsafeMutableBufferPointer { slots in
            var (segment, count) = (UInt16(0), 0)
            for entry in entries {
                guard let slot = CacheDiskIndex.vacancy(for: entry.tag, in: UnsafeBufferPointer(slots)) else {
                    continue
                }
                slots[slot] = Slot(tag: entry.tag, packed: entry.place.packed)
                if entry.place.segment != segment {
                    runs.append((segment, count))
                    (segment, count) = (entry.place.segment, 0)
                }
                count += 1
            }
            runs.append((segment, count))
        }
        for run in runs {
            used += run.count
            note(run.segment, change: run.count)
        }
    }

    var isEmpty: Bool { count == 0 }

    /// What the table takes, in bytes.
    var footprint: Int { slots.capacity * MemoryLayout<Slot>.stride }

    // MARK: - Looking

    func mayHold(_ tag: UInt64) -> Bool { count > 0 && first(tag) { $0.tag == tag && isLive($0) } != nil }

    func places(of tag: UInt64) -> [CachePlace] {
        var places: [CachePlace] = []
        for group in Groups(of: tag, among: slots.count) {
            for slot in slots[group] where slot.tag == tag && isLive(slot) {
                places.append(CachePlace(packed: slot.packed))
            }
            if hasFree(group) { break }
        }
        return places
    }

    /// All entries, in no order.
    var entries: some Sequence<Entry> {
        slots.lazy.filter(isLive).map { Entry(tag: $0.tag, place: CachePlace(packed: $0.packed)) }
    }

    private func isLive(_ slot: Slot) -> Bool {
        slot.segment != 0 && (gone.isEmpty || !gone.contains(slot.segment))
    }

    /// The first slot that a tag may be in and that is as asked. No tag is in a group behind one that is not full.
    @inline(__always)
    private func first(_ tag: UInt64, where isWanted: (Slot) -> Bool) -> Int? {
        for group in Groups(of: tag, among: slots.count) {
            for index in group where isWanted(slots[index]) { return index }
            if hasFree(group) { return nil }
        }
        return nil
    }

    @inline(__always)
    private func hasFree(_ group: Range<Int>) -> Bool {
        for index in group where slots[index].packed == Slot.free { return true }
        return false
    }

    /// The groups that a tag may be in, all of them different, one after the other.
    private struct Groups: Sequence, IteratorProtocol {
        private static let size = 4
        private static let limit = 16

        private var left: Int
        private var group: Int
        private let groups: Int
        private let stride: Int

        @inline(__always)
        init(of tag: UInt64, among slots: Int) {
            groups = slots / Groups.size
            left = Swift.min(groups, Groups.limit)
            let hash = Groups.mixed(tag)
            group = Int(hash.multipliedFullWidth(by: UInt64(groups)).high)
            // Less than the groups in all, however often it is added.
            stride = 1 + (Int(hash & 0xffff_ffff) * Swift.max(groups / Groups.limit - 1, 0)) >> 32
        }

        @inline(__always)
        mutating func next() -> Range<Int>? {
            guard left > 0 else { return nil }
            left -= 1
            defer {
                group += stride
                if group >= groups { group -= groups }
            }
            return group * Groups.size..<(group + 1) * Groups.size
        }

        /// SplitMix64, so that tags that are alike are in different groups.
        private static func mixed(_ tag: UInt64) -> UInt64 {
            var mixed = tag
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }

    // MARK: - Changing

    /// - Returns: Whether the index has the entry now, and had not before.
    @discardableResult
    mutating func insert(_ tag: UInt64, place: CachePlace) -> Bool {
        // The number belongs to a new segment: what the table still has of the former one must not come back.
        if gone.contains(place.segment) { resize(for: count) }
        if (used + 1) * 10 > slots.count * 7 { resize(for: count + 1) }
        guard slot(of: tag, place: place) == nil else { return false }
        if !put(tag, packed: place.packed) {
            // The groups of the tag are full. A larger table spreads tags that only happen to meet, unless it would
            // hardly be larger.
            guard !gone.isEmpty || count * 20 > slots.count * 13 else { return false }
            resize(for: count + 1)
            guard put(tag, packed: place.packed) else { return false }
        }
        note(place.segment, change: 1)
        return true
    }

    mutating func remove(_ tag: UInt64, place: CachePlace) {
        guard !gone.contains(place.segment), let slot = slot(of: tag, place: place) else { return }
        // No look-up goes on behind a group with a free slot, so it may have another one.
        let isFree = hasFree(slot / 4 * 4..<slot / 4 * 4 + 4)
        slots[slot] = Slot(tag: 0, packed: isFree ? Slot.free : Slot.removed)
        if isFree { used -= 1 }
        note(place.segment, change: -1)
    }

    /// Removes all entries of a segment, however many there are, at once.
    mutating func removeAll(inSegment segment: UInt16) {
        guard let removed = counts.removeValue(forKey: segment) else { return }
        count -= removed
        if count == 0 { self = CacheDiskIndex() } else { gone.insert(segment) }
    }

    private func slot(of tag: UInt64, place: CachePlace) -> Int? {
        first(tag) { $0.tag == tag && $0.packed == place.packed }
    }

    private mutating func note(_ segment: UInt16, change: Int) {
        count += change
        let number = counts[segment, default: 0] + change
        counts[segment] = number > 0 ? number : nil
    }

    /// The first slot that a tag may be in and that holds no entry.
    @inline(__always)
    private static func vacancy(for tag: UInt64, in slots: UnsafeBufferPointer<Slot>) -> Int? {
        for group in Groups(of: tag, among: slots.count) {
            for index in group where slots[index].packed <= Slot.removed { return index }
        }
        return nil
    }

    /// Takes the first slot of the tag that holds no entry.
    private mutating func put(_ tag: UInt64, packed: UInt64) -> Bool {
        let slot = slots.withUnsafeBufferPointer { CacheDiskIndex.vacancy(for: tag, in: $0) }
        guard let slot else { return false }
        if slots[slot].packed == Slot.free { used += 1 }
        slots[slot] = Slot(tag: tag, packed: packed)
        return true
    }

    /// Makes the table anew, so that so many entries use six tenths of it.
    private mutating func resize(for number: Int) {
        let former = slots
        slots = Array(repeating: Slot(), count: max(number * 5 / 12 * 4 + 4, CacheDiskIndex.leastSlots))
        used = 0
        for slot in former where isLive(slot) {
            if !put(slot.tag, packed: slot.packed) { note(slot.segment, change: -1) }
        }
        gone = []
    }
}
