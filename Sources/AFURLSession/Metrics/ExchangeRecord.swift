import AFLoop
import AFTransport
import Foundation

/// What is known about one exchange once the task is over.
struct ExchangeRecord {
    enum Source {
        /// Which may not be over yet.
        case transfer(Transfer)
        /// Answered by the cache, in so much time.
        case cache(TransferTimes, WireRequest)
        /// Loaded by somebody else.
        case times(TransferTimes, URLSessionTaskMetrics.ResourceFetchType)
    }

    private let source: Source
    let request: URLRequest
    let response: URLResponse?
    /// What the response proves of who sent it.
    let proof: DigestAnswer.Proof

    init(
        _ source: Source,
        request: URLRequest,
        response: URLResponse?,
        proof: DigestAnswer.Proof = .absent
    ) {
        self.source = source
        self.request = request
        self.response = response
        self.proof = proof
    }

    /// Heads of responses, over all attempts.
    var responseHeadBytes: Int64 {
        guard case .transfer(let transfer) = source else { return 0 }
        return transfer.formerAttempts.reduce(transfer.times.responseHeadBytes) { $0 + $1.responseHeadBytes }
    }

    /// One for each time the request was sent, or was to be.
    var attempts: [ExchangeAttempt] {
        switch source {
        case .cache(let times, let sent): [attempt(times, sent, .localCache)]
        case .times(let times, let type): [attempt(times, nil, type)]
        case .transfer(let transfer):
            transfer.formerAttempts.map { ExchangeAttempt(request, transfer.request, $0, .networkLoad) }
                + [attempt(transfer.times, transfer.request, transfer.times.fetchType(response))]
        }
    }

    private func attempt(
        _ times: TransferTimes,
        _ sent: WireRequest?,
        _ type: URLSessionTaskMetrics.ResourceFetchType
    ) -> ExchangeAttempt {
        var attempt = ExchangeAttempt(request, sent, times, type)
        attempt.response = response
        attempt.proof = proof
        return attempt
    }

    /// The same, if it came from the cache, with what was made of it since.
    func ended(at now: LoopInstant, delivered: Int64) -> ExchangeRecord {
        guard case .cache(var times, let sent) = source else { return self }
        times.responseEnded = now
        times.decodedBodyBytes = delivered
        return ExchangeRecord(.cache(times, sent), request: request, response: response, proof: proof)
    }
}

/// One time a request was sent, or was to be.
struct ExchangeAttempt {
    let request: URLRequest
    /// What was sent; nil if it was not by us.
    let sent: WireRequest?
    let times: TransferTimes
    let fetchType: URLSessionTaskMetrics.ResourceFetchType
    var response: URLResponse?
    var proof = DigestAnswer.Proof.absent

    init(
        _ request: URLRequest,
        _ sent: WireRequest?,
        _ times: TransferTimes,
        _ fetchType: URLSessionTaskMetrics.ResourceFetchType
    ) {
        self.request = request
        self.sent = sent
        self.times = times
        self.fetchType = fetchType
    }
}

extension TransferTimes {
    /// A response without a request is that of a proxy, which was asked for a tunnel.
    fileprivate func fetchType(_ response: URLResponse?) -> URLSessionTaskMetrics.ResourceFetchType {
        requestStarted == nil && response == nil ? .unknown : .networkLoad
    }
}
