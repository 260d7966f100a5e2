import AFLoop
import AFTransport
import AFWire
import Foundation

/// One concern of a load: what it does to a request about to leave, and what it makes of an outcome. `LoadSteps` has
/// the order. A step is confined to the loop, keeps what it knows of a load in the load's `LoadMemory`, and calls no
/// other step.
protocol LoadStep: AnyObject {
    /// The request is about to leave.
    func prepare(_ draft: inout RequestDraft, of load: Load) -> Preparation

    /// The body of the request is ready: adds the fields that the step wants in its head.
    ///
    /// - Parameter isRepeated: Whether the transport sends the same request another time.
    func addFields(to fields: inout HTTPHeaders, of request: WireRequest, load: Load, isRepeated: Bool)

    /// The same for a request that asks a proxy for a tunnel.
    func address(_ key: ConnectionKey, by route: ProxyRoute, for request: WireRequest, of load: Load) -> ConnectionKey

    /// The head of a final response has arrived: learns from it, whatever becomes of the response.
    func learn(from head: ResponseHead, of transfer: Transfer, for owner: any RequestOwner)

    /// A response or a failure is there that may not be the task's.
    func judge(_ outcome: ExchangeOutcome, of load: Load) -> Verdict
}

extension LoadStep {
    func prepare(_ draft: inout RequestDraft, of load: Load) -> Preparation { .goOn }
    func addFields(to fields: inout HTTPHeaders, of request: WireRequest, load: Load, isRepeated: Bool) {}
    func address(_ key: ConnectionKey, by route: ProxyRoute, for request: WireRequest, of load: Load) -> ConnectionKey {
        key
    }
    func learn(from head: ResponseHead, of transfer: Transfer, for owner: any RequestOwner) {}
    func judge(_ outcome: ExchangeOutcome, of load: Load) -> Verdict { .pass }
}

/// A load, or a refresh of the cache, whose response the steps learn from.
protocol RequestOwner: AnyObject {
    var session: SessionCore { get }
    var cache: CacheAccess { get }
    var presentRequest: URLRequest? { get }
}

/// What a step makes of a request about to leave.
indirect enum Preparation {
    /// The next step is asked.
    case goOn
    /// The steps from there on are asked.
    case goOnAt(LoadSteps.Entry)
    /// The step waits, for user code, the disk or a date. It gives its answer to `Reply` when that is there: the load
    /// asks what follows from it, unless it has ended meanwhile.
    ///
    /// - asking: What of the program owes the answer; nil if nothing of it does.
    /// - isTimed: Whether the time of the task runs.
    case later(asking: MissingAnswer?, isTimed: Bool = true, (@escaping Reply) -> Void)
    /// A source of the session loads the request.
    case taken
    /// The consumer loads by itself.
    case leftToConsumer
    /// The cache has a response.
    case answer(StoredAnswer)
    case fail(LoadError)

    typealias Reply = (@escaping (inout RequestDraft, Load) -> Preparation) -> Void
}

/// What a step makes of an outcome.
indirect enum Verdict {
    /// The next step is asked. If none wants the outcome, it is the task's.
    case pass
    /// The step waits, as in `Preparation`. The load reads no more of the response until then.
    case later(asking: MissingAnswer?, isTimed: Bool = true, (@escaping Reply) -> Void)
    /// Another request takes the place of the present one.
    case send(RequestDraft, from: LoadSteps.Entry)
    /// The cache has a response in place of this outcome.
    case answer(StoredAnswer)
    /// The task fails. It shows its owner the response.
    case fail(LoadError, showing: URLResponse? = nil)

    typealias Reply = (@escaping (Load, ExchangeOutcome) -> Verdict) -> Void
}

/// The steps of the loads of a session. `LoadSteps.swift` has their order.
struct LoadSteps {
    /// Where a request enters the list.
    enum Entry {
        case date, consumer, interceptors, classes, security
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
        case .consumer: 1
        case .interceptors: interceptorsPlace
        case .classes: classesPlace
        case .security: securityPlace
        }
    }
}
