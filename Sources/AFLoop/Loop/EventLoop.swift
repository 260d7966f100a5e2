import AFBase
import CAFLinux
package import Dispatch
import Synchronization

/// A run loop: channels, timers, observers, an inbox for other threads, and modes.
///
/// One turn does, in this order and never another:
///
/// 1. run the jobs that were in the inbox when the turn began
/// 2. fire the timers that are due
/// 3. poll: wait for readiness, or only look if there is work waiting
/// 4. read the clock; everything until the next reading uses that `now`
/// 5. deliver readiness
/// 6. end-of-turn work: pools hand out connections, callbacks leave in batches
/// 7. close what was closed during the turn
///
/// Jobs run *before* the poll and connections are handed out *after* it, so whatever an idle connection received before
/// a request was started is known before that request could be sent on it.
public final class EventLoop: @unchecked Sendable {
    private struct Job {
        let modes: LoopModes
        let body: () -> Void
    }

    /// How the loop waits, as far as those who enqueue need to know.
    private enum Sleep {
        case awake
        /// It looks at the inbox again by itself, in a moment.
        case napping
        case asleep
        /// No thread runs it: its own has stepped aside for callers that wait.
        case unattended
    }

    private struct Inbox {
        var jobs: [Job] = []
        var sleep = Sleep.awake
        /// A batch of callbacks left the wake-up to its end.
        var owesWake = false
        var isRetired = false
        /// A caller that waits runs the loop.
        var isLent = false
        /// A caller has run it since its own thread last looked.
        var wasLent = false
        /// Others have enqueued while it was lent: its own thread has to run their jobs.
        var isWanted = false

        /// - Returns: Whom to wake for a job.
        mutating func wakes(isBatchingHere: () -> Bool, isOnLoop: () -> Bool) -> Wake {
            if isLent, !isOnLoop() { isWanted = true }
            switch sleep {
            case .awake: return .nobody
            case .napping where isBatchingHere():
                owesWake = true
                return .nobody
            case .napping, .asleep:
                sleep = .awake
                return .poller
            case .unattended:
                sleep = .awake
                return .thread
            }
        }
    }

    private enum Wake {
        case nobody, poller, thread
    }

    /// How long a wake-up may be put off, should a callback block before its batch is through.
    private static let nap = Duration.milliseconds(1)

    /// How long the loop's own thread waits aside before it looks whether callers still run the loop. A job wakes it at
    /// once. What is ready or due meanwhile waits for it.
    private static let longestAside = DispatchTimeInterval.milliseconds(2)
    /// How long the loop's own thread keeps the loop after a job of others has ended a loan.
    private static let leastKept = Duration.milliseconds(100)

    private static let longYield = Duration.milliseconds(2)
    private static let yieldPause = Duration.seconds(1)

    /// How long work that waits for quiet waits at most, but for the turn that is under way then.
    private static let patience = LoopInterval(.milliseconds(2))

    // MARK: Constants
    private let poller: any Poller
    private let waker: any Waker

    // MARK: Any thread
    private let owner = Atomic<UInt>(0)
    private let inbox = Lock(Inbox())
    /// Wakes the loop's own thread while that waits aside.
    private let ownThreadWaker = DispatchSemaphore(value: 0)

    // MARK: Loop only
    // Opted out of run-time exclusivity checks, here and in the other classes a request passes through: one thread, no
    // overlapping accesses, and a sixth of all instructions of a request saved (Docs/Internals/Performance.md).
    @exclusivity(unchecked) private var latest: LoopInstant
    @exclusivity(unchecked) private var turns: UInt64 = 0
    @exclusivity(unchecked) private var presentMode: LoopModes = .default
    @exclusivity(unchecked) private var jobs = WorkList<Job>()
    @exclusivity(unchecked) private var heldJobs: [Job] = []
    @exclusivity(unchecked) private var arrivedJobs: [Job] = []
    @exclusivity(unchecked) private var timers = TimerHeap()
    @exclusivity(unchecked) private var dueTimers = WorkList<TimerHeap.Due>()
    @exclusivity(unchecked) private var collectedTimers: [TimerHeap.Due] = []
    @exclusivity(unchecked) private var parkedTimers: [TimerHeap.Due] = []
    @exclusivity(unchecked) private var timerMode: LoopModes = .default
    @exclusivity(unchecked) private var registry = ChannelRegistry()
    @exclusivity(unchecked) private var events = WorkList<ReadyEvent>()
    @exclusivity(unchecked) private var collectedEvents: [ReadyEvent] = []
    @exclusivity(unchecked) private var turnEnds: [any TurnEndTarget] = []
    @exclusivity(unchecked) private var quietEnds: [any TurnEndTarget] = []
    /// When those who wait for quiet have waited long enough.
    @exclusivity(unchecked) private var quietDue = LoopInstant.distantFuture
    /// Nothing new was ready in this turn: only channels that go on.
    @exclusivity(unchecked) private var isQuiet = false
    @exclusivity(unchecked) private var closes: [any DeferredClosing] = []
    @exclusivity(unchecked) private var observers: [LoopObserver] = []
    @exclusivity(unchecked) private var expectsEcho = false
    @exclusivity(unchecked) private var owesYield = false
    @exclusivity(unchecked) private var mayYieldAt = LoopInstant(nanoseconds: 0)
    /// How many tasks are under way.
    @exclusivity(unchecked) private var tasks = 0
    /// Those whose calls have ended in this turn.
    @exclusivity(unchecked) private var endedCalls: [DispatchSemaphore] = []
    /// Callers that wait may run the loop between its turns.
    @exclusivity(unchecked) private var isServed = false
    @exclusivity(unchecked) private var mayStepAsideAt = LoopInstant(nanoseconds: 0)

    package init(poller: sending any Poller) {
        self.poller = poller
        waker = poller.waker
        latest = poller.now
    }

    // MARK: - From any thread

    /// Runs `body` on the loop, in a later turn, after everything enqueued before.
    /// The loop is woken only if it sleeps and no thread has woken it yet.
    package func enqueue(in modes: LoopModes = .common, body: sending @escaping () -> Void) {
        let job = Job(modes: modes, body: body)
        let wake = inbox.withLock { inbox in
            guard !inbox.isRetired else { return Wake.nobody }
            inbox.jobs.append(job)
            return inbox.wakes(isBatchingHere: { isBatchingHere }, isOnLoop: { isOnLoop })
        }
        switch wake {
        case .nobody: break
        case .poller: waker.wake()
        case .thread: ownThreadWaker.signal()
        }
    }

    /// The loop will not run again. Jobs, which usually hold what holds the loop, are
    /// dropped, now and from now on. For loops that end before their process.
    package func retire() {
        var dropped: [Job] = []
        inbox.withLock { inbox in
            inbox.isRetired = true
            swap(&inbox.jobs, &dropped)
        }
    }

    /// Runs callbacks of this loop's clients on another thread. Whatever they enqueue wakes the loop once, at the end,
    /// instead of in the middle, where on a busy core the two threads would take turns with every single request.
    package func batchingWakes(_ callbacks: () -> Void) {
        markingThread(callbacks)
        wakeIfOwed()
    }

    /// Runs one callback of a batch whose callbacks run apart from each other. The last one wakes the loop for all.
    package func batchingWakes(in batch: ScatteredBatch, callback: () -> Void) {
        markingThread(callback)
        if batch.endsOne() { wakeIfOwed() }
    }

    private func markingThread(_ callbacks: () -> Void) {
        let outer = caf_exchange_thread_mark(mark)
        callbacks()
        _ = caf_exchange_thread_mark(outer)
    }

    private func wakeIfOwed() {
        let wake = inbox.withLock { inbox in
            guard inbox.owesWake else { return false }
            inbox.owesWake = false
            inbox.sleep = .awake
            return true
        }
        if wake { waker.wake() }
    }

    /// Callbacks have just left for another thread, and will probably enqueue: the next wait is a nap.
    package func expectEcho() {
        expectsEcho = true
        owesYield = true
    }

    /// Whether jobs wait for the next turn.
    package var hasJobs: Bool { inbox.withLock { !$0.jobs.isEmpty } }

    private var mark: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }
    private var isBatchingHere: Bool { caf_thread_mark() == mark }

    package var isOnLoop: Bool { owner.load(ordering: .relaxed) == currentThread() }

    /// Whether the calling thread runs the loop, in one of these modes.
    package func isRunning(in modes: LoopModes) -> Bool { isOnLoop && !modes.isDisjoint(with: presentMode) }

    @usableFromInline
    package func preconditionOnLoop() {
        precondition(isOnLoop, "loop-confined state used on another thread")
    }

    // MARK: - Running

    /// Runs turns on the calling thread until `condition` holds: that thread is the loop's own. Callers that wait may run
    /// the loop in its place (`runWhileWaiting`).
    package func serve(until condition: () -> Bool) {
        isServed = true
        var callers: [DispatchSemaphore] = []
        while !condition() {
            takeTurn(in: .default, until: nil, unless: condition)
            guard !endedCalls.isEmpty else { continue }
            swap(&callers, &endedCalls)
            // Before the callers wake: one that comes again at once finds the loop free. From here on it may be that
            // caller's, so this thread touches nothing of it until it has it back.
            let isFree = stepAside()
            for caller in callers { caller.signal() }
            callers.removeAll(keepingCapacity: true)
            if isFree { waitAside() }
        }
        isServed = false
    }

    /// Runs turns in `mode` until `condition` holds. May be called from a callback
    /// of this very loop: what belongs to other modes waits for the outer run.
    package func run(in mode: LoopModes, until condition: () -> Bool) {
        let wasServed = isServed
        isServed = false
        notify(.entry)
        while !condition() { takeTurn(in: mode, until: nil, unless: condition) }
        notify(.exit)
        isServed = wasServed
    }

    /// Runs one turn, waiting no longer than `limit` (`nil`: until something happens).
    package func runTurn(in mode: LoopModes = .default, until limit: LoopInstant? = nil) {
        takeTurn(in: mode, until: limit) { false }
    }

    /// - Parameter isDone: Asked before waiting: what a job or a timer of this very turn
    ///   has brought about may be all there was to wait for.
    private func takeTurn(in mode: LoopModes, until limit: LoopInstant?, unless isDone: () -> Bool) {
        let outer = owner.exchange(currentThread(), ordering: .relaxed)
        let outerMode = presentMode
        presentMode = mode
        defer {
            presentMode = outerMode
            owner.store(outer, ordering: .relaxed)
        }

        // The thread starts with the first job, which may come long after the loop was made.
        if turns == 0 { latest = poller.now }
        runJobs(in: mode)
        notify(.beforeTimers)
        fireTimers(in: mode)
        poll(in: mode, until: limit, unless: isDone)
        deliver(in: mode)
        finishTurn()
    }

    private func runJobs(in mode: LoopModes) {
        // First what an earlier turn in another mode had to leave.
        if !heldJobs.isEmpty { jobs.add(contentsOf: &heldJobs) }
        // No caller that waits runs the jobs of others.
        inbox.withLock { if !$0.isWanted { swap(&$0.jobs, &arrivedJobs) } }
        jobs.add(contentsOf: &arrivedJobs)
        while let job = jobs.takeNext() {
            if job.modes.isDisjoint(with: mode) {
                heldJobs.append(job)
            } else {
                job.body()
            }
        }
    }

    private func fireTimers(in mode: LoopModes) {
        if mode != timerMode { unparkTimers(for: mode) }
        if let earliest = timers.earliestDeadline, earliest <= now {
            timers.collectDue(at: now, into: &collectedTimers)
            dueTimers.add(contentsOf: &collectedTimers)
        }
        while let timer = dueTimers.takeNext() {
            if timer.modes.isDisjoint(with: mode) {
                parkedTimers.append(timer)
            } else if timers.cancel(timer.timer) {
                timer.target.timerFired(timer.timer)
            }
        }
    }

    /// Timers that came due in a mode that does not serve them are set aside: left
    /// in the heap they would keep the loop from sleeping.
    private func unparkTimers(for mode: LoopModes) {
        timerMode = mode
        for timer in parkedTimers { timers.putBack(timer) }
        parkedTimers.removeAll()
    }

    private func poll(in mode: LoopModes, until limit: LoopInstant?, unless isDone: () -> Bool) {
        // On a core of its own this returns at once. On a shared one the callbacks that
        // have just left run now, all of them, and the next turn has all they enqueue:
        // otherwise each response would be answered alone, at two thread switches.
        if owesYield { yield() }
        var ready: [ReadyEvent] = []
        swap(&ready, &collectedEvents)
        // Taken first: whatever asks to be looked at again meanwhile waits a turn.
        registry.takeHeld(in: mode, into: &ready)
        let keptCount = ready.count

        var deadline = limit
        if let timer = timers.earliestDeadline { deadline = min(timer, deadline ?? .distantFuture) }
        let hasEnds = !turnEnds.isEmpty || !quietEnds.isEmpty || !closes.isEmpty || !endedCalls.isEmpty
        let hasWork = !ready.isEmpty || !events.isEmpty || hasEnds || isDone()
        let wanted = expectsEcho ? Sleep.napping : .asleep
        let mayWait = inbox.withLock { inbox in
            guard inbox.jobs.isEmpty, !hasWork else { return false }
            inbox.sleep = wanted
            return true
        }
        if mayWait, expectsEcho {
            expectsEcho = false
            deadline = min(now + EventLoop.nap, deadline ?? .distantFuture)
        }
        notify(.beforeWaiting)
        poller.poll(until: mayWait ? deadline : now, into: &ready)
        inbox.withLock { inbox in
            inbox.sleep = .awake
            inbox.owesWake = false
        }
        latest = poller.now
        turns += 1
        notify(.afterWaiting)
        registry.join(&ready, keptBefore: keptCount)
        isQuiet = events.isEmpty && ready.count == keptCount
        events.add(contentsOf: &ready)
        swap(&ready, &collectedEvents)
    }

    /// Others than those callbacks may want the core, and may keep it for milliseconds:
    /// then the callbacks have to do without the favour for a while.
    private func yield() {
        owesYield = false
        guard latest >= mayYieldAt else { return }
        caf_yield()
        let after = poller.now
        if latest.duration(to: after) > EventLoop.longYield { mayYieldAt = after + EventLoop.yieldPause }
    }

    private func deliver(in mode: LoopModes) {
        while let event = events.takeNext() {
            registry.target(of: event, in: mode)?.channelReady(event.readiness)
        }
    }

    /// End-of-turn work may give rise to more of itself (a request that cannot be
    /// sent completes at once), so it runs until there is none.
    private func finishTurn() {
        endQuiet()
        while !turnEnds.isEmpty {
            let batch = turnEnds
            turnEnds.removeAll(keepingCapacity: true)
            for target in batch { target.turnEnded() }
        }
        guard !closes.isEmpty else { return }
        let batch = closes
        closes.removeAll(keepingCapacity: true)
        for channel in batch { channel.closeNow() }
    }

    private func endQuiet() {
        guard !quietEnds.isEmpty, isQuiet || quietDue <= now else { return }
        turnEnds += quietEnds
        quietEnds.removeAll(keepingCapacity: true)
    }

    private func notify(_ activity: LoopObserver.Activities) {
        guard !observers.isEmpty else { return }
        for observer in observers where observer.activities.contains(activity) { observer.body(activity) }
    }
}

// MARK: - Callers that wait

extension EventLoop {
    /// Begins something whose end the calling thread waits for, and runs the loop meanwhile if no thread runs it: so
    /// neither thread has to wake the other.
    ///
    /// Returns when `isDone`, when others have enqueued something or begun a task, which is for the loop's own thread, or
    /// at once if that thread runs the loop. The caller waits then as it would have without this.
    ///
    /// - Parameter begin: Enqueues what is to be done.
    package func runWhileWaiting(begin: () -> Void, until isDone: () -> Bool) {
        // The lock of the inbox passes the loop on, with all that only its turns may touch: from here to `handBack`, which
        // gives it away under the same lock, it is this thread's.
        let isMine = inbox.withLock { inbox in
            guard inbox.sleep == .unattended else { return false }
            inbox.sleep = .awake
            inbox.isLent = true
            return true
        }
        guard isMine else { return begin() }
        let outer = owner.exchange(currentThread(), ordering: .relaxed)
        isServed = false
        begin()
        // A timer of others may begin a task of theirs.
        while !isDone(), tasks <= 1, inbox.withLock({ !$0.isWanted }) {
            takeTurn(in: .default, until: nil, unless: isDone)
        }
        isServed = true
        owner.store(outer, ordering: .relaxed)
        handBack()
    }

    private func handBack() {
        let isIdle = isIdle
        let isWanted = inbox.withLock { inbox in
            inbox.isLent = false
            inbox.wasLent = true
            if isIdle, !inbox.isWanted, inbox.jobs.isEmpty {
                inbox.sleep = .unattended
                return false
            }
            // Two threads that want the loop in turn would hand it to and fro with each request.
            if inbox.isWanted { mayStepAsideAt = now + EventLoop.leastKept }
            inbox.isWanted = false
            return true
        }
        if isWanted { ownThreadWaker.signal() }
    }

    /// Wakes a caller for whose task the loop has done all, and who may come again soon with another.
    package func wake(_ caller: DispatchSemaphore) {
        if isServed { endedCalls.append(caller) } else { caller.signal() }
    }

    package func taskBegan() { tasks += 1 }
    package func taskEnded() { tasks -= 1 }

    /// Nothing is under way but idle connections and timers.
    private var isIdle: Bool {
        tasks == 0 && observers.isEmpty && heldJobs.isEmpty && events.isEmpty && turnEnds.isEmpty && quietEnds.isEmpty
            && closes.isEmpty && !registry.hasHeld
    }

    /// - Returns: Whether callers may run the loop now.
    private func stepAside() -> Bool {
        guard isIdle, mayStepAsideAt <= now else { return false }
        return inbox.withLock { inbox in
            guard inbox.jobs.isEmpty else { return false }
            inbox.sleep = .unattended
            inbox.wasLent = false
            return true
        }
    }

    /// Returns when a job is there, and when no caller has run the loop for a while.
    private func waitAside() {
        while true {
            _ = ownThreadWaker.wait(timeout: .now() + EventLoop.longestAside)
            let isMine = inbox.withLock { inbox in
                if inbox.isLent { return false }
                if inbox.sleep == .unattended, inbox.wasLent {
                    inbox.wasLent = false
                    return false
                }
                inbox.sleep = .awake
                return true
            }
            if isMine { return }
        }
    }
}

// MARK: - On the loop

extension EventLoop {
    // Not stored under these names: the access to a stored property from another module
    // is checked, whatever is said here.
    /// The time of this turn.
    package var now: LoopInstant { latest }

    /// Counts the times the loop has looked at the world.
    package var turn: UInt64 { turns }

    /// Arms a timer. It fires once, unless it is cancelled before.
    package func startTimer(
        at deadline: LoopInstant,
        in modes: LoopModes = .common,
        for target: any TimerTarget
    ) -> TimerID {
        timers.arm(at: deadline, modes: modes, for: target)
    }

    package func cancelTimer(_ timer: TimerID) {
        timers.cancel(timer)
    }

    package var armedTimers: Int { timers.count }

    package func register(
        _ descriptor: Int32,
        in modes: LoopModes = .all,
        for target: any ChannelTarget
    ) throws(SystemCallError) -> PollToken {
        let token = registry.add(target, modes: modes)
        do {
            try poller.add(descriptor, token: token)
        } catch {
            registry.remove(token)
            throw error
        }
        return token
    }

    /// From here on no event reaches the target, not even one already collected.
    package func deregister(_ token: PollToken, descriptor: Int32) {
        if registry.remove(token) { poller.remove(descriptor) }
    }

    package var registeredChannels: Int { registry.count }

    /// Reports readiness again in the next turn: for a channel that used up its
    /// share of this one, since an edge is reported only once. The channel hears of it once in that turn, however often
    /// it asks and whatever the poller reports of it meanwhile.
    package func deliverAgain(_ readiness: Readiness, to token: PollToken) {
        registry.hold(ReadyEvent(token: token, readiness: readiness))
    }

    /// Calls `target` once at the end of this turn. Callers keep track of whether they have asked already.
    package func atTurnEnd(_ target: any TurnEndTarget) {
        turnEnds.append(target)
    }

    /// Calls `target` once at the end of the first turn that finds nothing new ready, or of one 2 ms later: for
    /// what is cheaper done for many at a time, and can wait that long. A channel that only goes on is nothing new.
    package func whenQuiet(_ target: any TurnEndTarget) {
        if quietEnds.isEmpty { quietDue = now + EventLoop.patience }
        quietEnds.append(target)
    }

    /// Calls `target` at the end of this turn, if it waits for quiet: nothing can be added to what it has.
    package func hurry(_ target: any TurnEndTarget) {
        guard let place = quietEnds.firstIndex(where: { $0 === target }) else { return }
        turnEnds.append(quietEnds.remove(at: place))
    }

    /// Closes at the end of the turn: nothing is destroyed while a callback may be
    /// above it, and no descriptor number comes back within the same batch of events.
    package func deferClose(_ channel: any DeferredClosing) {
        closes.append(channel)
    }

    package func add(_ observer: LoopObserver) {
        observers.append(observer)
    }

    package func remove(_ observer: LoopObserver) {
        observers.removeAll { $0 === observer }
    }
}

/// Callbacks that left together, and run one by one on queues of the program.
package final class ScatteredBatch: Sendable {
    private let left: Atomic<Int>

    package init(count: Int) {
        left = Atomic(count)
    }

    /// A callback has run.
    ///
    /// - Returns: Whether it was the last one.
    fileprivate func endsOne() -> Bool { left.subtract(1, ordering: .relaxed).newValue == 0 }
}
