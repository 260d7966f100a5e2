import AFLoop
import AFTransport
import AFWire
import Foundation

// Interceptors change requests before the session sends them, and decide whether it sends them again.

/// The result of an attempt. The task's owner does not hear of it while an interceptor may ask for another attempt.
private enum AttemptEnd {
    case response(HeldResponse)
    case failure(LoadError)
    /// The response that a URL protocol class has loaded.
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

    /// Whether the task has interceptors.
    var isIntercepted: Bool {
        guard session.interceptors.isEmpty else { return true }
        switch request {
        case .ready(let request): return request.hasInterceptors
        case .refused: return handle?.originalRequest?.contents.interception.hasInterceptors == true
        }
    }

    /// Lets the adapters change the request, then loads it.
    ///
    /// - Parameter other: The request to load if the task has no interceptors after all.
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

    /// Loads a request whose body the session has not sent yet.
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

    /// Adapters see the URL that the session sends the request to (`https`), not the one it was made with.
    private func upgraded(_ request: URLRequest) -> URLRequest {
        guard let url = request.url, let endpoint = try? RequestURL(url.absoluteString).endpoint,
            endpoint.scheme == .http, session.wantsTLS(endpoint), let upgraded = url.withTLS
        else { return request }
        var request = request
        request.url = upgraded
        return request
    }

    // MARK: - After an attempt

    /// True if an interceptor may ask for another attempt in place of this response. No other step wants the response.
    func asksInterceptors(about held: HeldResponse) -> Bool {
        guard held.response.statusCode >= 400, let transfer = held.transfer, course?.interception != nil else {
            return false
        }
        hold(held)
        transfer.pause(.undecided)
        ask(about: .response(held))
        return true
    }

    /// True if an interceptor may ask for another attempt after this failure. No other step can mend it.
    func asksInterceptors(about error: LoadError) -> Bool {
        guard course?.interception != nil, error.mayHeal, isLoading, response == nil || consumer.mayStartOver else {
            return false
        }
        startClock()
        ask(about: .failure(error))
        return true
    }

    /// The same for a response that a URL protocol class has loaded.
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
        // The URL protocol class may have read the stream.
        guard course?.load != nil, presentRequest?.bodyStream != nil else { return true }
        return taskDelegate != nil
    }

    // MARK: - After the decision

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

    /// The result is the task's.
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

    /// Ends the present attempt, and keeps what the next one needs.
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
            // The classes were asked about the target of a redirect: the response that is held is the transfer's.
            answer = course?.held?.response
        }
        let repetition = Interception.Repetition(former: transfer?.request, body: transfer?.surrenderBody())
        leave(answer)
        return repetition
    }

    private func beginRepetition() {
        guard isLoading, let course, let interception = course.interception else { return }
        guard course.headBytes <= TaskCore.headBudget else { return fail(.tooManyHeads) }
        // In another origin only the redirect rules know what the request may hold.
        guard !course.hasLeftOrigin else { return repeatAttempt(course.request) }
        adapt { [self] adapted in
            let hasSameBody = !adapted.hasOwnBody && !interception.hasOwnBody
            interception.note(adapted)
            if hasSameBody { return repeatAttempt(adapted.request) }
            interception.takeRepetition()?.body?.close()
            loadAnew(adapted.request, adapted.frozen)
        }
    }

    /// Sends the former request again, with the body that went with it.
    private func repeatAttempt(_ request: URLRequest) {
        guard let course, let task = handle, let repetition = course.interception?.takeRepetition() else { return }
        if let former = repetition.former {
            return repeatTask(as: request, inPlaceOf: former, repetition.body, keepsBody: true, after: nil)
        }
        let body = course.hasDroppedBody ? .request : body
        // The URL protocol class that loaded it may refuse it this time.
        let defaults = headers(of: task, for: request)
        loadAnew(
            request,
            Result { () throws(RequestRejection) in try body.freeze(request, in: task.session, with: defaults) }
        )
    }
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
    /// Whether the task has sent bytes of the request in any of its attempts, received or not.
    fileprivate var hasSentBytes: Bool { (formerAttempts + [times]).contains { $0.requestStarted != nil } }

    fileprivate var hasReceivedBytes: Bool { (formerAttempts + [times]).contains { $0.responseStarted != nil } }
}
