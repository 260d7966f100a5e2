import AFBase
import AFLoop
import Dispatch
import FoundationEssentials
import Synchronization

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
    /// Those of the state, for requests that are about to leave: none of them waits for the lock.
    private let removals = Atomic<UInt32>(0)
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
            defer {
                swap(&trash, &state.trash)
                removals.store(state.removals, ordering: .relaxed)
            }
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

    /// The entries of a URL that need no disk.
    package func known(of key: CacheKey) -> [CacheEntry] { withState { $0.entries(for: key.digest) } }

    // MARK: - Storing and removing, without waiting

    /// A ticket to store the responses to the requests that are sent from now on.
    package var ticket: CacheTicket { CacheTicket(removals: removals.load(ordering: .relaxed)) }

    /// - Parameters:
    ///   - ticket: Nil to store it even if a response for the URL was removed, or a later one stored, meanwhile.
    ///   - former: The entry that the new one is an update of.
    ///   - isReplaced: Whether the new entry replaces this one of the same URL.
    /// - Returns: Whether the entry is kept.
    @discardableResult
    package func insert(
        _ entry: CacheEntry,
        ticket: CacheTicket? = nil,
        inPlaceOf former: CacheEntry? = nil,
        replacing isReplaced: (CacheEntry) -> Bool = { _ in false }
    ) -> Bool {
        withState { $0.insert(entry, ticket: ticket, inPlaceOf: former, replacing: isReplaced) }
    }

    /// Forgets all entries of a URL.
    ///
    /// - Returns: Whether the disk has to follow soon.
    @discardableResult
    package func forget(_ key: CacheKey) -> Bool { withState { $0.forget(key.digest) } }

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
