import AFBase
package import AFLoop
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
package final class CacheStore: WritesAtExit {
    /// Where the store has its folder; nil for memory only.
    package let home: CacheHome?
    private let state: Lock<CacheState>
    // What requests ask that are about to leave: none of them waits for the lock.
    private let removals = Atomic<UInt32>(0)
    private let isEmpty: Atomic<Bool>
    private let holdsOnlyInert: Atomic<Bool>
    private let owed = Atomic(CacheWork.nothing.rawValue)
    private let longestBody: Atomic<Int>
    private let chosen = Atomic<UInt8>(0)
    /// Whether the store writes what it has when the program ends.
    private let isNoted = Atomic(false)
    let disk = Lock(CacheDisk())
    let floor: Int64
    package let wallClock: @Sendable () -> Int64
    let monotonicClock: @Sendable () -> Int64
    let refused: @Sendable (SystemCallError) -> Void

    /// - Parameters:
    ///   - floor: How many bytes the store leaves to others on a disk that becomes full.
    ///   - refused: Called when there is something to write, and the folder cannot be used.
    package init(
        memoryCapacity: Int,
        diskCapacity: Int,
        home: CacheHome?,
        keepsFree floor: Int64 = 128 << 20,
        wallClock: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) },
        monotonicClock: @escaping @Sendable () -> Int64 = CacheStore.machineSeconds,
        refused: @escaping @Sendable (SystemCallError) -> Void = { _ in }
    ) {
        self.home = home
        self.refused = refused
        self.floor = floor
        self.wallClock = wallClock
        self.monotonicClock = monotonicClock
        let state = CacheState(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, hasDisk: home != nil)
        isEmpty = Atomic(state.isSurelyEmpty)
        holdsOnlyInert = Atomic(state.isInert)
        longestBody = Atomic(max(state.entryLimit - CacheEntry.overhead, 0))
        self.state = Lock(state)
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
                isEmpty.store(state.isSurelyEmpty, ordering: .relaxed)
                holdsOnlyInert.store(state.isInert, ordering: .relaxed)
                owed.store(state.work.rawValue, ordering: .relaxed)
            }
            return body(&state)
        }
    }

    // MARK: - Limits

    /// The longest body that is stored.
    package var bodyLimit: Int { longestBody.load(ordering: .relaxed) }
    package var memoryCapacity: Int { withState { $0.memoryCapacity } }
    package var diskCapacity: Int { withState { $0.diskCapacity } }
    package var memoryUsage: Int { withState { $0.memory.total } }

    package func setMemoryCapacity(_ capacity: Int) { changeLimits { $0.setMemoryCapacity(capacity) } }

    func changeLimits(_ change: (inout CacheState) -> Void) {
        withState { state in
            change(&state)
            longestBody.store(max(state.entryLimit - CacheEntry.overhead, 0), ordering: .relaxed)
        }
    }

    /// What the program wants beside what HTTP says: for responses that are stored from now on.
    package var options: CacheOptions { CacheOptions(rawValue: chosen.load(ordering: .relaxed)) }

    package func choose(_ option: CacheOptions, isChosen: Bool) {
        if isChosen {
            chosen.bitwiseOr(option.rawValue, ordering: .relaxed)
        } else {
            let former = chosen.bitwiseAnd(~option.rawValue, ordering: .relaxed).oldValue
            // What was for one user alone is not for the many that the program may have from now on.
            if option == .servesOneUser, CacheOptions(rawValue: former).contains(option) { forgetAll() }
        }
    }

    // MARK: - Looking, without waiting

    /// Whether there is certainly no entry.
    package var isSurelyEmpty: Bool { isEmpty.load(ordering: .relaxed) }
    /// Whether certainly no entry answers a request by the rules of HTTP.
    package var isInert: Bool { holdsOnlyInert.load(ordering: .relaxed) }
    package var mayHoldOutdated: Bool { !isSurelyEmpty || withState { $0.mayHoldOutdated } }

    /// Whether a response may be stored that answers a request for the URL by the rules of HTTP.
    package func mayAnswer(_ key: CacheKey) -> Bool { withState { $0.mayAnswer(key) } }

    package enum Glance {
        case nothing
        case found(CacheEntry)
        /// Only the disk knows.
        case unknown
    }

    /// - Parameter choose: Chooses among the entries of the URL.
    package func glance(at key: CacheKey, choose: ([CacheEntry]) -> CacheEntry?) -> Glance {
        withState { state in
            if let entry = choose(state.entries(for: key)) {
                state.use(entry)
                return .found(entry)
            }
            return state.mayHaveMore(of: key) ? .unknown : .nothing
        }
    }

    /// The entries of a URL that need no disk.
    package func known(of key: CacheKey) -> [CacheEntry] { withState { $0.entries(for: key) } }

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
        if home != nil, entry.mayGoToDisk, !isNoted.load(ordering: .relaxed) {
            if !isNoted.exchange(true, ordering: .relaxed) { CacheExit.note(self) }
        }
        return withState { $0.insert(entry, ticket: ticket, inPlaceOf: former, replacing: isReplaced) }
    }

    /// Forgets all entries of a URL.
    ///
    /// - Returns: Whether the disk has to follow soon.
    @discardableResult
    package func forget(_ key: CacheKey) -> Bool { withState { $0.forget(key) } }

    /// Forgets one entry.
    package func forget(_ id: CacheEntryID) { withState { $0.forget(id) } }

    /// Forgets the entry that would be the answer. If only the disk knows it, all entries of the URL are forgotten.
    ///
    /// - Returns: Whether there may have been an entry.
    package func forgetAnswer(_ key: CacheKey, choose: ([CacheEntry]) -> CacheEntry?) -> Bool {
        withState { state in
            let answer = choose(state.entries(for: key))
            if state.mayHaveMore(of: key) {
                state.forget(key)
                return true
            }
            if let answer { state.forget(answer.id) }
            return state.removeUnknownLater(key) || answer != nil
        }
    }

    package func forgetAll() { withState { $0.forgetAll() } }

    package var work: CacheWork { CacheWork(rawValue: owed.load(ordering: .relaxed)) ?? .nothing }
}
