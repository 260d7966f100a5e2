import AFLoop
import AFTransport
import AFWire
import Foundation

// Those who change requests before they are sent, and decide whether they are sent again.

/// What an attempt has come to, which is not told to the task's owner as long as somebody may want another one.
private enum AttemptEnd {
    case response(HeldResponse)
    case failure(LoadError)
    /// Of a class of the program.
    case foreignResponse(HTTPURLResponse, ForeignLoad)

    var response: HTTPURLResponse? {
        switch self {
        case .response(let held): held.response
        case .foreignResponse(let response, _): response
        case .failure: nil
        }
    }
}

extension TaskCore {
    // MARK: - Before the first request

    /// Whether somebody wants to have a say.
    var isIntercepted: Bool {
        guard session.interceptors.isEmpty else { return true }
        switch request {
        case .ready(let request): return request.hasInterceptors
        case .refused: return handle?.originalRequest?.contents.interception.hasInterceptors == true
        }
    }

    /// Has the request adapted, then loads it.
    ///
    /// - Parameter other: What is loaded if nobody wants to have a say after all.
    func loadIntercepted(_ other: WireRequest?) {
        let interceptors = handle?.interceptors(of: session) ?? []
        guard !interceptors.isEmpty, let present = presentRequest else {
            return loadAsItIs(other.map { .success($0) })
        }
        let course = course(beginningWith: present)
        course.interception = course.interception ?? Interception(interceptors)
        course.interception?.beginsAnew()
        adapt { [self] adapted in
            course.interception?.note(adapted)
            loadAnew(adapted.request, adapted.frozen)
        }
    }

    /// Loads a request whose body was not sent yet.
    private func loadAnew(_ request: URLRequest, _ frozen: Result<WireRequest, RequestRejection>) {
        guard let course else { return }
        course.request = request
        becomes(request)
        let expected = (course.hasDroppedBody ? .request : body).expectedLength(frozen)
        snapshot.withLock { snapshot in
            snapshot.expectedToSend = expected
            (snapshot.sent, snapshot.reportedSent) = (0, 0)
        }
        loadAsItIs(frozen)
    }

    private func adapt(_ done: @escaping (AdaptedRequest) -> Void) {
        guard let task = handle, let course, let interception = course.interception else { return }
        let given = interception.given(in: course)
        let request = upgraded(given.request)
        startClock()
        let source = given.hasDroppedBody ? .request : body
        interception.ask(in: session.world) { [interceptors = interception.interceptors] in
            await AdaptedRequest.result(of: request, by: interceptors, for: task, source)
        } _: { [self] answer in
            postponeIfSuspended { [self] in
                guard isLoading else { return }
                switch answer {
                case .success(let adapted):
                    course.hasDroppedBody = given.hasDroppedBody || adapted.hasOwnBody
                    done(adapted)
                case .failure(let error): fail(LoadError(thrown: error))
                }
            }
        }
    }

    /// Adapters see where the request goes, not where it was meant to.
    private func upgraded(_ request: URLRequest) -> URLRequest {
        guard let url = request.url, let endpoint = try? RequestURL(url.absoluteString).endpoint,
            endpoint.scheme == .http, session.wantsTLS(endpoint), let upgraded = url.withTLS
        else { return request }
        var request = request
        request.url = upgraded
        return request
    }

    // MARK: - After an attempt

    /// True if the response is not, or perhaps not, the task's. Nobody else lays claim to it.
    func asksInterceptors(about held: HeldResponse) -> Bool {
        guard held.response.statusCode >= 400, let transfer = held.transfer, course?.interception != nil else {
            return false
        }
        hold(held)
        transfer.pause(.undecided)
        ask(about: .response(held))
        return true
    }

    /// True if perhaps the failure is not the task's. Nobody else knows a remedy.
    func asksInterceptors(about error: LoadError) -> Bool {
        guard course?.interception != nil, error.mayHeal, isLoading, response == nil || consumer.mayStartOver else {
            return false
        }
        startClock()
        ask(about: .failure(error))
        return true
    }

    /// The same for what a class of the program has loaded.
    func asksInterceptors(about response: URLResponse, of load: ForeignLoad) -> Bool {
        guard course?.interception != nil, let response = response as? HTTPURLResponse, response.statusCode >= 400
        else { return false }
        ask(about: .foreignResponse(response, load))
        return true
    }

    private func ask(about end: AttemptEnd) {
        guard let interception = course?.interception, let attempt = failedAttempt(end) else { return }
        interception.ask(in: session.world) { [interceptors = interception.interceptors] in
            await interceptors.decision(after: attempt)
        } _: { [self] decision in
            postponeIfSuspended { [self] in decided(decision, end) }
        }
    }

    private func failedAttempt(_ end: AttemptEnd) -> FailedAttempt? {
        guard let interception = course?.interception, let request = presentRequest else { return nil }
        let now = session.loop.now
        var attempt = FailedAttempt(
            request,
            response: end.response ?? response as? HTTPURLResponse,
            number: interception.attempt,
            elapsed: started.map { $0.duration(to: now) } ?? .zero,
            canSendBodyAgain: canSendBodyAgain,
            hasSentBytes: transfer?.hasSentBytes ?? true,
            hasReceivedBytes: transfer?.hasReceivedBytes ?? (end.response != nil),
            earlierStatuses: interception.statuses,
            date: Date(timeIntervalSince1970: Double(session.world.wallClock())),
            jitter: Double(session.world.random() >> 11) * 0x1p-53
        )
        if case .failure(let error) = end { attempt.error = error.foreign ?? urlError(error) }
        attempt.task = handle
        return attempt
    }

    private var canSendBodyAgain: Bool {
        if let body = transfer?.body { return body.mayReplay }
        // A class may have read it.
        guard course?.load != nil, presentRequest?.bodyStream != nil else { return true }
        return taskDelegate != nil
    }

    // MARK: - Decided

    private func decided(_ decision: RetryDecision, _ end: AttemptEnd) {
        guard isLoading else { return }
        switch decision {
        case .giveUp: conclude(end)
        case .retry(let wait): retry(after: wait, end)
        case .fail(let error):
            if let response = end.response { present(response) }
            fail(LoadError(thrown: error))
        }
    }

    /// It is the task's.
    private func conclude(_ end: AttemptEnd) {
        switch end {
        case .response(let held): deliver(held)
        case .failure(let error): fail(error)
        case .foreignResponse(let response, let load):
            deliver(asItIs: response, expecting: response.expectedContentLength)
            load.unpause(.undecided)
        }
    }

    private func retry(after wait: Duration, _ end: AttemptEnd) {
        guard let course, let interception = course.interception else { return }
        let now = session.loop.now
        if let refusal = refusal(of: wait, now) {
            interception.refusal = refusal
            return conclude(end)
        }
        trace?.retries(as: interception.attempt + 1, after: wait)
        interception.begins(leaveAttempt(end), after: end.response?.statusCode)
        guard wait > .zero else { return beginRepetition() }
        startClock()
        interception.wait(until: now + wait, on: session.loop) { [self] in
            postponeIfSuspended { [self] in beginRepetition() }
        }
    }

    private func refusal(of wait: Duration, _ now: LoopInstant) -> RetryRefusal? {
        if !canSendBodyAgain { return .bodyIsGone }
        if (course?.interception?.attempt ?? 0) >= Interception.mostAttempts { return .tooManyAttempts }
        return now + max(wait, .zero) >= deadlineOfNext ? .waitIsTooLong(wait) : nil
    }

    /// What was under way is over, and what is needed of it kept.
    private func leaveAttempt(_ end: AttemptEnd) -> Interception.Repetition {
        if response != nil {
            consumer.startOver(of: self)
            snapshot.withLock { snapshot in
                snapshot.expectedToReceive = NSURLSessionTransferSizeUnknown
                snapshot.progress?.totalUnitCount = NSURLSessionTransferSizeUnknown
                snapshot.progress?.completedUnitCount = 0
            }
        }
        var answer = end.response
        if course?.load != nil {
            leaveLoad(answer)
            guard transfer != nil else { return Interception.Repetition() }
            // Classes were asked where a redirect leads, and it is the transfer's that is held.
            answer = course?.held?.response
        }
        let repetition = Interception.Repetition(former: transfer?.request, body: transfer?.surrenderBody())
        leave(answer)
        return repetition
    }

    private func beginRepetition() {
        guard isLoading, let course, let interception = course.interception else { return }
        guard course.headBytes <= TaskCore.headBudget else { return fail(.tooManyHeads) }
        // Only the redirect rules know what may go there.
        guard !course.hasLeftOrigin else { return repeatAttempt(course.request) }
        adapt { [self] adapted in
            let hasSameBody = !adapted.hasOwnBody && !interception.hasOwnBody
            interception.note(adapted)
            if hasSameBody { return repeatAttempt(adapted.request) }
            interception.takeRepetition()?.body?.close()
            loadAnew(adapted.request, adapted.frozen)
        }
    }

    /// Sends what was sent before, with the body it was sent with.
    private func repeatAttempt(_ request: URLRequest) {
        guard let course, let task = handle, let repetition = course.interception?.takeRepetition() else { return }
        if let former = repetition.former {
            return repeatTask(as: request, inPlaceOf: former, repetition.body, keepsBody: true, after: nil)
        }
        let body = course.hasDroppedBody ? .request : body
        // The class that had taken it may not want it any more.
        let defaults = headers(of: task, for: request)
        loadAnew(
            request,
            Result { () throws(RequestRejection) in try body.freeze(request, in: task.session, with: defaults) }
        )
    }
}

extension LoadError {
    /// By somebody who has a say.
    fileprivate init(thrown error: any Error) {
        self = error is CancellationError ? .cancelled : .foreign(error)
    }

    /// Another attempt may have another end.
    fileprivate var mayHeal: Bool {
        switch self {
        case .transfer(let error): error.mayHeal
        case .foreign: true
        case .rejected, .plainTextForbidden, .proxyMisconfigured, .cancelled, .bodyTooLong, .content, .notCached,
            .redirect, .file, .unaskedPart, .brokenRest, .resumeData, .sessionInvalidated, .stream, .local, .forked,
            .noThread:
            false
        }
    }
}

extension TransferError {
    fileprivate var mayHeal: Bool {
        switch self {
        case .dial, .proxy, .handshake, .secured, .cutShort, .wire, .channel, .timedOut, .overdue: true
        case .body, .impossibleSocketPath, .outOfTime: false
        }
    }
}

extension Transfer {
    /// Of the request, in any of its attempts; not whether they were received.
    fileprivate var hasSentBytes: Bool { (formerAttempts + [times]).contains { $0.requestStarted != nil } }

    fileprivate var hasReceivedBytes: Bool { (formerAttempts + [times]).contains { $0.responseStarted != nil } }
}
