import AFBase
import AFLoop
import AFState
import AFTransport
import AFWire
import Foundation

/// Gives the responses of a load to the cache.
struct ResponseKeeper {
    private let load: Load

    init(_ load: Load) {
        self.load = load
    }

    /// Takes the body for the cache; nil if the response must not be stored.
    func writer(for response: HTTPURLResponse, to request: WireRequest, of transfer: Transfer) -> CacheWriter? {
        let cache = load.cache
        guard cache.mayStore(answerTo: request) else { return nil }
        let session = load.session
        if case .apart = load.consumer.caching { return nil }
        let asked = load.memory?.validation?.question.request ?? request
        let question = CacheQuestion(
            request: asked,
            policy: request.cachePolicy ?? session.settings.cachePolicy,
            scope: load.scopeForStoring(asked.endpoint, from: transfer),
            cookies: load.cookieEpoch,
            decodes: session.decodesAnswer(to: request)
        )
        let writer = cache.beginStore(
            response.statusCode,
            version: response.version,
            headers: response.headers,
            for: question,
            sent: cache.moment(of: transfer.times.requestStarted),
            ticket: load.cacheTicket,
            announced: response.announcedLength,
            isDecoded: question.decodes
        )
        guard case .never = load.consumer.caching else { return writer }
        writer?.finish(as: nil)
        return nil
    }

    /// Stores a redirect without asking the delegate, and without reading more of its body than otherwise.
    func keepRedirect(_ pending: PendingResponse) {
        // A coded body would have to be decoded first, only for the cache.
        guard let transfer = pending.transfer, !pending.response.headers.contains("Content-Encoding"),
            let writer = writer(for: pending.response, to: transfer.request, of: transfer)
        else { return }
        pending.body.withUnsafeBytes { writer.append($0) }
        switch pending.end {
        case nil: load.memory?.redirectWriter = writer
        case .finished: writer.finish()
        case .failed: break
        }
    }

    /// The task has the complete body: gives it to the cache unless the delegate objects, and then completes the task.
    /// Its owner finds in the cache what the delegate has admitted.
    func keep(_ stored: (any StorableResponse)?) {
        guard let stored else { return load.completeStored() }
        let session = load.session
        guard case .ifDelegateAdmits = load.consumer.caching, let (delegate, task) = load.dataDelegate,
            !session.isMissing(.willCacheResponse, in: delegate), decidesOnCaching(delegate),
            let url = load.response?.url, let request = load.presentRequest, let proposal = stored.proposal(at: url)
        else { return finish(stored, proposal: nil, answer: nil) }
        // Keeps an answer that comes while the task is suspended.
        _ = load.memory(beginningWith: request)
        let ticket = load.beginWait(asking: .caching)
        // A delegate that never answers does not keep the task alive.
        let question = Question<CachedURLResponse?> { [weak load] answer in
            load?.answered(ticket) { ResponseKeeper($0).finish(stored, proposal: proposal, answer: answer) }
        }
        let loop = session.loop
        let asked = LoopBound(confined: question, on: loop)
        session.outbox.post(
            .block {
                delegate.urlSession(
                    task.session,
                    dataTask: task,
                    willCacheResponse: proposal,
                    completionHandler: { answered in loop.enqueue { asked.value.answer(answered) } }
                )
            }
        )
        load.watchTime()
    }

    /// Whether the delegate has something to say, as far as it is one of a connection.
    private func decidesOnCaching(_ delegate: any URLSessionDataDelegate) -> Bool {
        guard load.session.settings.allowsEveryResponse else { return true }
        return (delegate as? any CachingDelegate)?.decidesOnCaching ?? true
    }

    /// - Parameters:
    ///   - proposal: What the delegate was asked about; nil if it was not.
    ///   - answer: What it wants to be stored.
    private func finish(
        _ stored: any StorableResponse,
        proposal: CachedURLResponse?,
        answer: CachedURLResponse?
    ) {
        if answer != nil || proposal == nil, stored.isForDisk { load.cache.cache?.warnIfWithoutFolder() }
        if answer === proposal { stored.finish() } else { stored.finish(as: answer) }
        load.completeStored()
    }
}

/// A response whose body is complete, for the cache. Confined to the loop.
protocol StorableResponse: AnyObject {
    /// Whether it would be stored where a disk could keep it.
    var isForDisk: Bool { get }
    /// What would be stored, for the delegate to decide on. Nil if nothing would be.
    func proposal(at url: URL) -> CachedURLResponse?
    /// Stores the response as it was received.
    func finish()
    /// Stores the response that the delegate returned; nil stores nothing.
    func finish(as answer: CachedURLResponse?)
}

extension CacheWriter: StorableResponse {}

extension Transfer {
    /// Whether a delegate decided about the connection's server: perhaps that of another task, if the connection is
    /// reused.
    var wasDecidedElsewhere: Bool {
        request.endpoint.isSecured && times.connection?.handshake?.wasDecidedElsewhere != false
    }
}
