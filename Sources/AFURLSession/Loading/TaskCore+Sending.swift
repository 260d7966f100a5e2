import AFLoop
import AFTransport
import AFWire
import Foundation

// The requests of a task, one after the other.

extension TaskCore {
    /// Sends the task's request, or another in its place. Gives up the present exchange.
    ///
    /// - Parameters:
    ///   - other: The request to send; nil for the task's own.
    ///   - request: The request it was made from.
    func load(_ other: WireRequest? = nil, madeFrom request: URLRequest? = nil) {
        guard isLoading, let task else { return }
        if transfer != nil || course?.load != nil || other != nil, let request = request ?? task.originalRequest {
            let course = course(beginningWith: request)
            leave(nil)
            leaveLoad(nil)
            course.request = request
        }
        if isIntercepted { return loadIntercepted(other) }
        loadAsItIs(other.map { .success($0) })
    }

    /// - Parameter other: The request to send; nil for the task's own.
    func loadAsItIs(_ other: Result<WireRequest, RequestRejection>?) {
        guard hasClassesToAsk, let request = presentRequest else { return loadItself(other) }
        offer(request, keepsBody: course?.hasDroppedBody != true) { [self] in loadItself(other) }
    }

    /// Loads in the session itself, not in a URL protocol class.
    private func loadItself(_ other: Result<WireRequest, RequestRejection>?) {
        do throws(RequestRejection) {
            let request = if let other { try other.get() } else { try self.request.get() }
            begin(try secured(request) ?? request)
        } catch {
            if !loadsLocally() { fail(.rejected(error)) }
        }
    }

    /// Sends the task's next request.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - origin: The request it was made from.
    ///   - body: The body of the former request, if it goes again and the request itself does not hold it.
    ///   - response: The response to the former request.
    func goOn(
        with request: WireRequest,
        madeFrom origin: URLRequest,
        body: (any BodySource)?,
        after response: HTTPURLResponse?
    ) {
        guard let course else { return }
        leave(response)
        course.request = origin
        becomes(origin)
        begin(request, again: body)
    }

    /// Makes this the present request.
    func becomes(_ request: URLRequest) {
        snapshot.withLock { $0.currentRequest = request }
    }

    /// The present request, without what the session adds.
    var presentRequest: URLRequest? { course?.request ?? task?.originalRequest }

    func course(beginningWith request: URLRequest) -> Course {
        if let course { return course }
        let made = Course(request)
        course = made
        return made
    }

    /// Ends the present exchange, which is not the task's last.
    ///
    /// - Parameter response: Its response, which is not the task's.
    func leave(_ response: HTTPURLResponse?) {
        content = nil
        writer = nil
        guard let course else { return }
        course.validation = nil
        course.held = nil
        guard let former = transfer else { return }
        transfer = nil
        let shown: URLResponse? = response ?? course.refusal ?? self.response
        course.refusal = nil
        self.response = nil
        course.add(
            ExchangeRecord(.transfer(former), request: course.request, response: shown, proof: proof(in: shown))
        )
        trace?.forgetBody()
        course.hardDeadline = former.deadlineOfNext
        if let response {
            let length = response.hasBody(to: former.request) ? response.announcedLength : 0
            former.drain(expecting: length, into: course.writer)
        } else {
            former.cancel()
        }
        if former.keepsBody { former.surrenderBody()?.close() }
        course.writer = nil
        snapshot.withLock { snapshot in
            snapshot.received = 0
            snapshot.response = nil
        }
    }

    // MARK: - One exchange

    /// - Parameter body: A body that went out before and has to go again.
    func begin(_ request: WireRequest, again body: (any BodySource)? = nil) {
        if session.cookies?.hasWaiting == true {
            let mustWait = waitsForCookies { [self] in
                if isLoading { begin(request, again: body) } else { body?.close() }
            }
            if mustWait { return }
        }
        let policy = request.cachePolicy ?? session.settings.cachePolicy
        guard session.cache.mayHelp(request, policy) else { return transmit(request, again: body) }
        // The cache may hold what another session received in plain text.
        guard !session.forbidsPlainText(to: request.endpoint) else { return fail(.plainTextForbidden) }
        // The cache tells responses that vary by cookies or credentials apart by these fields. A body that is not ready
        // yet changes the head, but then the cache has no answer.
        let isReady = body == nil && isPrepared(for: request)
        let request = isReady ? dressed(request) : request
        lookUp(request, policy) { [self] in transmit($0, again: body, isDressed: isReady) }
    }

    private func isPrepared(for request: WireRequest) -> Bool { presentBody.isPrepared(for: request) }

    /// The task's body; without one, the body of the request itself.
    private var presentBody: TaskBody { course?.hasDroppedBody == true ? .request : body }

    func transmit(_ request: WireRequest, again body: (any BodySource)? = nil, isDressed: Bool = false) {
        let endpoint = request.endpoint
        guard !session.forbidsPlainText(to: endpoint) else { return fail(.plainTextForbidden) }
        var key: ConnectionKey
        do throws(LoadError) {
            key = try session.connectionKey(for: request)
        } catch {
            return fail(error)
        }
        if let route = key.route { key = authorized(key, by: route) }
        key.follow(session.settings.limits.socketOptions(for: request.limits))
        if let judge = trustJudge(for: endpoint) { key = key.judged(by: judge) }
        stopClock()
        let transfer = Transfer(
            request,
            key: key,
            pool: session.pool,
            loop: session.loop,
            deadlines: session.deadlines,
            idleInterval: request.idleInterval ?? session.requestTimeout,
            hardDeadline: hardDeadline,
            asksForPipelining: request.asksForPipelining ?? session.settings.usesPipelining,
            client: self
        )
        // Keep the body if it may have to go again: a proxy may ask for credentials, the task may have to wait for a
        // network, or an interceptor may ask for another attempt.
        transfer.keepsBody =
            key.route != nil || session.settings.limits.waitsForConnectivity || course?.interception != nil
        if let trace {
            transfer.observer = trace
            trace.begins(request)
        }
        self.transfer = transfer
        rememberForRetry(request, by: key.route)
        send(request, with: transfer, again: body, isDressed: isDressed)
        // The task may have been suspended while it had no transfer.
        if isSuspended { self.transfer?.pause(.suspended) }
    }

    private func send(
        _ request: WireRequest,
        with transfer: Transfer,
        again body: (any BodySource)?,
        isDressed: Bool
    ) {
        if let body { return sendAgain(body, of: request, with: transfer) }
        guard !isPrepared(for: request) else {
            let request = isDressed ? request : dressed(request)
            return transfer.start(request, priority: priority, body: request.body.map(DataBody.init))
        }
        guard let task else { return }
        transfer.prepare()
        let desk = BodyDesk(task, of: self, on: session.world.platform)
        desk.prepare(presentBody, of: request) { [self] in
            bodyReady($0, for: transfer)
        }
    }

    private func sendAgain(_ body: any BodySource, of request: WireRequest, with transfer: Transfer) {
        transfer.prepare()
        body.rewind { [self] failure in
            guard task != nil, transfer === self.transfer else { return body.close() }
            guard let failure else { return transfer.start(dressed(request), priority: priority, body: body) }
            body.close()
            fail(.transfer(.body(failure)))
        }
    }

    private func bodyReady(
        _ result: Result<(request: WireRequest, body: any BodySource), LoadError>,
        for transfer: Transfer
    ) {
        guard task != nil, transfer === self.transfer else {
            if case .success((_, let body)) = result { body.close() }
            return
        }
        switch result {
        case .failure(let error): fail(error)
        case .success((let request, let body)):
            let expected = request.bodyLength.map(Int64.init) ?? NSURLSessionTransferSizeUnknown
            snapshot.withLock { $0.expectedToSend = expected }
            rememberForRetry(request, by: transfer.key.route)
            transfer.start(dressed(request), priority: priority, body: body)
        }
    }

    // MARK: - Time

    /// The deadline of the task as a whole.
    var hardDeadline: LoopInstant {
        course?.hardDeadline ?? (started ?? session.loop.now) + session.resourceTimeout
    }

    /// The deadline of the step that follows the present one.
    var deadlineOfNext: LoopInstant {
        course?.clock?.deadlineOfNext ?? course?.load?.deadlineOfNext ?? transfer?.deadlineOfNext ?? hardDeadline
    }

    /// Keeps the deadline while the task waits for an answer without a transfer.
    func startClock() {
        guard isLoading || isHeld, let present = presentRequest else { return }
        let course = course(beginningWith: present)
        if course.clock == nil { course.clock = CourseClock(of: self, until: deadlineOfNext) }
    }

    func stopClock() {
        course?.clock?.stop()
        course?.clock = nil
    }
}

extension HTTPURLResponse {
    /// RFC 9110 §6.4.1: some requests and some statuses have responses without a body, whatever the fields say.
    fileprivate func hasBody(to request: WireRequest) -> Bool {
        !request.isHead && statusCode != 204 && statusCode != 304
    }
}
