import AFBase
import AFLoop
import AFState
import Foundation

/// Says what the session knows of a task that ends: to its delegate, its handle and the monitors.
struct TaskReporter {
    private let load: Load
    private var session: SessionCore { load.session }

    init(_ load: Load) {
        self.load = load
    }

    func report(_ error: (any Error)?) {
        guard let task = load.handle else { return }
        var recipient: (any URLSessionTaskDelegate)?
        if let (delegate, _) = load.taskDelegate, !load.consumer.endsSilently,
            !session.isMissing(.collectedMetrics, in: delegate)
        {
            recipient = delegate
        }
        let keeps = load.keepsMetrics || session.settings.monitoring.keepsMetrics
        guard recipient != nil || keeps || load.trace != nil else { return }
        let now = session.loop.now
        if recipient != nil || keeps, let metrics = metrics() { finish(metrics, for: recipient, task: task) }
        load.trace?.completed(
            outcome(error, after: load.time.started ?? now, now: now),
            exchanges: RecordedExchange.list(
                attempts(of: task),
                body: load.trace?.body,
                messages: load.trace?.messages,
                error: error,
                now: now
            )
        )
    }

    /// When each phase of the task happened; nil if the task never ran.
    func metrics() -> URLSessionTaskMetrics? {
        guard let started = load.time.started, let task = load.handle else { return nil }
        let exchanges: URLSessionTaskMetrics.Exchanges
        if let concluded = load.concluded, let request = load.presentRequest, case .ready(let sent) = load.request {
            exchanges = .one(concluded.times, sent, request, load.response)
        } else if load.memory == nil, let transfer = load.transfer, let times = transfer.onlyAttempt,
            let request = load.presentRequest
        {
            exchanges = .one(times, transfer.request, request, load.response)
        } else {
            exchanges = .several(attempts(of: task))
        }
        let redirects = load.memory?.redirects ?? 0
        return URLSessionTaskMetrics(exchanges, redirects: redirects, started: started, ended: session.loop.now)
    }

    private func finish(
        _ metrics: URLSessionTaskMetrics,
        for recipient: (any URLSessionTaskDelegate)?,
        task: URLSessionTask
    ) {
        if load.keepsMetrics || session.settings.monitoring.keepsMetrics {
            load.snapshot.withLock { $0.metrics = metrics }
        }
        guard let recipient else { return }
        // The collector only keeps the metrics, so its task need not wait for the delegate queue.
        if let collector = load.ownDelegate as? TaskMetricsCollector { return collector.take(metrics) }
        load.delegateGoesFirst = true
        session.outbox.post(.block { recipient.urlSession(task.session, task: task, didFinishCollecting: metrics) })
    }

    private func attempts(of task: URLSessionTask) -> [ExchangeAttempt] {
        var exchanges = load.memory?.former ?? []
        if let foreign = load.memory?.foreign, foreign.hasBegun, let request = load.presentRequest {
            exchanges.append(foreign.record(of: request, response: load.response))
        } else if let transfer = load.transfer, let request = load.presentRequest {
            let (response, proof) = (load.response, load.proof(in: load.response))
            exchanges.append(ExchangeRecord(.transfer(transfer), request: request, response: response, proof: proof))
        } else if let last = exchanges.popLast() {
            let delivered = load.snapshot.withLock { $0.received }
            exchanges.append(last.ended(at: session.loop.now, delivered: delivered))
        }
        return exchanges.flatMap(\.attempts)
    }

    private func outcome(_ error: (any Error)?, after started: LoopInstant, now: LoopInstant) -> SessionEvent.Outcome {
        let failure = error as? URLError
        let (sent, received) = load.snapshot.withLock { ($0.sent, $0.received) }
        return SessionEvent.Outcome(
            status: (load.response as? HTTPURLResponse)?.statusCode,
            // An error of the program may contain anything, also a secret.
            errorCode: failure?.code ?? error.map { _ in .unknown },
            message: failure?.loadFailure?.message ?? error.map { "\(type(of: $0))" },
            seconds: Double(started.nanoseconds(to: now)) / 1e9,
            bytesSent: sent,
            bytesReceived: received,
            redirects: load.memory?.redirects ?? 0
        )
    }
}
