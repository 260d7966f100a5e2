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
    fileprivate func makeSilentTask(_ request: URLRequest) -> URLSessionTask {
        let consumer = URLSessionTask.consumer(isAwaited: true, completion: nil)
        return URLSessionDataTask(request, identifier: 0, in: self, consumer: consumer, completion: nil)
    }
}

/// One call of `connect(to:count:)`, or an origin that has a minimum of idle connections.
///
/// A minimum makes one anew at once when a request has taken one, and otherwise after a wait, which grows while connections
/// do not last: a server that closes each at once is not asked again and again.
final class WarmUpCall: WarmUp, TimerTarget {
    let count: Int
    private var url: URL
    private let core: SessionCore
    private weak var session: URLSession?
    /// Nil: it goes on until the session ends.
    private let answer: AwaitedResult<Int>?
    private var key: ConnectionKey?
    /// The delegate is asked about it. Held as long as a handshake may ask.
    private var task: URLSessionTask?
    /// For a call: when it has taken too long. For a minimum: when it goes on.
    private var timer: TimerID?
    private var mayDial = true
    private var isOver = false
    private var failures = 0
    private var lastDial: LoopInstant?

    init(_ url: URL, count: Int, of session: URLSession, in core: SessionCore, answer: AwaitedResult<Int>?) {
        (self.url, self.count, self.session, self.core, self.answer) = (url, count, session, core, answer)
    }

    func begin() {
        guard !isOver, let session else { return }
        core.sleepers[ObjectIdentifier(self)] = { [self] in cancel() }
        if answer != nil, timer == nil {
            timer = core.loop.startTimer(at: core.loop.now + core.requestTimeout, for: self)
        }
        do throws(LoadError) {
            guard !core.isInvalidated else { throw .sessionInvalidated }
            let key = try judgedKey(in: session)
            self.key = key
            guard core.pool.begin(self, to: key) else { throw .transfer(.impossibleSocketPath) }
        } catch {
            fail(error)
        }
    }

    /// As of a request: first whether it may be without TLS, then by which way.
    private func judgedKey(in session: URLSession) throws(LoadError) -> ConnectionKey {
        var request = try frozen(in: session)
        if core.forbids(request) {
            guard let secured = core.withTLS(url, to: request.endpoint) else { throw .plainTextForbidden }
            url = secured
            request = try frozen(in: session)
        }
        return try core.connectionKey(for: request, judgedBy: nil)
    }

    private func frozen(in session: URLSession) throws(LoadError) -> WireRequest {
        try Result { () throws(RequestRejection) in
            try RequestFreezer.freeze(URLRequest(url: url), defaults: session.headers)
        }.mapError(LoadError.rejected).get()
    }

    func cancel() { end(.failure(core.isInvalidated ? .sessionInvalidated : .cancelled)) }

    private func end(_ result: Result<Int, LoadError>) {
        guard !isOver else { return }
        isOver = true
        leave()
        core.sleepers[ObjectIdentifier(self)] = nil
        let peer = session.flatMap { try? frozen(in: $0).endpoint }
        let given = result.mapError { [url] in $0.urlError(for: url, peer: peer) as any Error }
        if let answer { core.resumptions.post(.block { answer.give(given) }) }
    }

    private func leave() {
        task = nil
        if let timer = timer.take() { core.loop.cancelTimer(timer) }
        if let key { core.pool.end(self, to: key) }
    }

    private func fail(_ error: LoadError) {
        if answer == nil, case .transfer = error { waitMore() } else { end(.failure(error)) }
    }

    private func waitMore() {
        guard timer == nil, !isOver else { return }
        failures = lastDial.map { core.loop.now < $0 + Duration.seconds(10) } == true ? failures + 1 : 1
        let wait = core.world.backOff(.seconds(1), after: failures, upTo: .seconds(60))
        timer = core.loop.startTimer(at: core.loop.now + wait, for: self)
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        let late = TransferError.timedOut(.connecting, .nanoseconds(core.requestTimeout.nanoseconds))
        if answer == nil { startOver() } else { end(.failure(.transfer(late))) }
    }

    private func startOver() {
        leave()
        (mayDial, key) = (true, nil)
        begin()
    }

    // MARK: - From the pool

    var handshakeDelegate: (any HandshakeDelegate)? {
        guard let session, let key, core.delegate != nil else { return nil }
        let task = task ?? session.makeSilentTask(URLRequest(url: url))
        self.task = task
        return HandshakeChallenges(task: task, taskDelegate: core.taskDelegate, endpoint: key.endpoint, in: core)
    }

    func forbids(_ request: WireRequest) -> Bool { true }
    func forbidsTunnel(to endpoint: Endpoint) -> Bool { core.forbidsTunnel(to: endpoint) }

    func mayDial(afterUse: Bool) -> Bool {
        guard mayDial || afterUse && answer == nil else { return false }
        mayDial = false
        lastDial = core.loop.now
        return true
    }

    func isWarm(idle: Int) {
        task = nil
        if answer != nil { end(.success(max(0, min(idle, count)))) } else if idle < count { waitMore() }
    }

    func stopped(by error: TransferError?) {
        if let error { return fail(.transfer(error)) }
        let call = LoopBound(confined: self, on: core.loop)
        core.loop.enqueue { call.value.startOver() }
    }
}
