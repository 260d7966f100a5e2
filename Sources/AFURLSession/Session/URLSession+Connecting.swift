import AFLoop
import AFTransport
import AFURLTypes
import AFWire
public import Foundation

extension URLSession {
    /// Opens idle connections to the origin of a URL, for requests that come soon.
    ///
    /// The session judges them as those of a request, by all its rules and its delegate; one that judges servers in its
    /// task-level method gets a task with the number 0, which never runs. No HTTP is sent, and nothing counts as a task. They
    /// close as any idle connection does: after their time, or when the rules change.
    ///
    /// - Parameters:
    ///   - url: Its scheme, host and port count.
    ///   - count: How many are to be idle, those included that are now. The limits of the session hold.
    /// - Returns: How many are idle then, `count` at most.
    /// - Throws: The error with which a request would fail. It waits for no network.
    @discardableResult
    public func connect(to url: URL, count: Int = 1) async throws -> Int {
        if let error = world.unavailability() { throw error.urlError(for: url) }
        let answer = AwaitedResult<Int>()
        let call = core.joined { [self] in WarmUpCall(url, count: count, of: self, in: $0, answer: answer) }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                answer.expect(continuation)
                world.enqueue { call.value.begin() }
            }
        } onCancel: {
            world.enqueue { call.value.cancel() }
        }
        // A session without references would end.
        return try withExtendedLifetime(self) { try answer.taken() }
    }

    /// Keeps connections idle as the configuration says.
    func keepIdleConnections() {
        guard world.unavailability() == nil else { return }
        for (url, count) in settings.pool.minimumIdleConnections {
            let call = core.joined { [self] in WarmUpCall(url, count: count, of: self, in: $0, answer: nil) }
            world.enqueue { call.value.begin() }
        }
    }

    /// A task to ask a delegate about, which never runs.
    func makeSilentTask(_ request: URLRequest) -> URLSessionTask {
        let consumer = URLSessionTask.consumer(isAwaited: true, completion: nil)
        return URLSessionDataTask(request, identifier: 0, in: self, consumer: consumer, completion: nil)
    }
}
