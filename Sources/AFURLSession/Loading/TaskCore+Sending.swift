import AFLoop
import AFTransport
import AFWire
import Foundation

// The requests of a task, one after the other.

extension TaskCore {
    /// Sends the task's request, or another in its place. What was under way is given up.
    ///
    /// - Parameters:
    ///   - other: What is sent.
    ///   - request: What it was made from.
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

    /// - Parameter other: What is sent; nil for the task's own request.
    func loadAsItIs(_ other: Result<WireRequest, RequestRejection>?) {
        guard hasClassesToAsk, let request = presentRequest else { return loadItself(other) }
        offer(request, keepsBody: course?.hasDroppedBody != true) { [self] in loadItself(other) }
    }

    /// Loads without the help of any class.
    private func loadItself(_ other: Result<WireRequest, RequestRejection>?) {
        do throws(RequestRejection) {
            let request = if let other { try other.get() } else { try self.request.get() }
            begin(try secured(request) ?? request)
        } catch {
            if !loadsLocally() { fail(.rejected(error)) }
        }
    }

    /// Sends the next request of the task's course.
    ///
    /// - Parameters:
    ///   - request: What is sent.
    ///   - origin: What it was made from.
    ///   - body: That of the former request, if it has to be sent again and is not held by the request itself.
    ///   - response: What the former request was answered with.
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

    /// The request that is under way now.
    func becomes(_ request: URLRequest) {
        snapshot.withLock { $0.currentRequest = request }
    }

    /// What is sent, without what the session adds.
    var presentRequest: URLRequest? { course?.request ?? task?.originalRequest }

    func course(beginningWith request: URLRequest) -> Course {
        if let course { return course }
        let made = Course(request)
        course = made
        return made
    }

    /// Whatever has come of the exchange under way, it was not the last.
    ///
    /// - Parameter response: What is not the task's response.
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

    /// - Parameter body: What was sent before and has to be sent again.
    func begin(_ request: WireRequest, again body: (any BodySource)? = nil) {
        if session.cookies?.hasWaiting == true {
            let mustWait = waitsForCookies { [self] in
                if isLoading { begin(request, again: body) } else { body?.close() }
            }
            if mustWait { return }
        }
        let policy = request.cachePolicy ?? session.settings.cachePolicy
        guard session.cache.mayHelp(request, policy) else { return transmit(request, again: body) }
        // What others stored came in the clear.
        guard !session.forbidsPlainText(to: request.endpoint) else { return fail(.plainTextForbidden) }
        // What varies by cookies or credentials is told apart by them. A body that has yet to be got ready changes the
        // head, but then the cache has no answer.
        let isReady = body == nil && isPrepared(for: request)
        let request = isReady ? dressed(request) : request
        lookUp(request, policy) { [self] in transmit($0, again: body, isDressed: isReady) }
    }

    private func isPrepared(for request: WireRequest) -> Bool { presentBody.isPrepared(for: request) }

    /// Without the task's own, the body is what the request itself has.
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
        // A proxy may want to know who we are, the task may have to wait for a network, or somebody may want it sent
        // again, and the body is needed once more.
        transfer.keepsBody =
            key.route != nil || session.settings.limits.waitsForConnectivity || course?.interception != nil
        if let trace {
            transfer.observer = trace
            trace.begins(request)
        }
        self.transfer = transfer
        rememberForRetry(request, by: key.route)
        send(request, with: transfer, again: body, isDressed: isDressed)
        // It may have been suspended while there was no transfer.
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

    /// Of the task as a whole.
    var hardDeadline: LoopInstant {
        course?.hardDeadline ?? (started ?? session.loop.now) + session.resourceTimeout
    }

    /// Of what will be in the place of what is under way.
    var deadlineOfNext: LoopInstant {
        course?.clock?.deadlineOfNext ?? course?.load?.deadlineOfNext ?? transfer?.deadlineOfNext ?? hardDeadline
    }

    /// There is no transfer whose deadline would end the task, and somebody is waited for.
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
    /// RFC 9110 §6.4.1: to some requests, and with some statuses, none follows, whatever the fields say.
    fileprivate func hasBody(to request: WireRequest) -> Bool {
        !request.isHead && statusCode != 204 && statusCode != 304
    }
}
