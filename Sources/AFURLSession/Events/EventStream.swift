import AFWire
public import Foundation

extension URLSession {
    /// The events that a server sends as `text/event-stream` (WHATWG HTML §9.2). Each iteration loads `request`.
    ///
    /// ```swift
    /// for try await event in session.events(for: request) { show(event.data) }
    /// ```
    ///
    /// - Parameters:
    ///   - request: Any request, also one with a body. `Accept` is set unless the request has it.
    ///   - options: Whether and how the stream connects again, and its limits.
    ///   - delegate: Hears about the tasks, as in ``bytes(for:delegate:)``; as an ``EventStreamDelegate`` also when the
    ///   stream opens, waits to connect again, and ends.
    public func events(
        for request: URLRequest,
        options: EventStreamOptions = EventStreamOptions(),
        delegate: (any URLSessionTaskDelegate)? = nil
    ) -> EventStream {
        EventStream(session: self, request: request, options: options, delegate: delegate)
    }

    /// The events at `url`, as ``events(for:options:delegate:)`` returns them.
    public func events(from url: URL, options: EventStreamOptions = EventStreamOptions()) -> EventStream {
        events(for: URLRequest(url: url), options: options)
    }
}

/// Events as they arrive: ``URLSession/events(for:options:delegate:)``.
///
/// The stream returns an event as soon as its empty line has arrived. A program that does not ask for the next one makes
/// the server wait. The stream ends with status 204, or with the response if it does not connect again. It throws for
/// another status and for a response that is no event stream, which the error then has
/// (`URLError.refusedResponse`); for what is longer than its limit; and for errors that would come back, as
/// those about certificates. A stream that is cancelled throws `URLError.cancelled`.
///
/// If the stream connects again, the request has the identifier of the last event as `Last-Event-ID`, unless that is no
/// text for a header field. A server that sends nothing for the request's `timeoutInterval` counts as gone. When the
/// session is invalidated, the stream throws, also while it waits to connect again. The events of a file or of a `data:`
/// URL are read once.
public struct EventStream: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    let session: URLSession
    let request: URLRequest
    let options: EventStreamOptions
    let delegate: (any URLSessionTaskDelegate)?
    /// Held also while the stream waits to connect again.
    private let sessionDelegate: (any URLSessionDelegate)?

    init(
        session: URLSession,
        request: URLRequest,
        options: EventStreamOptions,
        delegate: (any URLSessionTaskDelegate)?
    ) {
        self.session = session
        self.request = request
        self.options = options
        self.delegate = delegate
        sessionDelegate = session.lentDelegate
    }

    /// Connects when the first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Returns events one by one. Releasing it ends the load.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// A server that asks for no wait, and ends each response at once, would be asked without a pause.
        private static let leastDelay = Duration.milliseconds(100)

        private let stream: EventStream
        private var connection: EventConnection?
        /// The end of the stream has been returned, or an error thrown.
        private var isOver = false
        private var lastID: String
        private var retry: Duration
        /// The stream was open once.
        private var hasOpened = false
        /// How many attempts in a row have brought no event.
        private var failures = 0
        /// How many waits there were since the last event.
        private var waits = 0
        private var hasEvent = false

        init(_ stream: EventStream) {
            self.stream = stream
            lastID = stream.options.lastEventID
            retry = stream.options.initialDelay
        }

        /// The next event; nil at the end.
        public mutating func next() async throws -> ServerSentEvent? {
            try await next(isolation: nil)
        }

        /// The next event; nil at the end. Does not leave the caller's actor as long as an event is there.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            while !isOver {
                let ending: EventConnection.Ending
                do {
                    if let event = try await nextEvent(actor) {
                        (failures, waits, hasEvent) = (0, 0, true)
                        return event
                    }
                    ending = .complete
                } catch {
                    ending = .failed(error)
                }
                let isLast = connection.map { $0.isOver || !$0.isRemote } ?? false
                connection = nil
                guard let wait = isLast ? nil : waitToConnectAgain(after: ending) else {
                    try await end(ending.error, actor: actor)
                    return nil
                }
                let attempt = failures + 1
                await stream.tell(actor) {
                    $0.eventStream($1, willReconnectAfter: wait, attempt: attempt, because: ending.error)
                }
                do {
                    try await LoopSleep.sleep(for: wait, in: stream.session)
                } catch {
                    try await end(error, actor: actor)
                }
            }
            return nil
        }

        /// Nil at the end of a response.
        private mutating func nextEvent(_ actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            if connection == nil {
                let made = try await EventConnection.open(stream, lastID: lastID)
                connection = made
                if made.isOver { return nil }
                hasOpened = true
                await stream.tell(actor) { $0.eventStream($1, didOpen: made.response) }
            }
            defer { remember() }
            while let element = try await connection?.next(actor) {
                switch element {
                case .event(let event): return event
                case .comment(let text): await stream.tell(actor) { $0.eventStream($1, didReceiveComment: text) }
                }
            }
            return nil
        }

        /// What the next connection has to know, also if this one breaks.
        private mutating func remember() {
            guard let parser = connection?.parser else { return }
            lastID = parser.lastID
            if let milliseconds = parser.retry { retry = .milliseconds(Swift.min(milliseconds, Int(Int32.max))) }
        }

        private mutating func end(_ error: (any Error)?, actor: isolated (any Actor)?) async throws {
            isOver = true
            await stream.tell(actor) { $0.eventStream($1, didEndWith: error) }
            if let error { throw error }
        }

        // MARK: - Connecting again

        /// Nil if the stream does not connect again.
        private mutating func waitToConnectAgain(after ending: EventConnection.Ending) -> Duration? {
            let options = stream.options
            guard stream.connectsAgain, ending.mayHeal(options) else { return nil }
            if !hasEvent { failures += 1 }
            (waits, hasEvent) = (waits + 1, false)
            let most = hasOpened ? options.maximumAttempts : options.maximumInitialAttempts ?? options.maximumAttempts
            if let most, failures >= most { return nil }
            return delay(after: ending)
        }

        private func delay(after ending: EventConnection.Ending) -> Duration {
            let world = stream.session.world
            let asked = Swift.max(retry, ending.retryAfter(world.wallClock().seconds) ?? .zero, Self.leastDelay)
            let most = Swift.max(stream.options.maximumDelay, Self.leastDelay)
            return world.backOff(asked, after: waits, upTo: most)
        }
    }

    /// Calls the delegate, if it wants to hear of streams, and waits until it has returned.
    fileprivate func tell(
        _ actor: isolated (any Actor)?,
        call: @escaping @Sendable (any EventStreamDelegate, EventStream) -> Void
    ) async {
        guard let listener else { return }
        await session.onDelegateQueue { call(listener, self) }
    }

    /// The delegate, if it wants to hear of streams.
    var listener: (any EventStreamDelegate)? { (delegate ?? session.delegate) as? any EventStreamDelegate }

    private var connectsAgain: Bool {
        switch options.reconnection {
        case .always: true
        case .never: false
        case .automatic: MethodTraits.isSafe(request.httpMethod ?? "GET")
        }
    }
}
