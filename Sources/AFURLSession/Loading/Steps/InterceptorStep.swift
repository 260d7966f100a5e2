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

    func prepare(_ draft: inout RequestDraft, of load: Load) -> Preparation {
        if let interception = load.memory?.interception, let wait = interception.takeWait() {
            return waitToRepeat(wait, interception: interception, draft: &draft, load: load)
        }
        guard isIntercepted(load), let present = load.presentRequest else { return .goOn }
        let interceptors = load.handle?.interceptors(before: shared) ?? []
        guard !interceptors.isEmpty else { return .goOn }
        let memory = load.memory(beginningWith: present)
        let interception = memory.interception ?? Interception(interceptors, in: load.takeCallerContext())
        memory.interception = interception
        interception.beginAnew()
        return adapt(interception, load: load) { [self] adapted, draft, load in
            interception.note(adapted)
            loadAnew(adapted.request, wire: OwnRequest(adapted.frozen), draft: &draft, load: load)
            return .goOn
        }
    }

    private func isIntercepted(_ load: Load) -> Bool {
        guard shared.isEmpty else { return true }
        switch load.request {
        case .ready(let request): return request.hasInterceptors
        case .refused: return load.handle?.originalRequest?.contents.interception.hasInterceptors == true
        }
    }

    /// Loads a request whose body the session has not sent yet.
    private func loadAnew(_ request: URLRequest, wire: OwnRequest, draft: inout RequestDraft, load: Load) {
        guard let memory = load.memory else { return }
        memory.request = request
        load.becomes(request)
        let expected = load.presentBody.expectedLength(wire)
        load.snapshot.withLock { snapshot in
            snapshot.expectedToSend = expected
            (snapshot.sent, snapshot.reportedSent) = (0, 0)
        }
        draft = RequestDraft(wire)
    }

    private func adapt(
        _ interception: Interception,
        load: Load,
        done: @escaping (AdaptedRequest, inout RequestDraft, Load) -> Preparation
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

    func judge(_ outcome: ExchangeOutcome, of load: Load) -> Verdict {
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

    private func mayAsk(about outcome: ExchangeOutcome, load: Load) -> Bool {
        switch outcome {
        case .response(let pending): pending.response.statusCode >= 400 && pending.transfer != nil
        case .failure(let error): error.mayHeal && (load.response == nil || load.consumer.mayStartOver)
        case .foreignResponse(let response, _): (response as? HTTPURLResponse).map { $0.statusCode >= 400 } ?? false
        case .foreignRedirect: false
        }
    }

    private func failedAttempt(_ outcome: ExchangeOutcome, interception: Interception, load: Load) -> FailedAttempt? {
        guard let request = load.presentRequest else { return nil }
        let now = load.session.loop.now
        let world = load.session.world
        var attempt = FailedAttempt(
            request,
            response: outcome.response ?? load.response as? HTTPURLResponse,
            number: interception.attempt,
            elapsed: load.started.map { $0.duration(to: now) } ?? .zero,
            canSendBodyAgain: canSendBodyAgain(load),
            hasSentBytes: load.transfer?.hasSentBytes ?? true,
            hasReceivedBytes: load.transfer?.hasReceivedBytes ?? (outcome.response != nil),
            earlierStatuses: interception.statuses,
            date: Date(timeIntervalSince1970: Double(world.wallClock())),
            jitter: world.jitter()
        )
        if case .failure(let error) = outcome { attempt.error = error.foreign ?? load.urlError(error) }
        attempt.task = load.handle
        return attempt
    }

    private func canSendBodyAgain(_ load: Load) -> Bool {
        if let body = load.transfer?.body { return body.mayReplay }
        // The URL protocol class may have read the stream.
        guard load.memory?.foreign != nil, load.presentRequest?.bodyStream != nil else { return true }
        return load.taskDelegate != nil
    }

    // MARK: - After the decision

    private func decided(_ decision: RetryDecision, outcome: ExchangeOutcome, load: Load) -> Verdict {
        switch decision {
        case .giveUp: return .pass
        case .retry(let wait): return retry(after: wait, outcome: outcome, load: load)
        case .fail(let error): return .fail(LoadError(thrown: error), showing: outcome.response)
        }
    }

    private func retry(after wait: Duration, outcome: ExchangeOutcome, load: Load) -> Verdict {
        guard let memory = load.memory, let interception = memory.interception else { return .pass }
        if let refusal = refusal(of: wait, interception: interception, load: load) {
            interception.refusal = refusal
            return .pass
        }
        load.trace?.retries(as: interception.attempt + 1, after: wait)
        let repetition = leaveAttempt(outcome, load: load)
        interception.begin(repetition, after: outcome.response?.statusCode, waiting: wait)
        return .send(RequestDraft(load.ownWire), from: .interceptors)
    }

    private func refusal(of wait: Duration, interception: Interception, load: Load) -> RetryRefusal? {
        if !canSendBodyAgain(load) { return .bodyIsGone }
        if interception.attempt >= Interception.mostAttempts { return .tooManyAttempts }
        let now = load.session.loop.now
        return now + max(wait, .zero) >= load.time.end(at: now) ? .waitIsTooLong(wait) : nil
    }

    /// Ends the present attempt, and keeps what the next one needs.
    private func leaveAttempt(_ outcome: ExchangeOutcome, load: Load) -> Interception.Repetition {
        if load.response != nil { load.startConsumerOver() }
        guard load.memory?.foreign == nil else {
            load.leaveForeign(outcome.response)
            // No class has answered about the target of a redirect: begin again where it came from.
            guard let unsent = load.memory?.takeUnsent(), let former = unsent.history?.former,
                unsent.keepsBody || !former.wire.hasBody
            else { return Interception.Repetition() }
            load.memory?.request = former.request
            return Interception.Repetition(former: former.wire, body: unsent.body)
        }
        let repetition = Interception.Repetition(former: load.transfer?.request, body: load.transfer?.surrenderBody())
        load.leave(outcome.response)
        return repetition
    }

    private func waitToRepeat(
        _ wait: Duration,
        interception: Interception,
        draft: inout RequestDraft,
        load: Load
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
        load: Load
    ) -> Preparation {
        guard let memory = load.memory else { return .goOn }
        guard memory.headBytes <= Load.headBudget else { return .fail(.tooManyHeads) }
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
            loadAnew(adapted.request, wire: OwnRequest(adapted.frozen), draft: &draft, load: load)
            return .goOn
        }
    }

    /// Sends the former request again, with the body that went with it.
    private func repeatAttempt(
        _ request: URLRequest,
        interception: Interception,
        draft: inout RequestDraft,
        load: Load
    ) -> Preparation {
        guard let task = load.handle, let repetition = interception.takeRepetition() else { return .goOn }
        if let former = repetition.former {
            switch load.sending(request, inPlaceOf: former, body: repetition.body, after: nil) {
            case .send(let made, let entry):
                draft = made
                return .goOnAt(entry)
            case .fail(let error, _): return .fail(error)
            case .pass, .later, .answer: return .goOn
            }
        }
        // The URL protocol class that loaded it may refuse it this time.
        let defaults = load.headers(of: task, for: request)
        let wire = Result { () throws(RequestRejection) in
            try load.presentBody.freeze(request, with: defaults, settings: load.session.settings)
        }
        loadAnew(request, wire: OwnRequest(wire), draft: &draft, load: load)
        return .goOn
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
    fileprivate var response: HTTPURLResponse? {
        switch self {
        case .response(let pending): pending.response
        case .foreignResponse(let response, _): response as? HTTPURLResponse
        case .failure, .foreignRedirect: nil
        }
    }
}

extension Load {
    /// The context of the code that resumed the task; an empty one if the program has added interceptors since.
    fileprivate func takeCallerContext() -> CallerContext {
        snapshot.withLock { $0.takeContext() } ?? CallerContext(preferring: session.world.interceptorExecutor)
    }
}

extension WireRequest {
    fileprivate var hasBody: Bool { body.data != nil || body.isStreamed || body.length ?? 0 > 0 }
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
            .webSocket, .local, .refused, .forked, .noThread, .fault:
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
