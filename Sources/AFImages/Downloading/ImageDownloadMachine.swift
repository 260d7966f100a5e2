import AFBase

/// Decides which downloads there are, who waits for each, and which of them run.
///
/// ```
///             begin             next                complete
///   (nothing) ─────▶ waiting ─────────▶ running ───────────────▶ (nothing)
///                       │                  │                        ▲
///                       │ last one cancels │ last one cancels       │ complete
///                       ▼                  ▼                        │
///                   (nothing)           abandoned ──────────────────┘
/// ```
///
/// No request joins an abandoned download. It counts as running until its task has ended.
struct ImageDownloadMachine<Key: Hashable & Sendable, Waiter: Sendable>: Sendable {
    /// Identifies one waiter of one download; a receipt has it.
    struct Place: Hashable, Sendable {
        /// The number of the download.
        let download: Int
        /// The number of the waiter.
        let waiter: Int
    }

    struct Cancellation: Sendable {
        let waiter: Waiter
        /// Whether it was the last waiter of the download.
        let isLast: Bool
    }

    private struct Entry: Sendable {
        let key: Key
        var waiters: [(number: Int, waiter: Waiter)]
        var isRunning = false
        /// In the queue.
        var place: HeapPlace?
    }

    var prioritization: ImageDownloadPrioritization
    var maximumActive: Int
    /// How many run, those that were abandoned included.
    private(set) var active = 0
    private var entries: [Int: Entry] = [:]
    /// The downloads that others can join.
    private var open: [Key: Int] = [:]
    /// The downloads that wait, the next one first.
    private var queue = Heap<Int, Int>()
    private var numbers = 0

    init(prioritization: ImageDownloadPrioritization, maximumActive: Int) {
        self.prioritization = prioritization
        self.maximumActive = maximumActive
    }

    /// A number that no download and no waiter has.
    mutating func nextNumber() -> Int {
        numbers += 1
        return numbers
    }

    /// Adds a waiter to the open download; nil if there is none.
    mutating func join(_ key: Key, waiter: Waiter) -> Place? {
        guard let download = open[key] else { return nil }
        let place = Place(download: download, waiter: nextNumber())
        entries[download]?.waiters.append((place.waiter, waiter))
        return place
    }

    /// Puts a download into the queue. There must be none to join.
    ///
    /// - Parameter download: From ``nextNumber()``.
    mutating func begin(_ download: Int, key: Key, waiter: Waiter) -> Place {
        let place = Place(download: download, waiter: nextNumber())
        entries[place.download] = Entry(key: key, waiters: [(place.waiter, waiter)])
        open[key] = place.download
        switch prioritization {
        case .fifo: entries[download]?.place = queue.add(download, 0)
        case .lifo: entries[download]?.place = queue.add(download, -place.waiter)
        }
        return place
    }

    /// The download to start, if one may be started. It counts as running.
    mutating func next() -> Int? {
        guard active < maximumActive, let download = queue.popFirst() else { return nil }
        entries[download]?.place = nil
        entries[download]?.isRunning = true
        active += 1
        return download
    }

    /// The program itself has resumed or cancelled the task of ``next()``: the download does not count as running.
    mutating func startedElsewhere(_ download: Int) {
        guard entries[download]?.isRunning == true else { return }
        entries[download]?.isRunning = false
        active -= 1
    }

    /// Whether it has waiters.
    func isAwaited(_ download: Int) -> Bool { entries[download]?.waiters.isEmpty == false }

    /// Removes a waiter; nil if it is gone already.
    mutating func cancel(_ place: Place) -> Cancellation? {
        guard let entry = entries[place.download],
            let index = entry.waiters.firstIndex(where: { $0.number == place.waiter })
        else { return nil }
        let waiter = entry.waiters[index].waiter
        entries[place.download]?.waiters.remove(at: index)
        let isLast = entry.waiters.count == 1
        if isLast { abandon(place.download, entry: entry) }
        return Cancellation(waiter: waiter, isLast: isLast)
    }

    private mutating func abandon(_ download: Int, entry: Entry) {
        if open[entry.key] == download { open[entry.key] = nil }
        guard !entry.isRunning else { return }
        if let place = entry.place { queue.remove(place) }
        entries[download] = nil
    }

    /// The task of a download has ended: returns its waiters, in their order.
    mutating func complete(_ download: Int) -> [Waiter] {
        guard let entry = entries.removeValue(forKey: download) else { return [] }
        if open[entry.key] == download { open[entry.key] = nil }
        // The task may have been cancelled while the download waited.
        if entry.isRunning { active -= 1 }
        if let place = entry.place { queue.remove(place) }
        return entry.waiters.map(\.waiter)
    }

    /// For tests: what must hold after every event.
    var isConsistent: Bool {
        active == entries.values.count(where: \.isRunning)
            && queue.count == entries.values.count { $0.place != nil }
            && entries.values.allSatisfy { $0.place == nil || !$0.isRunning }
            && open.allSatisfy { entries[$0.value]?.key == $0.key && isAwaited($0.value) }
            && entries.values.allSatisfy { $0.isRunning || !$0.waiters.isEmpty }
    }

    var isEmpty: Bool { entries.isEmpty && queue.isEmpty && open.isEmpty && active == 0 }
}

/// Which of the downloads that wait is started next.
@nonexhaustive
public enum ImageDownloadPrioritization: Int, Sendable {
    /// The one that waits longest.
    case fifo = 0
    /// The one that was asked for last: in a list that is scrolled, what has just come into view.
    case lifo = 1
}
