import AFLoop
import AFState
import Foundation

// What the session knows of a task when it ends.

extension Load {
    func finishMetrics(_ error: (any Error)?) {
        guard let task = handle else { return }
        var recipient: (any URLSessionTaskDelegate)?
        if let (delegate, _) = taskDelegate, !consumer.endsSilently, !session.isMissing(.collectedMetrics, in: delegate)
        {
            recipient = delegate
        }
        let keeps = keepsMetrics || session.settings.monitoring.keepsMetrics
        guard recipient != nil || keeps || trace != nil else { return }
        let now = session.loop.now
        if recipient != nil || keeps, let metrics = metrics() { finish(metrics, for: recipient, task: task) }
        trace?.completed(
            outcome(error, after: started ?? now, now: now),
            exchanges: RecordedExchange.list(
                attempts(of: task),
                body: trace?.body,
                messages: trace?.messages,
                error: error,
                now: now
            )
        )
    }

    /// Lets go of a transfer whose connection goes on without it, perhaps for days. Keeps what the metrics read if a
    /// delegate or the program may ask for them.
    func letGoOfTransfer() {
        let mayBeAsked = taskDelegate.map { !session.isMissing(.collectedMetrics, in: $0.delegate) } ?? false
        if mayBeAsked || keepsMetrics || session.settings.monitoring.keepsMetrics || trace != nil {
            guard let transfer, memory == nil, trace == nil, transfer.formerAttempts.isEmpty else { return }
            concluded = ConcludedTransfer(transfer)
        }
        transfer = nil
    }

    /// When each phase of the task happened; nil if the task never ran.
    func metrics() -> URLSessionTaskMetrics? {
        guard let started, let handle else { return nil }
        let exchanges: URLSessionTaskMetrics.Exchanges
        if let concluded, let request = presentRequest, case .ready(let sent) = self.request {
            exchanges = .one(concluded.times, sent, request, response)
        } else if memory == nil, let transfer, transfer.formerAttempts.isEmpty, let request = presentRequest {
            exchanges = .one(transfer.times, transfer.request, request, response)
        } else {
            exchanges = .several(attempts(of: handle))
        }
        let redirects = memory?.redirects ?? 0
        return URLSessionTaskMetrics(exchanges, redirects: redirects, started: started, ended: session.loop.now)
    }

    private func finish(
        _ metrics: URLSessionTaskMetrics,
        for recipient: (any URLSessionTaskDelegate)?,
        task: URLSessionTask
    ) {
        if keepsMetrics || session.settings.monitoring.keepsMetrics { snapshot.withLock { $0.metrics = metrics } }
        guard let recipient else { return }
        // The collector only keeps the metrics, so its task need not wait for the delegate queue.
        if let collector = ownDelegate as? TaskMetricsCollector { return collector.take(metrics) }
        announcesMetrics = true
        session.outbox.post(.block { recipient.urlSession(task.session, task: task, didFinishCollecting: metrics) })
    }

    /// Resumes the Swift tasks that await the task: behind its metrics, if the delegate queue calls a delegate with
    /// them.
    var resumptions: CallbackOutbox { announcesMetrics ? session.outbox : session.resumptions }

    private func attempts(of task: URLSessionTask) -> [ExchangeAttempt] {
        var exchanges = memory?.former ?? []
        if let foreign = memory?.foreign, foreign.hasBegun, let request = presentRequest {
            exchanges.append(foreign.record(of: request, response: response))
        } else if let transfer, let request = presentRequest {
            let proof = proof(in: response)
            exchanges.append(ExchangeRecord(.transfer(transfer), request: request, response: response, proof: proof))
        } else if let last = exchanges.popLast() {
            let delivered = snapshot.withLock { $0.received }
            exchanges.append(last.ended(at: session.loop.now, delivered: delivered))
        }
        return exchanges.flatMap(\.attempts)
    }

    /// Whether the response to the present exchange proves that the server knows the password.
    func proof(in response: URLResponse?) -> DigestAnswer.Proof {
        response == nil ? .absent : memory?.authentication?.machine.proof ?? .absent
    }

    private func outcome(_ error: (any Error)?, after started: LoopInstant, now: LoopInstant) -> SessionEvent.Outcome {
        let failure = error as? URLError
        let (sent, received) = snapshot.withLock { ($0.sent, $0.received) }
        return SessionEvent.Outcome(
            status: (response as? HTTPURLResponse)?.statusCode,
            // An error of the program may contain anything, also a secret.
            errorCode: failure?.code ?? error.map { _ in .unknown },
            message: failure?.loadFailure?.message ?? error.map { "\(type(of: $0))" },
            seconds: Double(started.nanoseconds(to: now)) / 1e9,
            bytesSent: sent,
            bytesReceived: received,
            redirects: memory?.redirects ?? 0
        )
    }
}
