import AFLoop
import AFState
import AFTransport
import Foundation

/// What the session knows of one exchange when its task ends.
struct ExchangeRecord {
    enum Source {
        /// A transfer, which may not be over yet.
        case transfer(Transfer)
        /// A response of the cache, with the times it took.
        case cache(TransferTimes, WireRequest)
        /// A load without a connection: by a URL protocol class, of a `data:` URL or of a file.
        case times(TransferTimes, URLSessionTaskMetrics.ResourceFetchType)
    }

    private let source: Source
    let request: URLRequest
    let response: URLResponse?
    /// Whether the response proves that the server knows the password.
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

    /// How many bytes the heads of its responses had, over all attempts.
    var responseHeadBytes: Int64 {
        guard case .transfer(let transfer) = source else { return 0 }
        return transfer.formerAttempts.reduce(transfer.times.responseHeadBytes) { $0 + $1.responseHeadBytes }
    }

    /// One for each time the session sent the request, or was about to.
    var attempts: [ExchangeAttempt] {
        switch source {
        case .cache(let times, let sent): [attempt(times, sent: sent, type: .localCache)]
        case .times(let times, let type): [attempt(times, sent: nil, type: type)]
        case .transfer(let transfer):
            transfer.formerAttempts.map {
                ExchangeAttempt(request: request, sent: transfer.request, times: $0, fetchType: .networkLoad)
            }
                + [attempt(transfer.times, sent: transfer.request, type: transfer.times.fetchType(response))]
        }
    }

    private func attempt(
        _ times: TransferTimes,
        sent: WireRequest?,
        type: URLSessionTaskMetrics.ResourceFetchType
    ) -> ExchangeAttempt {
        ExchangeAttempt(request: request, sent: sent, times: times, fetchType: type, response: response, proof: proof)
    }

    /// The same with its end, and with the bytes delivered since, if the response came from the cache.
    func ended(at now: LoopInstant, delivered: Int64) -> ExchangeRecord {
        guard case .cache(var times, let sent) = source else { return self }
        times.responseEnded = now
        times.decodedBodyBytes = delivered
        return ExchangeRecord(.cache(times, sent), request: request, response: response, proof: proof)
    }
}

/// What metrics and errors read of the only transfer of a load. Of its request they read what the task's own says too.
final class ConcludedTransfer {
    let times: TransferTimes

    init(times: TransferTimes) { self.times = times }

    func account(at now: LoopInstant) -> LoadAccount {
        LoadAccount(timings: times.timings(until: now, isReceiving: true), attempts: times.dial?.attempts ?? [])
    }
}

/// One time the session sent a request, or was about to.
struct ExchangeAttempt: Sendable {
    let request: URLRequest
    /// The request; nil if the session did not send it itself.
    let sent: WireRequest?
    let times: TransferTimes
    let fetchType: URLSessionTaskMetrics.ResourceFetchType
    let response: URLResponse?
    let proof: DigestAnswer.Proof

    init(
        request: URLRequest,
        sent: WireRequest?,
        times: TransferTimes,
        fetchType: URLSessionTaskMetrics.ResourceFetchType,
        response: URLResponse? = nil,
        proof: DigestAnswer.Proof = .absent
    ) {
        self.response = response
        self.proof = proof
        self.request = request
        self.sent = sent
        self.times = times
        self.fetchType = fetchType
    }
}

extension TransferTimes {
    /// A response without a request is a proxy's, to the request for a tunnel.
    func fetchType(_ response: URLResponse?) -> URLSessionTaskMetrics.ResourceFetchType {
        requestStarted == nil && response == nil ? .unknown : .networkLoad
    }
}
