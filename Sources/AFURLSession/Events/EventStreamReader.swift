import AFBase
import AFLoop
import Foundation

/// Calls closures for the events of a stream, in order, on the delegate queue of the session.
///
/// ```swift
/// let source = EventStreamReader(request, session: session) { event in
///     show(event.data)
/// } completion: { error in
///     report(error)
/// }
/// source.resume()
/// ```
///
/// The next event is read when the closure has returned, so a slow closure makes the server wait. It goes on until the
/// stream ends or ``cancel()``, also if you keep no reference to it: see ``EventStream``.
public final class EventStreamReader: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let stream: EventStream
    private let receive: @Sendable (ServerSentEvent) -> Void
    private let completion: @Sendable ((any Error)?) -> Void
    private let state = Lock(State())

    /// Loads nothing before ``resume()``.
    ///
    /// - Parameters:
    ///   - request: Any request: see ``URLSession/events(for:options:delegate:)``.
    ///   - session: Loads it, and has the queue of the closures.
    ///   - options: Whether and how the stream connects again, and its limits.
    ///   - delegate: Hears about the tasks; as an ``EventStreamDelegate`` also when the stream opens, waits to connect
    ///   again, and ends.
    ///   - receive: Is called with each event; no more after ``cancel()`` if that is called on the delegate queue.
    ///   - completion: Is called once at the end: with nil if the server has ended the stream, else with the error, which
    ///     is `URLError.cancelled` after ``cancel()``.
    public init(
        _ request: URLRequest,
        session: URLSession = .shared,
        options: EventStreamOptions = EventStreamOptions(),
        delegate: (any URLSessionTaskDelegate)? = nil,
        receive: @escaping @Sendable (ServerSentEvent) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void = { _ in }
    ) {
        stream = session.events(for: request, options: options, delegate: delegate)
        self.receive = receive
        self.completion = completion
    }

    /// Connects. Only the first call counts, and none after ``cancel()``.
    public func resume() {
        state.withLock { state in
            if state.task == nil { state.task = Task { await run() } }
        }
    }

    /// Ends the stream. A stream that has not been resumed is complete, too.
    public func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            if state.task == nil { state.task = Task { await run() } }
            return state.task
        }
        task?.cancel()
    }

    private var isCancelled: Bool { state.withLock { $0.isCancelled } }

    private func run() async {
        do {
            if isCancelled { throw URLError(.cancelled) }
            for try await event in stream { await deliver(event) }
            await end(nil)
        } catch {
            await end(isCancelled ? URLError(.cancelled) : error)
        }
    }

    private func deliver(_ event: ServerSentEvent) async {
        await stream.session.onDelegateQueue { [self] in
            if !isCancelled { receive(event) }
        }
    }

    private func end(_ error: (any Error)?) async {
        await stream.session.onDelegateQueue { [completion] in completion(error) }
    }
}

extension URLSession {
    /// Runs a closure where the session calls its delegate, behind the calls that wait there, and returns when it has
    /// run. Like all callbacks it runs even if the program cancels what its queue holds.
    func onDelegateQueue(_ body: @escaping @Sendable () -> Void) async {
        await withUnsafeContinuation { continuation in
            let callback: @Sendable () -> Void = {
                body()
                continuation.resume()
            }
            // In the child of a fork no loop would ever run it.
            guard world.unavailability() == nil else {
                return delegateQueue.addOperation(CallbackOperation(block: callback))
            }
            world.enqueue { [core] in core.value.outbox.post(.block(callback)) }
        }
    }
}
