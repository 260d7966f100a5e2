import AFLoop
import Foundation

/// Where a task's response goes: to a completion handler or to a delegate. Confined
/// to the loop; it decides what is held, and when the peer has to wait.
protocol TaskConsumer: AnyObject {
    /// True while a response in full may not be reported as complete.
    var isHolding: Bool { get }

    /// Whether the delegate has a say in what is stored of the response.
    var asksAboutCaching: Bool { get }

    /// Whether nobody has been told yet of what was received, so that all may come once more.
    var mayStartOver: Bool { get }

    /// The owner has suspended the task, or resumed it.
    func suspended(_ isSuspended: Bool, of core: TaskCore)
    /// Nothing is to be heard of the task any more, although it has completed.
    var endsSilently: Bool { get }
    /// Called before the request is sent. True if there is something to do first; then the
    /// consumer calls `load` of the core when it is done.
    func prepares(for core: TaskCore) -> Bool
    func receivedResponse(_ response: URLResponse, of core: TaskCore)
    func receivedBody(_ bytes: UnsafeRawBufferPointer, of core: TaskCore)
    /// The body is complete. What has still to be done with it is reported by `isHolding`.
    func receivedEnd(of core: TaskCore)
    /// The task has failed. True if there is something to do before `error` is reported;
    /// then the consumer calls `end` of the core when it is done. Asked again when the task is cancelled meanwhile.
    func settles(_ error: LoadError, reported: URLError, of core: TaskCore) -> Bool
    /// What was received is nothing: another response will come.
    func startOver(of core: TaskCore)
    /// Called last. What it posts is delivered when the task's state is completed.
    func completed(_ error: (any Error)?, of core: TaskCore)
}

extension TaskConsumer {
    var asksAboutCaching: Bool { false }
    var mayStartOver: Bool { false }
    func startOver(of core: TaskCore) {}
    var endsSilently: Bool { false }
    func suspended(_ isSuspended: Bool, of core: TaskCore) {}
    func prepares(for core: TaskCore) -> Bool { false }
    func receivedEnd(of core: TaskCore) {}
    func settles(_ error: LoadError, reported: URLError, of core: TaskCore) -> Bool { false }
}
