import Foundation

/// Collects the body in memory and hands everything over at once.
final class CompletionConsumer: TaskConsumer {
    /// Released once it was called: a finished task must not keep what its handler captured, which is often the owner
    /// of the task.
    @exclusivity(unchecked) private var handler: DataCompletion?
    /// Whether the caller awaits. Its result must not depend on the delegate queue, which may be the main queue of a
    /// program whose main thread is blocked. Metrics that a delegate takes on that queue still come first.
    private let isAwaited: Bool
    @exclusivity(unchecked) private var body = CollectedBody()

    var isHolding: Bool { false }
    var caching: ResponseCaching { .always }
    var collected: Data? { body.data }

    init(isAwaited: Bool, handler: @escaping DataCompletion) {
        self.isAwaited = isAwaited
        self.handler = handler
    }

    func receivedResponse(_ response: URLResponse, of load: Load) {}

    func receivedBody(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        body.append(bytes, of: load)
    }

    var mayStartOver: Bool { true }

    func startOver(of load: Load) {
        body = CollectedBody()
    }

    func completed(_ error: (any Error)?, of load: Load) -> Bool {
        guard let task = load.handle, let handler = handler.take() else { return false }
        let outbox = isAwaited ? load.resumptions : load.session.outbox
        let data = body.take()
        outbox.post(.completion(task, handler, error == nil ? data : nil, load.response))
        return true
    }
}
