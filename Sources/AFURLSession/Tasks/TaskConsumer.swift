import AFLoop
import Foundation

/// Where a task's response goes: to a completion handler or to a delegate. Confined
/// to the loop; it decides what is held, and when the peer has to wait.
protocol TaskConsumer: AnyObject {
    /// True while a response in full may not be reported as complete.
    var isHolding: Bool { get }

    func receivedResponse(_ response: HTTPURLResponse, of core: TaskCore)
    func receivedBody(_ bytes: UnsafeRawBufferPointer, of core: TaskCore)
    /// The body is complete. What has still to be done with it is reported by `isHolding`.
    func receivedEnd(of core: TaskCore)
    /// Called last. What it posts is delivered when the task's state is completed.
    func completed(_ error: (any Error)?, of core: TaskCore)
}

extension TaskConsumer {
    func receivedEnd(of core: TaskCore) {}
}
