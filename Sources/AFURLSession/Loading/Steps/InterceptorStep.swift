import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

/// Lets interceptors change a request before the session sends it, and decide whether it goes again. The task's owner
/// does not hear of the outcome while an interceptor may ask for another attempt.
final class InterceptorStep: LoadStep {
    /// The interceptors of the session's requests.
    private let shared: [any TaskInterceptor]

    init(_ shared: [any TaskInterceptor]) {
        self.shared = shared
    }

    func prepare(_ draft: inout RequestDraft, of load: any LoadView) -> Preparation {
        if let interception = load.memory?.interception, let wait = interception.takeWait() {
            return waitToRepeat(wait, interception: interception, draft: &draft, load: load)
        }
        guard draft.mayBeIntercepted || !shared.isEmpty, let present = load.presentRequest else { return .goOn }
        let interceptors = load.handle?.interceptors(before: shared) ?? []
        guard !interceptors.isEmpty else { return .goOn }
        let memory = load.memory(beginningWith: present)
        let interception = memory.interception ?? Interception(interceptors: interceptors, in: load.callerContext)
        memory.interception = interception
        interception.beginAnew()
        return adapt(interception, load: load) { [self] adapted, draft, load in
            interception.note(adapted)
            return loadAnew(adapted.request, wire: OwnRequest(adapted.frozen), draft: &draft)
        }
    }

    /// Loads a request whose body the session has not sent yet.
    private func loadAnew(_ request: URLRequest, wire: OwnRequest, draft: inout RequestDraft) -> Preparation {
        draft = RequestDraft(wire)
        return .goOnWith(request, isAnew: true)
    }

    private func adapt(
        _ interception: Interception,
        load: any LoadView,
        done: @escaping (AdaptedRequest, inout RequestDraft, any LoadView) -> Preparation
    ) -> Preparation {
        guard let task = load.handle, let memory = load.memory else { return .goOn }
        let unadapted = interception.unadapted(in: memory)
        let request = load.session.upgraded(unadapted.request)
        let source = unadapted.hasDroppedBody ? .request : load.body
        return .later(asking: .interceptor("adapt(_:for:)")) { reply in
            interception.ask(in: load.session.world) { [interceptors = interception.interceptors] in
                await AdaptedRequest.result(of: request, by: interceptors, for: task, body: source)
            } answered: { answer in
                reply { draft, load in
                    switch answer {
                    case .success(let adapted):
                        load.memory?.hasDroppedBody = unadapted.hasDroppedBody || adapted.hasOwnBody
                        return done(adapted, &draft, load)
                    case .failure(let error): return .fail(LoadError(thrown: error))
                    }
                }
            }
        }
    }

    // MARK: - After an attempt

    func judge(_ outcome: ExchangeOutcome, of load: any LoadView) -> Verdict {
        guard let interception = load.memory?.interception, mayAsk(about: outcome, load: load),
            let attempt = failedAttempt(outcome, interception: interception, load: load)
        else { return .pass }
        return .later(asking: .interceptor("retry(after:)")) { [self] reply in
            interception.ask(in: load.session.world) { [interceptors = interception.interceptors] in
                await interceptors.decision(after: attempt)
            } answered: { decision in
                reply { [self] load, outcome in decided(decision, outcome: outcome, load: load) }
            }
        }
    }

    private func mayAsk(about outcome: ExchangeOutcome, load: any LoadView) -> Bool {
        switch outcome {
        case .response(let pending): pending.response.statusCode >= 400 && pending.transfer != nil
        case .failure(let failure): failure.error.mayHeal && load.delivered.mayStartOver
        case .foreignResponse(let response, _): (response as? HTTPURLResponse).map { $0.statusCode >= 400 } ?? false
        case .foreignRedirect: false
        }
    }

    private func failedAttempt(
        _ outcome: ExchangeOutcome,
        interception: Interception,
        load: any LoadView
    ) -> FailedAttempt? {
        guard let request = load.presentRequest else { return nil }
        let now = load.session.loop.now
        let world = load.session.world
        var attempt = FailedAttempt(
            request,
            response: outcome.ownResponse ?? load.delivered.response as? HTTPURLResponse,
            number: interception.attempt,
            elapsed: load.time.started.map { $0.duration(to: now) } ?? .zero,
            canSendBodyAgain: canSendBodyAgain(load),
            hasSentBytes: load.transfer?.hasSentBytes ?? true,
            hasReceivedBytes: load.transfer?.hasReceivedBytes ?? (outcome.ownResponse != nil),
            earlierStatuses: interception.statuses,
            date: Date(timeIntervalSince1970: Double(world.wallClock().seconds)),
            jitter: world.jitter()
        )
        if case .failure(let failure) = outcome { attempt.error = failure.reported() }
        attempt.task = load.handle
        return attempt
    }

    private func canSendBodyAgain(_ load: any LoadView) -> Bool {
        if let body = load.transfer?.body { return body.mayReplay }
        // The URL protocol class may have read the stream.
        guard load.memory?.foreign != nil, load.presentRequest?.bodyStream != nil else { return true }
        return load.taskDelegate != nil
    }

    // MARK: - After the decision

    private func decided(_ decision: RetryDecision, outcome: ExchangeOutcome, load: any LoadView) -> Verdict {
        switch decision {
        case .giveUp: return .pass
        case .retry(let wait): return retry(after: wait, outcome: outcome, load: load)
        case .fail(let error): return .fail(LoadError(thrown: error), showing: outcome.ownResponse)
        }
    }

    private func retry(after wait: Duration, outcome: ExchangeOutcome, load: any LoadView) -> Verdict {
        guard let memory = load.memory, let interception = memory.interception else { return .pass }
        if let refusal = refusal(of: wait, interception: interception, load: load) {
            interception.refusal = refusal
            return .pass
        }
        return .retry(after: wait)
    }

    private func refusal(of wait: Duration, interception: Interception, load: any LoadView) -> RetryRefusal? {
        if !canSendBodyAgain(load) { return .bodyIsGone }
        if interception.attempt >= Interception.mostAttempts { return .tooManyAttempts }
        let now = load.session.loop.now
        return now + max(wait, .zero) >= load.time.end(at: now) ? .waitIsTooLong(wait) : nil
    }

    private func waitToRepeat(
        _ wait: Duration,
        interception: Interception,
        draft: inout RequestDraft,
        load: any LoadView
    ) -> Preparation {
        guard wait > .zero else { return beginRepetition(interception, draft: &draft, load: load) }
        return .later(asking: nil) { [self] reply in
            interception.wait(for: wait, on: load.session.loop) {
                reply { [self] draft, load in beginRepetition(interception, draft: &draft, load: load) }
            }
        }
    }

    private func beginRepetition(
        _ interception: Interception,
        draft: inout RequestDraft,
        load: any LoadView
    ) -> Preparation {
        guard let memory = load.memory else { return .goOn }
        guard memory.headBytes <= LoadMemory.headBudget else { return .fail(.tooManyHeads) }
        // In another origin only the redirect rules know what the request may hold.
        guard !memory.hasLeftOrigin else {
            return repeatAttempt(memory.request, interception: interception, draft: &draft, load: load)
        }
        return adapt(interception, load: load) { [self] adapted, draft, load in
            let hasSameBody = !adapted.hasOwnBody && !interception.hasOwnBody
            interception.note(adapted)
            if hasSameBody {
                return repeatAttempt(adapted.request, interception: interception, draft: &draft, load: load)
            }
            interception.takeRepetition()?.body?.close()
            return loadAnew(adapted.request, wire: OwnRequest(adapted.frozen), draft: &draft)
        }
    }

    /// Sends the former request again, with the body that went with it.
    private func repeatAttempt(
        _ request: URLRequest,
        interception: Interception,
        draft: inout RequestDraft,
        load: any LoadView
    ) -> Preparation {
        guard let repetition = interception.takeRepetition() else { return .goOn }
        if let former = repetition.former {
            return .send(NextRequest(request, inPlaceOf: former), body: repetition.body)
        }
        // The URL protocol class that loaded it may refuse it this time.
        let defaults = load.headers(for: request)
        let wire = OwnRequest { () throws(RequestRejection) in
            try load.presentBody.freeze(request, with: defaults, settings: load.session.settings)
        }
        return loadAnew(request, wire: wire, draft: &draft)
    }
}

extension SessionCore {
    /// Adapters see the URL that the session sends the request to (`https`), not the one it was made with.
    fileprivate func upgraded(_ request: URLRequest) -> URLRequest {
        guard let url = request.url, let endpoint = request.target?.endpoint, let upgraded = withTLS(url, to: endpoint)
        else { return request }
        var request = request
        request.url = upgraded
        return request
    }
}

extension ExchangeOutcome {
    /// Unless it leads elsewhere.
    fileprivate var ownResponse: HTTPURLResponse? {
        switch self {
        case .response(let pending): pending.response
        case .foreignResponse(let response, _): response as? HTTPURLResponse
        case .failure, .foreignRedirect: nil
        }
    }
}

extension LoadView {
    /// The context of the code that resumed the task; an empty one if the program has added interceptors since.
    fileprivate var callerContext: CallerContext {
        handle?.snapshot.withLock { $0.takeContext() } ?? CallerContext(preferring: session.world.interceptorExecutor)
    }
}

extension WireRequest {
    var hasBody: Bool { body.data != nil || body.isStreamed || body.length ?? 0 > 0 }
}

extension LoadError {
    /// An error that an interceptor has thrown.
    fileprivate init(thrown error: any Error) {
        self = error is CancellationError ? .cancelled : .foreign(error)
    }

    /// Whether another attempt may succeed.
    fileprivate var mayHeal: Bool {
        switch self {
        case .transfer(let error): error.mayHeal
        case .foreign: true
        case .rejected, .plainTextForbidden, .proxyMisconfigured, .cancelled, .bodyTooLong, .content, .notCached,
            .unanswered, .redirect, .file, .unaskedPart, .brokenRest, .resumeData, .sessionInvalidated, .stream,
            .webSocket, .local, .refused, .parts, .forked, .noThread, .fault:
            false
        }
    }
}

extension TransferError {
    fileprivate var mayHeal: Bool {
        switch self {
        case .dial, .proxy, .handshake, .secured, .cutShort, .wire, .channel, .timedOut, .unserved, .overdue: true
        case .body, .impossibleSocketPath, .outOfTime, .fault: false
        }
    }
}

extension Transfer {
    /// Whether the load has sent bytes of the request in any of its attempts, received or not.
    fileprivate var hasSentBytes: Bool { (formerAttempts + [times]).contains { $0.requestStarted != nil } }

    fileprivate var hasReceivedBytes: Bool { (formerAttempts + [times]).contains { $0.responseStarted != nil } }
}
