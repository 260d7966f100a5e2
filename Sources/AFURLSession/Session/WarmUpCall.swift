import AFLoop
import AFTransport
import AFURLTypes
import AFWire
import Foundation

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
    /// Where it leads, once that is known.
    private var endpoint: Endpoint?
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
        let request = try Result { () throws(RequestRejection) in
            try RequestFreezer.freeze(URLRequest(url: url), defaults: session.headers)
        }.mapError(LoadError.rejected).get()
        endpoint = request.endpoint
        return request
    }

    func cancel() { end(.failure(core.isInvalidated ? .sessionInvalidated : .cancelled)) }

    private func end(_ result: Result<Int, LoadError>) {
        guard !isOver else { return }
        isOver = true
        leave()
        core.sleepers[ObjectIdentifier(self)] = nil
        let given = result.mapError { [url, endpoint] in $0.urlError(for: url, peer: endpoint) as any Error }
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

    // It sends none.
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
