import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

// Answers from the cache, and answers for it.

/// What the server is asked about.
struct CacheValidation {
    let question: CacheQuestion
    let hit: CacheHit
    let sent: CacheInstant
}

extension TaskCore {
    /// Finds out whether the cache has the answer.
    ///
    /// - Parameter onwards: Sends the request, with what the cache has added to it.
    func lookUp(
        _ request: WireRequest,
        _ policy: URLRequest.CachePolicy,
        _ onwards: @escaping (WireRequest) -> Void
    ) {
        let endpoint = request.endpoint
        let question = cacheQuestion(
            request,
            policy,
            endpoint.scheme == .https ? session.currentSecurity() : nil,
            isDecidedElsewhere: isDecidedElsewhere(endpoint)
        )
        let asked = session.loop.now
        var isAnswered = false
        session.cache.lookUp(question) { [self] finding in
            isAnswered = true
            guard isLoading else { return }
            postponeIfSuspended { [self] in act(on: finding, of: question, asked: asked, onwards) }
        }
        if !isAnswered { startClock() }
    }

    private func isDecidedElsewhere(_ endpoint: Endpoint) -> Bool {
        endpoint.scheme == .https && handshakeDelegate?.mayBeAsked == true
    }

    private func act(
        on finding: CacheFinding,
        of question: CacheQuestion,
        asked: LoopInstant,
        _ onwards: (WireRequest) -> Void
    ) {
        guard isLoading, let present = presentRequest else { return }
        switch finding {
        case .network(let fields):
            trace?.note(.cacheMiss)
            onwards(question.request.adding(fields))
        case .serve(let hit): serve(hit, for: question.request, asked: asked)
        case .serveAndValidate(let hit, let fields):
            // Without a task nobody could be asked about the server.
            if !isDecidedElsewhere(question.request.endpoint) {
                CacheRefresh.begin(question.request.adding(fields), hit, question, in: session)
            }
            serve(hit, for: question.request, asked: asked)
        case .validate(let hit, let fields):
            trace?.note(.cacheValidation)
            let validation = CacheValidation(question: question, hit: hit, sent: session.cache.moment())
            let course = course(beginningWith: present)
            onwards(question.request.adding(fields))
            course.validation = validation
        case .fail:
            trace?.note(.cacheMiss)
            fail(.notCached)
        }
    }

    private func cacheQuestion(
        _ request: WireRequest,
        _ policy: URLRequest.CachePolicy,
        _ security: SecurityContext?,
        isDecidedElsewhere: Bool
    ) -> CacheQuestion {
        let partition = session.cache.partition(
            for: request.endpoint,
            security: security,
            isDecidedElsewhere: isDecidedElsewhere,
            by: trustJudge(for: request.endpoint),
            through: session.settings.unixDomainSocketPath
        )
        return CacheQuestion(
            request: request,
            policy: policy,
            partition: partition.reached(at: request.endpoint, within: session.settings.limits),
            decodes: session.decodesContent
        )
    }

    /// Answers with what the cache has, as if it had come from the network: redirects, too, are followed.
    ///
    /// - Parameters:
    ///   - asked: When the cache was asked; nil if it was just now.
    ///   - isConfirmed: Whether the server has just said that it is still good.
    private func serve(
        _ hit: CacheHit,
        for request: WireRequest,
        asked: LoopInstant? = nil,
        isConfirmed: Bool = false
    ) {
        guard let present = presentRequest else { return }
        let hit = isConfirmed ? hit : hit.unconfirmed(at: session.cache.moment())
        let now = session.loop.now
        let times = TransferTimes(servedFromCacheAt: now, asked: asked ?? now)
        let record = ExchangeRecord(.cache(times, request), request: present, response: hit.response)
        course(beginningWith: present).add(record)
        trace?.servedFromCache()
        let held = HeldResponse(hit, for: request)
        if held.mayRedirect { decideSoon(about: held) } else { deliver(held) }
        if transfer == nil { startClock() }
    }

    /// Not here: the next hop may be in the cache as well, and so may many more, each a few calls deeper on the stack.
    private func decideSoon(about held: HeldResponse) {
        hold(held)
        let waiting = LoopBound(confined: (core: self, held: held), on: session.loop)
        session.loop.enqueue(in: .all) {
            let (core, held) = waiting.value
            core.postponeIfSuspended {
                guard core.isLoading, core.course?.held === held else { return }
                if !core.redirects(held) { core.deliver(held) }
            }
        }
    }

    // MARK: - The server was asked

    /// True if the response only says that, or makes it so that, the cache has the answer.
    func isAnsweredByCache(_ held: HeldResponse) -> Bool {
        guard let validation = course?.validation else { return false }
        let status = held.response.statusCode
        if status == 304 {
            let confirmation = session.cache.confirm(
                validation.hit,
                held.response.headers,
                sent: validation.sent,
                mayStore: held.transfer.map { mayConfirm(validation, over: $0) } ?? false
            )
            leave(held.response)
            switch confirmation {
            case .serve(let hit): serve(hit, for: validation.question.request, isConfirmed: true)
            case .ask: askForAll(validation.question.request)
            }
            return true
        }
        guard status >= 500, session.cache.mayReplaceError(status, with: validation.hit) else { return false }
        leave(held.response)
        serve(validation.hit, for: validation.question.request)
        return true
    }

    /// Whether those who are answered with the hit would have believed the very connection it was confirmed by.
    private func mayConfirm(_ validation: CacheValidation, over transfer: Transfer) -> Bool {
        guard transfer.wasDecidedElsewhere else { return true }
        let question = storing(validation.question.request, from: transfer, validation.question.policy)
        return validation.hit.entry.head.partition.origin == question.partition.origin
    }

    /// The cache has nothing after all.
    private func askForAll(_ former: WireRequest) {
        guard let present = presentRequest else { return }
        repeatTask(as: present, inPlaceOf: former, nil, keepsBody: true, after: nil)
    }

    /// True if the cache has an answer although the server could not be asked.
    func isAnsweredByCache(_ error: LoadError) -> Bool {
        guard let validation = course?.validation, response == nil, error.isSilence,
            session.cache.mayReplaceError(nil, with: validation.hit)
        else { return false }
        leave(nil)
        serve(validation.hit, for: validation.question.request)
        return true
    }

    // MARK: - Storing

    /// Where the body goes that may be stored, if anywhere.
    func cacheWriter(for response: HTTPURLResponse, of transfer: Transfer) -> CacheWriter? {
        let request = transfer.request
        guard session.cache.mayStore(answerTo: request) else { return nil }
        let policy = request.cachePolicy ?? session.settings.cachePolicy
        return session.cache.beginStore(
            response.statusCode,
            response.version,
            response.headers,
            for: storing(course?.validation?.question.request ?? request, from: transfer, policy),
            sent: session.cache.moment(of: transfer.times.requestStarted),
            isDecoded: session.decodesContent
        )
    }

    /// What is stored belongs to those who would have believed the very connection it came by.
    private func storing(
        _ request: WireRequest,
        from transfer: Transfer,
        _ policy: URLRequest.CachePolicy
    ) -> CacheQuestion {
        cacheQuestion(request, policy, transfer.key.security, isDecidedElsewhere: transfer.wasDecidedElsewhere)
    }

    /// The body is complete and wanted, and may be stored if the task's owner does not mind.
    func store() {
        guard let writer else { return }
        self.writer = nil
        trace?.note(.cacheStore)
        guard consumer.asksAboutCaching, let (delegate, task) = dataDelegate,
            !session.isMissing(.willCacheResponse, in: delegate), let url = response?.url,
            let proposal = writer.proposal(at: url)
        else { return writer.finish() }
        let loop = session.loop
        let question = Question<CachedURLResponse?> { answer in
            if answer === proposal { writer.finish() } else { writer.finish(as: answer) }
        }
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
    }

    // MARK: - Suspended

    /// Runs `work` now, or when the task is suspended no longer.
    func postponeIfSuspended(_ work: @escaping () -> Void) {
        guard isSuspended, let present = presentRequest else { return work() }
        course(beginningWith: present).postponed = work
    }

    func doWhatWasPostponed() {
        guard let work = course?.postponed else { return }
        course?.postponed = nil
        work()
    }
}

extension WireRequest {
    /// With the fields it does not have.
    fileprivate func adding(_ fields: HTTPHeaders) -> WireRequest {
        var lacking: [HeadField] = []
        fields.forEach { name, value in
            let field = HeadField(Array(name), Array(value))
            if field.line(in: headBytes) == nil { lacking.append(field) }
        }
        return replacing(lacking)
    }
}

extension LoadError {
    /// Nobody has answered, for no reason that concerns who they are.
    fileprivate var isSilence: Bool {
        switch self {
        case .transfer(.dial), .transfer(.channel), .transfer(.timedOut), .transfer(.overdue): true
        case .transfer(.wire(let error)): if case .closed = error.kind { true } else { false }
        default: false
        }
    }
}
