import AFTransport
import AFWire
import Foundation

/// One concern of a load: what it does to a request about to leave, and what it makes of an outcome. `LoadSteps` has
/// the order. A step is confined to the loop, keeps what it knows of a load in the load's `LoadMemory`, and calls no
/// other step. What it answers is the whole decision: the load acts on it.
protocol LoadStep: AnyObject {
    /// The request is about to leave.
    func prepare(_ draft: inout RequestDraft, of load: any LoadView) -> Preparation

    /// The body of the request is ready: adds the fields that the step wants in its head.
    ///
    /// - Parameter isRepeated: Whether the transport sends the same request another time.
    func addFields(to fields: inout HTTPHeaders, of request: WireRequest, load: any LoadView, isRepeated: Bool)

    /// The same for a request that asks a proxy for a tunnel.
    func address(
        _ key: ConnectionKey,
        by route: ProxyRoute,
        for request: WireRequest,
        of load: any LoadView
    ) -> ConnectionKey

    /// The head of a final response has arrived: learns from it, whatever becomes of the response.
    func learn(from head: ResponseHead, of transfer: Transfer, for owner: any RequestOwner)

    /// A response or a failure is there that may not be the task's.
    func judge(_ outcome: ExchangeOutcome, of load: any LoadView) -> Verdict
}

extension LoadStep {
    func prepare(_ draft: inout RequestDraft, of load: any LoadView) -> Preparation { .goOn }
    func addFields(to fields: inout HTTPHeaders, of request: WireRequest, load: any LoadView, isRepeated: Bool) {}
    func address(
        _ key: ConnectionKey,
        by route: ProxyRoute,
        for request: WireRequest,
        of load: any LoadView
    ) -> ConnectionKey { key }
    func learn(from head: ResponseHead, of transfer: Transfer, for owner: any RequestOwner) {}
    func judge(_ outcome: ExchangeOutcome, of load: any LoadView) -> Verdict { .pass }
}

/// A load, or a refresh of the cache, whose response the steps learn from.
protocol RequestOwner: AnyObject {
    var session: SessionCore { get }
    var cache: CacheAccess { get }
    var presentRequest: URLRequest? { get }
}

/// What a step sees of a load: enough to decide, and nothing to act with.
protocol LoadView: RequestOwner {
    /// The task; nil when it has completed.
    var handle: URLSessionTask? { get }
    /// The task's own delegate, if it has one; as a pair with the session's, if there is one.
    var listener: (any URLSessionTaskDelegate)? { get }
    /// What the steps remember; nil as long as the first exchange is the only one.
    var memory: LoadMemory? { get set }
    /// The exchange that is under way, or was the last.
    var transfer: Transfer? { get }
    var delivered: DeliveredResponse { get }
    var time: TaskTime { get }
    /// Tells the monitors, if there are any.
    var trace: TaskTrace? { get }
}

/// What a step makes of a request about to leave.
indirect enum Preparation {
    /// The next step is asked.
    case goOn
    /// The same. This becomes the present request.
    ///
    /// - isAnew: Whether the session has sent nothing of its body yet.
    case goOnWith(URLRequest, isAnew: Bool = false)
    /// The steps from there on are asked.
    case goOnAt(LoadSteps.Entry)
    /// The load adds the fields that the steps have for the head, and asks the step again.
    case withFields
    /// The date has come: the time of the task begins, and the consumer does what it has to do first.
    case begin
    /// The step waits, for user code, the disk or a date. It gives its answer to `Reply` when that is there: the load
    /// asks what follows from it, unless it has ended meanwhile.
    ///
    /// - asking: What of the program owes the answer; nil if nothing of it does.
    case later(asking: MissingAnswer?, time: WaitTime = .runs, (@escaping Reply) -> Void)
    /// The same, while classes of the program are asked about this request.
    case offered(URLRequest, (@escaping Reply) -> Void)
    /// A source of the session loads the request, in the place of a transfer that the closure finds in the memory.
    case taken((any LoadView) -> Void)
    /// Another request takes the place of the present one, with the body that was kept for it.
    case send(NextRequest, body: (any BodySource)?)
    /// The cache has a response.
    case answer(StoredAnswer)
    case fail(LoadError)

    typealias Reply = (@escaping (inout RequestDraft, any LoadView) -> Preparation) -> Void
}

/// What becomes of the time of the task while a step waits.
enum WaitTime {
    case runs
    /// It begins with the wait.
    case begins
    /// The wait has an end of its own.
    case stands
}

/// What a step makes of an outcome.
indirect enum Verdict {
    /// The next step is asked. If none wants the outcome, it is the task's.
    case pass
    /// The step waits, as in `Preparation`. The load reads no more of the response until then.
    case later(asking: MissingAnswer?, time: WaitTime = .runs, (@escaping Reply) -> Void)
    /// Another request takes the place of the present one.
    case send(NextRequest)
    /// The interceptors begin another attempt, after a while.
    case retry(after: Duration)
    /// The cache has a response in place of this outcome.
    case answer(StoredAnswer)
    /// The task fails. It shows its owner the response.
    case fail(LoadError, showing: URLResponse? = nil)

    typealias Reply = (@escaping (any LoadView, ExchangeOutcome) -> Verdict) -> Void
}

/// The request that a step wants in place of the present one. The load leaves the present exchange, and sends it.
struct NextRequest {
    let request: URLRequest
    /// The request on the wire whose place it takes; nil if a class of the program loaded it.
    let former: WireRequest?
    /// Whether the body that went with the former request goes again.
    var keepsBody = true
    /// Where the request enters the list of steps.
    var entry = LoadSteps.Entry.security
    /// Whether it goes to another origin. Nil if it is no redirect, which the load counts.
    var redirectLeavesOrigin: Bool?
    /// The response of a proxy in place of the tunnel, which led to it.
    var refusal: HTTPURLResponse?
    /// Whether nothing of the former request was sent: the metrics do not show it.
    var isFirst = false

    init(_ request: URLRequest, inPlaceOf former: WireRequest?) {
        self.request = request
        self.former = former
    }
}

/// The steps of the loads of a session. `LoadSteps.swift` has their order.
struct LoadSteps {
    /// Where a request enters the list.
    enum Entry {
        case date, interceptors, classes, security
    }

    /// The steps that a request passes.
    var preparing: ContiguousArray<any LoadStep> = []
    /// The steps that add fields to its head.
    var addingFields: ContiguousArray<any LoadStep> = []
    /// The steps that learn from the head of a response.
    var learning: ContiguousArray<any LoadStep> = []
    /// The steps that judge an outcome.
    var judging: ContiguousArray<any LoadStep> = []
    /// Whether the session has classes of the program to ask about a request.
    var hasClassesToAsk: () -> Bool = { false }

    var interceptorsPlace = 0
    var classesPlace = 0
    var securityPlace = 0

    func place(of entry: Entry) -> Int {
        switch entry {
        case .date: 0
        case .interceptors: interceptorsPlace
        case .classes: classesPlace
        case .security: securityPlace
        }
    }
}
