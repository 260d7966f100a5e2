import AFLoop
import AFState
import AFTransport
import AFWire
import Foundation

/// The stored response that a request asks the server about.
struct CacheValidation {
    let question: CacheQuestion
    let hit: CacheHit
    let sent: CacheInstant
    /// The rules for the server under which the stored response was found.
    let security: SecurityContext?
    /// The cache asks for a 304. Otherwise the stored response can only stand in for an error.
    let isConditional: Bool
}

/// Answers requests from the cache, asks the server about stored responses, and puts these in place of failures.
final class CacheStep: LoadStep {
    func prepare(_ draft: inout RequestDraft, of load: any LoadView) -> Preparation {
        guard let request = draft.wire.frozen else { return .goOn }
        let (session, cache) = (load.session, load.cache)
        let policy = request.cachePolicy ?? session.settings.cachePolicy
        if !draft.hasFields {
            draft.cacheTicket = cache.ticket
            draft.cookieEpoch = session.epoch(ofCookiesAddedTo: request)
            guard cache.mayHelp(request, policy: policy) else { return .goOn }
            // The cache tells responses that vary by cookies or credentials apart by these fields. A body that is not
            // ready yet changes the head, but then the cache has no answer.
            if draft.body == nil, load.isPrepared(for: request) { return .withFields }
        }
        let security = request.endpoint.isSecured ? session.currentSecurity() : nil
        let isDecidedElsewhere = load.mayBeDecidedElsewhere(at: request.endpoint)
        let question = CacheQuestion(
            request: request,
            policy: policy,
            scope: load.scopeForStoring(request.endpoint, under: security, isDecidedElsewhere: isDecidedElsewhere),
            cookies: draft.cookieEpoch,
            decodes: session.decodesAnswer(to: request)
        )
        let asked = session.loop.now
        switch cache.glance(question) {
        case .known(let finding):
            return act(on: finding, of: question, under: security, asked: asked, draft: &draft, load: load)
        case .onDisk(let look):
            return .later(asking: nil) { [self] reply in
                cache.ask(look) { finding in
                    reply { [self] draft, load in
                        // What the cache found may have changed while the task was suspended: look it up again.
                        guard load.memory?.takePostponement() != true else {
                            draft.dropFields()
                            return .goOnAt(.security)
                        }
                        return act(on: finding, of: question, under: security, asked: asked, draft: &draft, load: load)
                    }
                }
            }
        }
    }

    private func act(
        on finding: CacheFinding,
        of question: CacheQuestion,
        under security: SecurityContext?,
        asked: LoopInstant,
        draft: inout RequestDraft,
        load: any LoadView
    ) -> Preparation {
        switch finding {
        case .network(let fields):
            load.trace?.note(.cacheMiss)
            draft.wire = .ready(question.request.adding(fields))
            return .goOn
        case .serve(let hit): return .answer(StoredAnswer(hit: hit, request: question.request, asked: asked))
        case .serveAndValidate(let hit, let fields):
            var answer = StoredAnswer(hit: hit, request: question.request, asked: asked)
            // A refresh has no task, so no delegate could decide about the server.
            if !load.mayBeDecidedElsewhere(at: question.request.endpoint) {
                answer.refresh = (question.request.adding(fields), question)
            }
            return .answer(answer)
        case .validate(let hit, let fields):
            guard let present = load.presentRequest else { return .goOn }
            load.trace?.note(fields.isEmpty ? .cacheMiss : .cacheValidation)
            load.memory(beginningWith: present).validation = CacheValidation(
                question: question,
                hit: hit,
                sent: load.cache.moment(),
                security: security,
                isConditional: !fields.isEmpty
            )
            draft.wire = .ready(question.request.adding(fields))
            return .goOn
        case .fail:
            load.trace?.note(.cacheMiss)
            return .fail(.notCached)
        }
    }

    // MARK: - After the server's response

    /// RFC 9111 §4.4: what the request has changed is outdated, whatever becomes of the response.
    func learn(from head: ResponseHead, of transfer: Transfer, for owner: any RequestOwner) {
        let request = transfer.request
        guard request.head.traits.mayHaveBody || request.head.traits.isHead else { return }
        owner.cache.note(head.status, headers: head.headers, to: request)
    }

    func judge(_ outcome: ExchangeOutcome, of load: any LoadView) -> Verdict {
        guard let validation = load.memory?.validation else { return .pass }
        switch outcome {
        case .response(let pending) where pending.transfer.map { $0.key.security !== validation.security } ?? false:
            return judgeUnderOtherRules(pending, validation: validation, load: load)
        case .response(let pending): return judge(pending, validation: validation, load: load)
        case .failure(let failure): return judge(failure.error, validation: validation, load: load)
        case .foreignResponse, .foreignRedirect: return .pass
        }
    }

    /// Answers in place of a 304, and of an error of the server that a stored response may replace.
    private func judge(_ pending: PendingResponse, validation: CacheValidation, load: any LoadView) -> Verdict {
        let cache = load.cache
        let request = validation.question.request
        let status = pending.response.statusCode
        if status == 304, validation.isConditional {
            let confirmation = cache.confirm(
                validation.hit,
                headers: pending.response.headers,
                sent: validation.sent,
                mayStore: pending.transfer.map { mayConfirm(validation, over: $0, load: load) } ?? false
            )
            switch confirmation {
            case .serve(let hit): return .answer(StoredAnswer(hit: hit, request: request, isConfirmed: true))
            // The stored response cannot be used: send the request without conditions.
            case .ask:
                guard let present = load.presentRequest else { return .pass }
                return .send(NextRequest(present, inPlaceOf: request))
            }
        }
        guard status >= 500, cache.mayReplaceError(status, with: validation.hit) else { return .pass }
        return .answer(StoredAnswer(hit: validation.hit, request: request))
    }

    /// The rules for the server have changed since the look-up, so the stored response counts no more.
    private func judgeUnderOtherRules(
        _ pending: PendingResponse,
        validation: CacheValidation,
        load: any LoadView
    ) -> Verdict {
        guard pending.response.statusCode == 304, validation.isConditional, let present = load.presentRequest else {
            return .pass
        }
        return .send(NextRequest(present, inPlaceOf: validation.question.request))
    }

    /// Whether the server's 304 came over a connection that all tasks that may get the stored response would accept.
    private func mayConfirm(_ validation: CacheValidation, over transfer: Transfer, load: any LoadView) -> Bool {
        guard transfer.wasDecidedElsewhere else { return true }
        let scope = load.scopeForStoring(validation.question.request.endpoint, from: transfer)
        return validation.hit.entry.head.partition.scope == scope
    }

    /// Answers although the load could not ask the server.
    private func judge(_ error: LoadError, validation: CacheValidation, load: any LoadView) -> Verdict {
        guard case .nothing = load.delivered, error.isSilence,
            load.cache.mayReplaceError(nil, with: validation.hit)
        else { return .pass }
        return .answer(StoredAnswer(hit: validation.hit, request: validation.question.request))
    }
}

extension LoadView {
    /// Stores the response for the tasks that would accept the connection it came over, and for no others. The next
    /// task looks where a delegate that may be asked leads it.
    func scopeForStoring(_ endpoint: Endpoint, from transfer: Transfer) -> TrustScope {
        let isDecidedElsewhere = transfer.wasDecidedElsewhere || mayBeDecidedElsewhere(at: endpoint)
        return scopeForStoring(endpoint, under: transfer.key.security, isDecidedElsewhere: isDecidedElsewhere)
    }

    func scopeForStoring(
        _ endpoint: Endpoint,
        under security: SecurityContext?,
        isDecidedElsewhere: Bool
    ) -> TrustScope {
        session.scopes.scope(
            of: endpoint,
            under: security,
            word: isDecidedElsewhere ? .delegate(trustJudge(for: endpoint)) : .none,
            isProven: false
        )
    }
}

extension SessionCore {
    /// None if the caller has added some of its own.
    fileprivate func epoch(ofCookiesAddedTo request: WireRequest) -> CookieEpoch {
        guard let cookies, !cookies.isEmpty, !request.head.fields.contains("Cookie") else { return .none }
        return cookies.epoch
    }
}

extension WireRequest {
    /// The request with those of the fields that it does not have.
    fileprivate func adding(_ fields: HTTPHeaders) -> WireRequest {
        fields.isEmpty ? self : changing { $0.fields.add(lacking: fields) }
    }
}

extension LoadError {
    /// Whether no server has answered, for another reason than a doubt about its identity.
    fileprivate var isSilence: Bool {
        switch self {
        case .transfer(.dial), .transfer(.channel), .transfer(.timedOut), .transfer(.unserved),
            .transfer(.overdue):
            true
        case .transfer(.wire(let error)): if case .closed = error.kind { true } else { false }
        default: false
        }
    }
}

extension LoadMemory {
    /// The stored response that the present request asks the server about.
    var validation: CacheValidation? {
        get { self[CacheValidation.self] }
        set { self[CacheValidation.self] = newValue }
    }
}
