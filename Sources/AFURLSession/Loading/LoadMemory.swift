import AFLoop
import AFTransport
import AFWire
import Foundation

/// What a load knows beyond its one exchange. Most loads never need one: it is made for a second exchange, a response
/// that a step may want, or a wait. Confined to the loop.
final class LoadMemory {
    /// The present request, without what the session adds to it.
    var request: URLRequest

    /// The request that the delegate has given for the task's when its date had come.
    var replacement: URLRequest?

    // MARK: The way so far

    /// How many redirects the load has followed.
    var redirects = 0
    /// Whether a redirect has led to another origin: from then on the session adds no secrets to the request.
    var hasLeftOrigin = false
    /// Whether a redirect, or an interceptor, has replaced the task's body.
    var hasDroppedBody = false
    private(set) var former: [ExchangeRecord] = []
    /// How many bytes the heads of all responses of one task may have.
    static let headBudget: Int64 = 1 << 20
    /// How many bytes the heads of the former responses had.
    private(set) var headBytes: Int64 = 0

    // MARK: The present wait

    /// The response that the steps judge.
    var pending: PendingResponse?
    /// A request whose preparation has failed: no class of the program has answered whether it loads the target of a
    /// redirect.
    private(set) var unsent: RequestDraft?
    /// What to do when the task is resumed.
    var postponed: (() -> Void)?
    /// The answer to a wait came while the task was suspended.
    private var wasPostponed = false
    /// What the steps have come to, while one of them waits for an answer.
    private var waiting: Waiting?

    enum Waiting {
        /// The step before this place prepares the request.
        case preparing(RequestDraft, next: Int)
        /// The step before this place judges the outcome.
        case judging(ExchangeOutcome, next: Int)
    }

    /// What each step keeps of this load, by its type. Files of steps name theirs in extensions of this class.
    private var kept: [ObjectIdentifier: Any] = [:]

    /// What the load has asked the program, until there is the answer.
    var missingAnswer: MissingAnswer?
    /// A proxy's response in place of the tunnel to the server.
    var refusal: HTTPURLResponse?
    /// Stores the body of a redirect.
    var redirectWriter: CacheWriter?
    /// The request to send again once there is a network, if the proxy's route changes it.
    var unaddressed: WireRequest?

    init(_ request: URLRequest) {
        self.request = request
    }

    /// Does what was postponed until the task was resumed.
    func goOnWithPostponed() {
        guard let work = postponed else { return }
        (postponed, wasPostponed) = (nil, true)
        work()
        wasPostponed = false
    }

    /// Whether this answer was postponed. The next one that comes at once is not.
    func takePostponement() -> Bool {
        defer { wasPostponed = false }
        return wasPostponed
    }

    /// Adds the record of an exchange that has ended, if it was not the last, or not on the network.
    func add(_ record: ExchangeRecord) {
        former.append(record)
        headBytes += record.responseHeadBytes
    }

    /// The load is over: nothing in here goes on.
    func stop() {
        stopSteps()
        kept = [:]
        stopWaiting()
        takeUnsent()?.body?.close()
    }

    /// The load has failed: no step goes on with what it keeps, which the metrics still read.
    func stopSteps() {
        for value in kept.values { (value as? any StopsWithLoad)?.stop() }
    }

    func wait(_ waiting: Waiting) {
        stopWaiting()
        self.waiting = waiting
    }

    func takeWaiting() -> Waiting? {
        defer { waiting = nil }
        return waiting
    }

    /// The request that waits for an answer is not sent. Another attempt may begin with the request before it.
    func stopPreparing() {
        if case .preparing(let draft, _) = takeWaiting() {
            unsent?.body?.close()
            unsent = draft
        }
        postponed = nil
    }

    func takeUnsent() -> RequestDraft? {
        defer { unsent = nil }
        return unsent
    }

    /// No answer is waited for any more.
    func stopWaiting() {
        if case .preparing(let draft, _) = takeWaiting() { draft.body?.close() }
        postponed = nil
    }
}

// MARK: - What the steps keep

extension LoadMemory {
    /// What a step keeps of this load; nil if it keeps nothing.
    subscript<Value>(_ type: Value.Type) -> Value? {
        get { kept[ObjectIdentifier(type)] as? Value }
        set { kept[ObjectIdentifier(type)] = newValue }
    }
}
