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
    /// The rules under which the stored response was found, and under which its successor is stored.
    private let security: SecurityContext?
    /// The request of the task that got the stored response.
    let presentRequest: URLRequest?
    let session: SessionCore
    let cache: CacheAccess
    private let sent: CacheInstant
    private let ticket: CacheTicket
    private var writer: CacheWriter?
    /// Decodes the body, if it has a coding.
    private var content: CodedBody?
    private var decoding: Decoding?

    private init(hit: CacheHit, question: CacheQuestion, security: SecurityContext?, load: Load) {
        self.security = security
        self.hit = hit
        self.question = question
        presentRequest = load.presentRequest
        session = load.session
        cache = load.cache
        sent = cache.moment()
        ticket = cache.ticket
    }

    /// - Parameter request: The request with the fields that make it conditional.
    static func begin(_ request: WireRequest, hit: CacheHit, question: CacheQuestion, after load: Load) {
        let session = load.session
        // `beginRefresh` last: what it notes ends with the refresh (`deinit`), and behind it nothing may fail.
        guard !session.isInvalidated, let key = try? session.connectionKey(for: request, judgedBy: nil),
            session.beginRefresh(of: hit.entry.id)
        else { return }
        let refresh = CacheRefresh(hit: hit, question: question, security: key.security, load: load)
        let transfer = Transfer(
            request: request,
            key: key,
            pool: session.pool,
            loop: session.loop,
            deadlines: session.deadlines,
            idleInterval: request.terms.idleInterval ?? session.requestTimeout,
            time: TaskTime(from: session.loop.now, until: session.loop.now + session.resourceTimeout),
            asksForPipelining: false,
            client: refresh
        )
        // From here the pool holds the transfer, and that the refresh.
        transfer.start(priority: URLSessionTask.lowPriority, body: nil)
    }

    var handshakeDelegate: (any HandshakeDelegate)? { nil }

    /// No delegate decides about this connection, and one may want to now: keep the connection from all other requests.
    func presentJudge(of transfer: Transfer) -> TrustJudge? { .own(UniqueNumber.next()) }

    func forbids(_ request: WireRequest) -> Bool { session.forbids(request) }
    func forbidsTunnel(to endpoint: Endpoint) -> Bool { session.forbidsTunnel(to: endpoint) }
    func transferIsForbidden(_ transfer: Transfer) { transfer.cancel() }

    func transferSentBody(_ transfer: Transfer, total: Int64) {}

    func transferReceivedHead(_ transfer: Transfer, head: ResponseHead) {
        // The rules may have changed while it waited for a connection.
        guard !transfer.wasDecidedElsewhere, transfer.key.security === security else { return transfer.cancel() }
        for step in session.steps.learning { step.learn(from: head, of: transfer, for: self) }
        guard head.status != 304 else {
            _ = cache.confirm(hit, headers: head.headers, sent: sent)
            return
        }
        // RFC 9111 §4.3.3: an error of the server is no reason to lose the response that is stored.
        guard head.status < 500 else { return transfer.cancel() }
        writer = cache.beginStore(
            head.status,
            version: head.version,
            headers: head.headers,
            for: question,
            sent: sent,
            ticket: ticket,
            announced: head.contentLength.flatMap { Int64(exactly: $0) } ?? -1,
            isDecoded: question.decodes
        )
        if question.decodes {
            let decoding = Decoding(refresh: self, transfer: transfer)
            self.decoding = decoding
            content = CodedBody(
                plan: ContentPlan(head.headers, status: head.status),
                of: decoding,
                within: session.settings.content.limits,
                page: session.world.platform.contentPage.value,
                on: session.loop
            )
        }
        leaveIfNothingIsStored(transfer)
    }

    /// Only the cache wants this response: stop once it does not store it.
    private func leaveIfNothingIsStored(_ transfer: Transfer) {
        guard writer?.isStoring != true else { return }
        // First: this may be called from within a step of the decoder, which asks then whether its body still counts.
        content = nil
        transfer.cancel()
    }

    func transferMayDecode(_ transfer: Transfer) {
        content?.goOnSoon()
    }

    func transferReceivedBody(_ transfer: Transfer, bytes: UnsafeRawBufferPointer) {
        if let content { content.receive(bytes) } else { append(bytes, of: transfer) }
    }

    private func append(_ bytes: UnsafeRawBufferPointer, of transfer: Transfer) {
        writer?.append(bytes)
        leaveIfNothingIsStored(transfer)
    }

    func transferFinished(_ transfer: Transfer) {
        guard let content else { return finish() }
        // The transfer lets go of this refresh when the call returns, and decoding the rest may take more turns.
        decoding?.keeps(self)
        content.inputEnded()
    }

    private func finish() {
        writer?.finish()
        content = nil
    }

    func transferFailed(_ transfer: Transfer, error: TransferError) {}

    deinit {
        session.endRefresh(of: hit.entry.id)
    }

    /// Between the refresh and the body that it decodes. It holds the refresh only once the transfer, which does so until
    /// then, has ended.
    private final class Decoding: DecodedBodyTarget {
        private weak var refresh: CacheRefresh?
        private let transfer: Transfer
        private var kept: CacheRefresh?

        init(refresh: CacheRefresh, transfer: Transfer) {
            self.refresh = refresh
            self.transfer = transfer
        }

        func keeps(_ refresh: CacheRefresh) {
            kept = refresh
        }

        var mayDecode: Bool { transfer.pauses.isSubset(of: .undecoded) }
        func isDecoding(_ body: CodedBody) -> Bool { refresh?.content === body }
        func deliver(decoded bytes: UnsafeRawBufferPointer) { refresh?.append(bytes, of: transfer) }
        func pause(_ reason: Transfer.Pauses) { transfer.pause(reason) }
        func unpause(_ reason: Transfer.Pauses) { transfer.unpause(reason) }

        func finishReceiving() {
            refresh?.finish()
            kept = nil
        }

        func fail(_ error: LoadError) {
            refresh?.content = nil
            transfer.cancel()
            kept = nil
        }
    }
}
