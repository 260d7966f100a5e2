import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

// Responses from the cache, and responses for it.

/// The stored response that a conditional request asks the server about.
struct CacheValidation {
    let question: CacheQuestion
    let hit: CacheHit
    let sent: CacheInstant
}

extension TaskCore {
    /// Looks for a stored response.
    ///
    /// - Parameter onwards: Sends the request, with the fields the cache has added to it.
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
            // A refresh has no task, so no delegate could decide about the server.
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

    /// Answers with the stored response as if it had come from the network: the redirect rules apply to it, too.
    ///
    /// - Parameters:
    ///   - asked: When the task asked the cache; nil if it was just now.
    ///   - isConfirmed: Whether the server has just confirmed it.
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

    /// Decides in a later turn of the loop: the target may be a stored redirect as well, and each further one would be
    /// a few calls deeper on the stack.
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

    // MARK: - After the server's response

    /// True if the cache answers the task in place of this response: this is a 304, or an error of the server that a
    /// stored response may replace.
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

    /// Whether the server's 304 came over a connection that all tasks that may get the stored response would accept.
    private func mayConfirm(_ validation: CacheValidation, over transfer: Transfer) -> Bool {
        guard transfer.wasDecidedElsewhere else { return true }
        let question = storing(validation.question.request, from: transfer, validation.question.policy)
        return validation.hit.entry.head.partition.origin == question.partition.origin
    }

    /// The stored response cannot be used: sends the request without conditions.
    private func askForAll(_ former: WireRequest) {
        guard let present = presentRequest else { return }
        repeatTask(as: present, inPlaceOf: former, nil, keepsBody: true, after: nil)
    }

    /// True if a stored response answers the task although it could not ask the server.
    func isAnsweredByCache(_ error: LoadError) -> Bool {
        guard let validation = course?.validation, response == nil, error.isSilence,
            session.cache.mayReplaceError(nil, with: validation.hit)
        else { return false }
        leave(nil)
        serve(validation.hit, for: validation.question.request)
        return true
    }

    // MARK: - Storing

    /// Takes the body for the cache; nil if the response must not be stored.
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

    /// Stores the response for the tasks that would accept the connection it came over, and for no others.
    private func storing(
        _ request: WireRequest,
        from transfer: Transfer,
        _ policy: URLRequest.CachePolicy
    ) -> CacheQuestion {
        cacheQuestion(request, policy, transfer.key.security, isDecidedElsewhere: transfer.wasDecidedElsewhere)
    }

    /// The task has the complete body: stores it unless the delegate objects.
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

    // MARK: - Suspension

    /// Runs `work` now, or when the task is resumed.
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
    /// The request with those of the fields that it does not have.
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
    /// Whether no server has answered, for another reason than a doubt about its identity.
    fileprivate var isSilence: Bool {
        switch self {
        case .transfer(.dial), .transfer(.channel), .transfer(.timedOut), .transfer(.overdue): true
        case .transfer(.wire(let error)): if case .closed = error.kind { true } else { false }
        default: false
        }
    }
}
