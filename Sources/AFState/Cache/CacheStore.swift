import AFBase
import AFLoop
import Dispatch
import FoundationEssentials

/// Entries in memory and on disk, for any number of threads.
///
/// One lock guards memory and is held only briefly, so the loop may take it. Another lock guards the disk: workers and
/// callers hold it while they wait for the disk. A thread that holds the lock of the disk may take the one of memory,
/// never the other way round.
///
/// Storing and removing take effect in memory at once. The disk follows with ``catchUp()``, which removes first and
/// then writes.
package final class CacheStore: Sendable {
    /// The folder in which the store has its folder; nil for memory only.
    package let path: String?
    private let state: Lock<CacheState>
    let disk = Lock(CacheDisk())
    package let wallClock: @Sendable () -> Int64
    let monotonicClock: @Sendable () -> Int64

    package init(
        memoryCapacity: Int,
        diskCapacity: Int,
        path: String?,
        wallClock: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) },
        monotonicClock: @escaping @Sendable () -> Int64 = CacheStore.machineSeconds
    ) {
        self.path = path
        self.wallClock = wallClock
        self.monotonicClock = monotonicClock
        state = Lock(
            CacheState(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, hasDisk: path != nil)
        )
    }

    private static let machineSeconds: @Sendable () -> Int64 = {
        Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000_000)
    }

    /// Now, for callers that have no loop to ask.
    package var now: CacheInstant { CacheInstant(wall: wallClock(), monotonic: monotonicClock()) }

    /// Removed entries are released after the lock: their objects belong to the program and may call back here.
    func withState<Result>(_ body: (inout CacheState) -> Result) -> Result {
        var trash: [CacheEntry] = []
        return state.withLock { state in
            defer { swap(&trash, &state.trash) }
            return body(&state)
        }
    }

    // MARK: - Limits

    /// The longest body that is stored.
    package var bodyLimit: Int { withState { max($0.entryLimit - CacheEntry.overhead, 0) } }
    package var memoryCapacity: Int { withState { $0.memoryCapacity } }
    package var diskCapacity: Int { withState { $0.diskCapacity } }
    package var memoryUsage: Int { withState { $0.memory.total } }

    package func setMemoryCapacity(_ capacity: Int) {
        withState { $0.setMemoryCapacity(capacity) }
    }

    // MARK: - Looking, without waiting

    /// Whether there is certainly no entry.
    package var isSurelyEmpty: Bool { withState { $0.isSurelyEmpty } }
    package var mayHoldOutdated: Bool { withState { $0.mayHoldOutdated } }

    package enum Glance {
        case nothing
        case found(CacheEntry)
        /// Only the disk knows.
        case unknown
    }

    /// - Parameter choose: Chooses among the entries of the URL.
    package func glance(at key: CacheKey, _ choose: ([CacheEntry]) -> CacheEntry?) -> Glance {
        withState { state in
            if let entry = choose(state.entries(for: key.digest)) {
                state.use(entry.id)
                return .found(entry)
            }
            return state.mayHaveMore(of: key.digest) ? .unknown : .nothing
        }
    }

    // MARK: - Storing and removing, without waiting

    /// A ticket to store a response for the URL. It is valid until a response for that URL is removed.
    package func ticket(for key: CacheKey) -> CacheTicket {
        CacheTicket(self, withState { $0.beginWriting(key.digest) })
    }

    /// - Parameters:
    ///   - ticket: Nil to store it even if a response for the URL is removed meanwhile.
    ///   - isReplaced: Whether the new entry replaces this one of the same URL.
    /// - Returns: Whether the entry is kept.
    @discardableResult
    package func insert(
        _ entry: CacheEntry,
        ticket: CacheTicket? = nil,
        replacing isReplaced: (CacheEntry) -> Bool = { _ in false }
    ) -> Bool {
        withState { $0.insert(entry, writer: ticket?.number, replacing: isReplaced) }
    }

    /// Forgets all entries of a URL.
    package func forget(_ key: CacheKey) { withState { $0.forget(key.digest) } }

    /// Forgets one entry.
    package func forget(_ id: CacheEntryID) { withState { $0.forget(id) } }

    /// Forgets the entry that would be the answer. If only the disk knows it, all entries of the URL are forgotten.
    ///
    /// - Returns: Whether there may have been an entry.
    package func forgetAnswer(_ key: CacheKey, _ choose: ([CacheEntry]) -> CacheEntry?) -> Bool {
        withState { state in
            let answer = choose(state.entries(for: key.digest))
            if state.mayHaveMore(of: key.digest) {
                state.forget(key.digest)
                return true
            }
            if let answer { state.forget(answer.id) }
            return state.doomUnknown(key.digest) || answer != nil
        }
    }

    package func forgetAll() { withState { $0.forgetAll() } }

    /// Whether ``catchUp()`` has work to do.
    package var isBehind: Bool { withState { !$0.dooms.isEmpty || !$0.pending.isEmpty } }
}

/// Allows storing a response for a URL. It ends with the last reference.
package final class CacheTicket: Sendable {
    package let number: UInt64
    private let store: CacheStore

    fileprivate init(_ store: CacheStore, _ number: UInt64) {
        self.store = store
        self.number = number
    }

    deinit {
        store.withState { $0.endWriting(number) }
    }
}
