import AFBase
import AFLoop
public import AFTransport
import AFWire
import Dispatch
public import Foundation

extension URLConnection {
    /// Whether a connection can be tried for a request: its scheme is known, and no part of it is malformed.
    public class func canHandle(_ request: URLRequest) -> Bool {
        guard let url = request.url else { return false }
        if LocalScheme(url) != nil || ProtocolRegistry.classes.contains(where: { $0.canInit(with: request) }) {
            return true
        }
        let session = ConnectionSessions.system.session(usingCredentialStorage: true)
        return (try? request.frozen(with: session.headers)) != nil
    }

    /// Loads a request and calls back on a queue.
    ///
    /// - Parameters:
    ///   - request: The request to load. Redirects and credentials are handled as without a delegate.
    ///   - queue: The queue that calls the handler.
    ///   - handler: Called once: with response and data, or with an error, and then with the response too if its head
    ///   had arrived. An HTTP error status is not an error.
    @preconcurrency
    public class func sendAsynchronousRequest(
        _ request: URLRequest,
        queue: OperationQueue,
        completionHandler handler: @escaping @Sendable (URLResponse?, Data?, (any Error)?) -> Void
    ) {
        sendAsynchronousRequest(request, tls: nil, queue: queue, completionHandler: handler)
    }

    /// Loads a request, secured as `tls` says, and calls back on a queue. See
    /// ``sendAsynchronousRequest(_:queue:completionHandler:)``.
    @preconcurrency
    public class func sendAsynchronousRequest(
        _ request: URLRequest,
        tls: TLSConfiguration?,
        queue: OperationQueue,
        completionHandler handler: @escaping @Sendable (URLResponse?, Data?, (any Error)?) -> Void
    ) {
        let session = ConnectionSessions.system.session(usingCredentialStorage: true, securedBy: tls)
        session.dataTask(with: request) { data, response, error in
            queue.addOperation(CallbackOperation(block: { handler(response, data, error) }))
        }
        .resume()
    }

    /// Loads a request and waits for it. It blocks the calling thread, whose run loop and queues do not run meanwhile.
    /// It depends on no other thread of the program. It does not ask a ``URLProtocol`` that calls this about the
    /// request. Nothing of others runs on the calling thread. The evaluator of the server does, if nothing else is under
    /// way: then the calling thread does the work of the network thread.
    ///
    /// - Parameters:
    ///   - request: The request to load. Redirects and credentials are handled as without a delegate.
    ///   - response: Receives the response, also with an error if its head had arrived.
    /// - Returns: The body.
    /// - Throws: The error of the task. Do not call it from a delegate on the network thread, which would wait for
    ///   itself: there it throws at once an error that says so.
    public class func sendSynchronousRequest(
        _ request: URLRequest,
        returning response: UnsafeMutablePointer<URLResponse?>?
    ) throws -> Data {
        try sendSynchronousRequest(request, tls: nil, returning: response, in: .system)
    }

    /// Loads a request, secured as `tls` says, and waits for it. See ``sendSynchronousRequest(_:returning:)``.
    public class func sendSynchronousRequest(
        _ request: URLRequest,
        tls: TLSConfiguration?,
        returning response: UnsafeMutablePointer<URLResponse?>?
    ) throws -> Data {
        try sendSynchronousRequest(request, tls: tls, returning: response, in: .system)
    }

    package class func sendSynchronousRequest(
        _ request: URLRequest,
        tls: TLSConfiguration? = nil,
        returning response: UnsafeMutablePointer<URLResponse?>?,
        in sessions: ConnectionSessions
    ) throws -> Data {
        guard !sessions.world.loop.isOnLoop else { throw ClientFailure.wouldWaitForItself.urlError(for: request.url) }
        let loop = sessions.world.loop
        let answer = Lock<(data: Data?, response: URLResponse?, error: (any Error)?)?>(nil)
        let isOver = DispatchSemaphore(value: 0)
        let task = sessions.sessionForWaiting(securedBy: tls).dataTask(with: request) { data, response, error in
            answer.withLock { $0 = (data, response, error) }
            // A child made by `fork` has no loop, and calls back on this thread.
            if loop.isOnLoop { loop.wake(isOver) } else { isOver.signal() }
        }
        loop.runWhileWaiting(begin: task.resume) { answer.withLock { $0 != nil } }
        isOver.wait()
        guard let (data, received, error) = answer.withLock({ $0 }) else { throw URLError(.unknown) }
        response?.pointee = received
        guard let data else { throw error ?? URLError(.unknown) }
        return data
    }
}
