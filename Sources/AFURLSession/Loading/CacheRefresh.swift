import AFBase
import AFLoop
import AFState
import AFTransport
import AFWire
import Foundation

/// Asks a server in the background about a stored response that a task has already got. No task gets the answer, so no
/// delegate could decide about the server; the cache and the steps that learn take what they need of it.
final class CacheRefresh: TransferClient, RequestOwner {
    private let hit: CacheHit
    private let question: CacheQuestion
    /// The request of the task that got the stored response.
    let presentRequest: URLRequest?
    let session: SessionCore
    private let sent: CacheInstant
    private var writer: CacheWriter?

    private init(_ hit: CacheHit, _ question: CacheQuestion, _ load: Load) {
        self.hit = hit
        self.question = question
        presentRequest = load.presentRequest
        session = load.session
        sent = session.cache.moment()
    }

    /// - Parameter request: The request with the fields that make it conditional.
    static func begin(_ request: WireRequest, _ hit: CacheHit, _ question: CacheQuestion, after load: Load) {
        let session = load.session
        guard !session.isInvalidated, !session.forbidsPlainText(to: request.endpoint),
            var key = try? session.connectionKey(for: request),
            session.refreshes.insert(hit.entry.id).inserted
        else { return }
        key.follow(session.settings.limits.link.socketOptions(for: request.terms.limits))
        let refresh = CacheRefresh(hit, question, load)
        let transfer = Transfer(
            request,
            key: key,
            pool: session.pool,
            loop: session.loop,
            deadlines: session.deadlines,
            idleInterval: request.terms.idleInterval ?? session.requestTimeout,
            hardDeadline: session.loop.now + session.resourceTimeout,
            asksForPipelining: false,
            client: refresh
        )
        transfer.start(priority: URLSessionTask.lowPriority, body: nil)
    }

    var handshakeDelegate: (any HandshakeDelegate)? { nil }

    /// No delegate decides about this connection, and one may want to now: keep the connection from all other requests.
    func presentJudge(of transfer: Transfer) -> TrustJudge? { .own(UniqueNumber.next()) }

    /// The policy may have changed while the request waited for a connection.
    func transferMayBegin(_ transfer: Transfer) -> Bool {
        guard session.forbidsPlainText(to: transfer.request.endpoint) else { return true }
        transfer.cancel()
        return false
    }

    func transferSentBody(_ transfer: Transfer, total: Int64) {}

    func transferReceivedHead(_ transfer: Transfer, _ head: ResponseHead) {
        guard !transfer.wasDecidedElsewhere else { return transfer.cancel() }
        for step in session.steps.learning { step.learn(from: head, of: transfer, for: self) }
        guard head.status != 304 else {
            _ = session.cache.confirm(hit, head.headers, sent: sent)
            return
        }
        // A coded body would have to be decoded first: leave it to the next task that asks.
        guard head.status < 500, !head.headers.contains("Content-Encoding") else { return transfer.cancel() }
        writer = session.cache.beginStore(
            head.status,
            head.version,
            head.headers,
            for: question,
            sent: sent,
            isDecoded: session.decodesContent
        )
        leaveIfNothingIsStored(transfer)
    }

    /// Only the cache wants this response: stop once it does not store it.
    private func leaveIfNothingIsStored(_ transfer: Transfer) {
        if writer?.isStoring != true { transfer.cancel() }
    }

    func transferMayDecode(_ transfer: Transfer) {}

    func transferReceivedBody(_ transfer: Transfer, _ bytes: UnsafeRawBufferPointer) {
        writer?.append(bytes)
        leaveIfNothingIsStored(transfer)
    }

    func transferFinished(_ transfer: Transfer) {
        writer?.finish()
    }

    func transferFailed(_ transfer: Transfer, _ error: TransferError) {}

    deinit {
        session.refreshes.remove(hit.entry.id)
    }
}
