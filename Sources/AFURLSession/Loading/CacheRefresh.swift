import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

/// Asks a server about what was served from the cache meanwhile, on behalf of nobody but the cache. There is nobody to be
/// asked about the server either.
final class CacheRefresh: TransferClient {
    private let hit: CacheHit
    private let question: CacheQuestion
    private let session: SessionCore
    private let sent: CacheInstant
    private var writer: CacheWriter?

    private init(_ hit: CacheHit, _ question: CacheQuestion, _ session: SessionCore) {
        self.hit = hit
        self.question = question
        self.session = session
        sent = session.cache.moment()
    }

    /// - Parameter request: With the fields that make it conditional.
    static func begin(_ request: WireRequest, _ hit: CacheHit, _ question: CacheQuestion, in session: SessionCore) {
        guard !session.isInvalidated, !session.forbidsPlainText(to: request.endpoint),
            var key = try? session.connectionKey(for: request),
            session.refreshes.insert(hit.entry.id).inserted
        else { return }
        key.follow(session.settings.limits.socketOptions(for: request.limits))
        let refresh = CacheRefresh(hit, question, session)
        let transfer = Transfer(
            request,
            key: key,
            pool: session.pool,
            loop: session.loop,
            deadlines: session.deadlines,
            idleInterval: request.idleInterval ?? session.requestTimeout,
            hardDeadline: session.loop.now + session.resourceTimeout,
            asksForPipelining: false,
            client: refresh
        )
        transfer.start(priority: URLSessionTask.lowPriority, body: nil)
    }

    var handshakeDelegate: (any HandshakeDelegate)? { nil }

    /// A connection that no delegate was asked about, where one may want to be now, is for no other request.
    func presentJudge(of transfer: Transfer) -> TrustJudge? { .own(UniqueNumber.next()) }

    func transferSentBody(_ transfer: Transfer, total: Int64) {}

    func transferReceivedHead(_ transfer: Transfer, _ head: ResponseHead) {
        guard !transfer.wasDecidedElsewhere else { return transfer.cancel() }
        guard head.status != 304 else {
            _ = session.cache.confirm(hit, head.headers, sent: sent)
            return
        }
        // A coded body would have to be decoded first; whoever asks next will do that.
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

    /// There is nobody else who wants what comes.
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
