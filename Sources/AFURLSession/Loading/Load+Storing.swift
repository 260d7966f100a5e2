import AFBase
import AFLoop
import AFState
import AFTransport
import AFWire
import Foundation

// What the load gives to the cache.

extension Load {
    /// Takes the body for the cache; nil if the response must not be stored.
    func cacheWriter(for response: HTTPURLResponse, of transfer: Transfer) -> CacheWriter? {
        let request = transfer.request
        guard cache.mayStore(answerTo: request) else { return nil }
        if case .apart = consumer.caching { return nil }
        let policy = request.cachePolicy ?? session.settings.cachePolicy
        let writer = cache.beginStore(
            response.statusCode,
            version: response.version,
            headers: response.headers,
            for: questionForStoring(memory?.validation?.question.request ?? request, from: transfer, policy: policy),
            sent: cache.moment(of: transfer.times.requestStarted),
            ticket: cacheTicket,
            announced: response.announcedLength,
            isDecoded: session.decodesAnswer(to: request)
        )
        guard case .never = consumer.caching else { return writer }
        writer?.finish(as: nil)
        return nil
    }

    /// Whether a delegate may decide about the server. A delegate that hands challenges on may have done so this time.
    func mayBeDecidedElsewhere(at endpoint: Endpoint) -> Bool {
        endpoint.scheme == .https && handshakeDelegate?.mayBeAsked == true
    }

    /// Stores the response for the tasks that would accept the connection it came over, and for no others. The next
    /// task looks where a delegate that may be asked leads it.
    func questionForStoring(
        _ request: WireRequest,
        from transfer: Transfer,
        policy: URLRequest.CachePolicy
    ) -> CacheQuestion {
        let isDecidedElsewhere = transfer.wasDecidedElsewhere || mayBeDecidedElsewhere(at: request.endpoint)
        return cacheQuestion(
            request,
            policy: policy,
            security: transfer.key.security,
            isDecidedElsewhere: isDecidedElsewhere
        )
    }

    func cacheQuestion(
        _ request: WireRequest,
        policy: URLRequest.CachePolicy,
        security: SecurityContext?,
        isDecidedElsewhere: Bool
    ) -> CacheQuestion {
        let scope = session.scopes.scope(
            of: request.endpoint,
            under: security,
            word: isDecidedElsewhere ? .delegate(trustJudge(for: request.endpoint)) : .none,
            isProven: false
        )
        return CacheQuestion(
            request: request,
            policy: policy,
            scope: scope,
            cookies: cookieEpoch,
            decodes: session.decodesAnswer(to: request)
        )
    }

    /// The task has the complete body: gives it to the cache unless the delegate objects, and then completes the task. Its
    /// owner finds in the cache what the delegate has admitted.
    func store() {
        let stored: (any StorableResponse)? = writer ?? memory?.foreign?.takeStorage()
        if writer != nil { trace?.note(.cacheStore) }
        writer = nil
        guard let stored else { return completeStored() }
        guard case .ifDelegateAdmits = consumer.caching, let (delegate, task) = dataDelegate,
            !session.isMissing(.willCacheResponse, in: delegate), let url = response?.url, let request = presentRequest,
            let proposal = stored.proposal(at: url)
        else {
            if stored.isForDisk { cache.cache?.warnIfWithoutFolder() }
            stored.finish()
            return completeStored()
        }
        // Keeps an answer that comes while the task is suspended.
        _ = memory(beginningWith: request)
        let ticket = beginWait(asking: .caching)
        // A delegate that never answers does not keep the task alive.
        let question = Question<CachedURLResponse?> { [weak self] answer in
            self?.answered(ticket) { load in load.store(stored, proposal: proposal, answer: answer) }
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
        watchTime()
    }

    /// The delegate has answered.
    private func store(
        _ stored: any StorableResponse,
        proposal: CachedURLResponse,
        answer: CachedURLResponse?
    ) {
        if answer != nil, stored.isForDisk { cache.cache?.warnIfWithoutFolder() }
        if answer === proposal { stored.finish() } else { stored.finish(as: answer) }
        completeStored()
    }
}

/// A response whose body is complete, for the cache. Confined to the loop.
protocol StorableResponse {
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
        request.endpoint.scheme == .https && times.connection?.handshake?.wasDecidedElsewhere != false
    }
}
