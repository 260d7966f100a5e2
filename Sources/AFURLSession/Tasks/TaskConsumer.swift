import AFWire
import Foundation

/// Takes a task's response: for a completion handler or for a delegate. Confined to the loop. It decides what is held,
/// and when the server has to wait.
protocol TaskConsumer: AnyObject {
    /// Whether the task must not complete yet, although the response is there in full.
    var isHolding: Bool { get }

    /// What the consumer has asked the delegate, until there is the answer.
    var missingAnswer: MissingAnswer? { get }

    /// Whether the cache may store the response.
    var caching: ResponseCaching { get }

    /// What it keeps of the body until all of it is there; nil if it keeps nothing. The cache stores the same bytes, and
    /// makes no copy.
    var collected: Data? { get }

    /// Whether the task's owner has got nothing of the response yet, so that it may begin once more.
    var mayStartOver: Bool { get }

    /// The owner has suspended the task, or resumed it.
    func suspended(_ isSuspended: Bool, of load: Load)
    /// Whether the task completes without telling its owner.
    var endsSilently: Bool { get }
    /// Called before the session sends the request.
    func prepare(for load: Load) -> ConsumerPreparation
    /// Adds the fields that ask for a WebSocket.
    func addFields(to fields: inout HTTPHeaders, of request: WireRequest, load: Load)
    func receivedResponse(_ response: URLResponse, of load: Load)
    func receivedBody(_ bytes: UnsafeRawBufferPointer, of load: Load)
    /// The body is complete. If the consumer has still work to do with it, `isHolding` is true.
    func receivedEnd(of load: Load)
    /// The task has failed. True if the consumer has work to do before the task reports `error`; when it is done, it
    /// calls `end` of the load. Called again if the task is cancelled meanwhile.
    func settle(_ error: LoadError, reported: URLError, of load: Load) -> Bool
    /// Drop what was received: another response will come.
    func startOver(of load: Load)
    /// Called last.
    ///
    /// - Returns: Whether a callback that it has posted calls `delivered` of the task: until then the owner may cancel.
    func completed(_ error: (any Error)?, of load: Load) -> Bool
}

/// What a consumer has to do before the session sends the request.
enum ConsumerPreparation {
    case nothing
    /// It calls `restart` of the load when it is done.
    case later
    /// It loads by itself, and the session sends nothing.
    case loadsItself
}

extension TaskConsumer {
    var missingAnswer: MissingAnswer? { nil }
    var collected: Data? { nil }
    var mayStartOver: Bool { false }
    func startOver(of load: Load) {}
    var endsSilently: Bool { false }
    func suspended(_ isSuspended: Bool, of load: Load) {}
    func prepare(for load: Load) -> ConsumerPreparation { .nothing }
    func addFields(to fields: inout HTTPHeaders, of request: WireRequest, load: Load) {}
    func receivedEnd(of load: Load) {}
    func settle(_ error: LoadError, reported: URLError, of load: Load) -> Bool { false }
}
