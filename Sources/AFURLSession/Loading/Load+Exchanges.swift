import AFLoop
import AFTransport
import AFWire
import Foundation

// The requests of a load, one after the other, and the time it has for them.

extension Load {
    /// The present request, without what the session adds.
    var presentRequest: URLRequest? { memory?.request ?? handle?.originalRequest }

    func memory(beginningWith request: URLRequest) -> LoadMemory {
        if let memory { return memory }
        let made = LoadMemory(request)
        memory = made
        return made
    }

    /// Makes this the task's current request.
    func becomes(_ request: URLRequest) {
        snapshot.withLock { $0.currentRequest = request }
    }

    /// The server of the exchange that is under way, was the last, or comes next.
    var endpoint: Endpoint? {
        transfer?.request.endpoint ?? memory?.request.target?.endpoint ?? (try? request.get())?.endpoint
    }

    /// The task's body; without one, the body of the request itself.
    var presentBody: TaskBody { memory?.hasDroppedBody == true ? .request : body }

    /// Whether there is nothing to do for the body before a connection is chosen.
    func isPrepared(for request: WireRequest) -> Bool { presentBody.isPrepared(for: request) }

    /// The request with the fields that the steps add to its head.
    func addingStepFields(to request: WireRequest, isRepeated: Bool = false) -> WireRequest {
        var fields = HTTPHeaders()
        for step in session.steps.addingFields {
            step.addFields(to: &fields, of: request, load: self, isRepeated: isRepeated)
        }
        if request.opensWebSocket { consumer.addFields(to: &fields, of: request, load: self) }
        return fields.isEmpty ? request : request.changing { $0.fields.replace(with: fields) }
    }

    // MARK: - Leaving an exchange

    /// Ends the present exchange, which is not the load's last.
    ///
    /// - Parameter response: Its response, which is not the task's.
    func leave(_ response: HTTPURLResponse?) {
        content = nil
        writer = nil
        guard let memory else { return }
        memory.validation = nil
        memory.pending = nil
        guard let former = transfer else { return }
        transfer = nil
        let shown: URLResponse? = response ?? memory.refusal ?? self.response
        memory.refusal = nil
        self.response = nil
        memory.add(
            ExchangeRecord(.transfer(former), request: memory.request, response: shown, proof: proof(in: shown))
        )
        trace?.forgetBody()
        if let response {
            let length = response.hasBody(to: former.request) ? response.announcedLength : 0
            former.drain(expecting: length, into: memory.redirectWriter)
        } else {
            former.cancel()
        }
        if former.keepsBody { former.surrenderBody()?.close() }
        memory.redirectWriter = nil
        forgetReceived()
    }

    /// Ends a load by a source of the session that was not the last exchange.
    ///
    /// - Parameter response: Its response, which is not the task's.
    func leaveForeign(_ response: URLResponse?) {
        guard let memory, let foreign = memory.foreign else { return }
        memory.foreign = nil
        memory.add(foreign.record(of: memory.request, response: response ?? self.response))
        foreign.stop()
        self.response = nil
        forgetReceived()
    }

    /// Has the consumer forget what it has received of a response.
    func startConsumerOver() {
        consumer.startOver(of: self)
        snapshot.withLock { snapshot in
            snapshot.expectedToReceive = NSURLSessionTransferSizeUnknown
            snapshot.progress?.totalUnitCount = NSURLSessionTransferSizeUnknown
            snapshot.progress?.completedUnitCount = 0
        }
    }

    private func forgetReceived() {
        snapshot.withLock { snapshot in
            snapshot.received = 0
            snapshot.response = nil
        }
    }

    // MARK: - The next exchange

    /// How many bytes the heads of all responses of one task may have.
    static let headBudget: Int64 = 1 << 20

    /// Leaves the present exchange for another request.
    ///
    /// - Parameters:
    ///   - former: The request whose place it takes.
    ///   - body: The body that went with that request, unless the request itself holds it.
    ///   - response: The response to it; nil if there was none.
    func sending(
        _ request: URLRequest,
        inPlaceOf former: WireRequest,
        body: (any BodySource)?,
        keepsBody: Bool = true,
        after response: HTTPURLResponse?,
        from entry: LoadSteps.Entry = .security
    ) -> Verdict {
        guard let memory, let handle else { return .pass }
        guard memory.headBytes + (transfer?.times.responseHeadBytes ?? 0) <= Load.headBudget else {
            body?.close()
            return .fail(.tooManyHeads)
        }
        let wire = OwnRequest(
            Result { () throws(RequestRejection) in
                try freeze(request, former: keepsBody ? former : nil, with: headers(of: handle, for: request))
            }
        )
        if case .refused(let rejection) = wire, entry == .security || !session.steps.hasClassesToAsk() {
            body?.close()
            return .fail(.rejected(rejection), showing: response)
        }
        var draft = RequestDraft(wire)
        draft.keepsBody = keepsBody
        let history = DraftHistory()
        history.cause = response
        history.former = (memory.request, former)
        draft.history = history
        // A body that the request itself holds can be sent again.
        if keepsBody, (try? wire.get())?.body.data == nil { draft.body = body } else { body?.close() }
        if !keepsBody { memory.hasDroppedBody = true }
        leave(response)
        memory.request = request
        becomes(request)
        return .send(draft, from: entry)
    }

    /// Prepares the request of a transfer that sent nothing anew: the wait may have changed cookies, and who wants TLS.
    func sendingAnew(inPlaceOf former: Transfer) -> Verdict {
        guard let present = presentRequest else { return .pass }
        let memory = memory(beginningWith: present)
        let body = former.surrenderBody()
        transfer = nil
        return sending(memory.request, inPlaceOf: memory.unaddressed ?? former.request, body: body, after: nil)
    }

    /// What the session adds to a request's fields. Secrets stay in the origin that the task began with.
    func headers(of task: URLSessionTask, for request: URLRequest) -> HeaderDefaults {
        guard memory?.hasLeftOrigin == true else { return task.session.headers }
        let policy = redirectPolicy(of: request)
        return HeaderDefaults(task.session.headers) { policy.withholds($0) }
    }

    /// The policy for a request. The fields that interceptors have set stay in their origin.
    func redirectPolicy(of request: URLRequest) -> RedirectPolicy {
        var policy = request.redirectPolicy ?? session.settings.redirects
        if let fields = memory?.interception?.fields { policy.sensitiveFields.formUnion(fields) }
        return policy
    }

    /// The own body of an upload task takes precedence over that of its request, unless a delegate has set another.
    private func isBodyTheTasks(_ request: URLRequest) -> Bool {
        guard case .data = body else { return false }
        return request.httpBody == handle?.originalRequest?.httpBody
    }

    /// - Parameter former: The request whose body is sent again.
    func freeze(
        _ request: URLRequest,
        former: WireRequest?,
        with defaults: HeaderDefaults
    ) throws(RequestRejection) -> WireRequest {
        var request = request
        var plan = request.bodyStream == nil ? RequestFreezer.BodyPlan.own : .stream
        if let former {
            plan = .own
            if former.body.isStreamed {
                plan = .stream
            } else if former.body.data == nil, let length = former.body.length {
                plan = .length(length)
            } else if let data = former.body.data, request.httpBody == nil || isBodyTheTasks(request) {
                request.httpBody = data
            }
        }
        return try RequestFreezer.freeze(
            request,
            defaults: defaults,
            plan: plan,
            expectsContinueAbove: session.settings.expectsContinueAbove
        )
    }

    // MARK: - Pausing

    func pause(_ reason: Transfer.Pauses) {
        transfer?.pause(reason)
        memory?.foreign?.pause(reason)
        if reason == .suspended { suspendTime() }
    }

    func unpause(_ reason: Transfer.Pauses) {
        if reason == .suspended { resumeTime() }
        transfer?.unpause(reason)
        memory?.foreign?.unpause(reason)
    }

    // MARK: - Errors

    func urlError(_ error: LoadError) -> URLError {
        let missing = error.isOutOfTime ? memory?.missingAnswer ?? consumer.missingAnswer : nil
        let error = missing.map { LoadError.unanswered($0) } ?? error
        let now = session.loop.now
        let account = transfer?.account(at: now, after: memory?.connectivity) ?? concluded?.account(at: now)
        // A `data:` URL is no address, but the data itself: leave it out of the error.
        let url = presentRequest?.url.flatMap { LocalScheme($0) == .data ? nil : $0 }
        let remarks = [memory?.interception?.remark, transfer?.remark, advisesForOthers(error)]
            .compactMap(\.self).filter { !$0.isEmpty }
        return error.urlError(for: url, peer: endpoint, account: account, remark: remarks.joined(separator: " "))
    }

    /// What to add to the advice to change a setting, if no program can change those of the session.
    private func advisesForOthers(_ error: LoadError) -> String? {
        guard case .present = session.settings.cache else { return nil }
        switch error {
        case .bodyTooLong, .content(.bomb), .local(.data(.tooLong)):
            return "A session that you make with a configuration has this setting."
        default: return nil
        }
    }
}

extension HTTPURLResponse {
    /// RFC 9110 §6.4.1: some requests and some statuses have responses without a body, whatever the fields say.
    fileprivate func hasBody(to request: WireRequest) -> Bool {
        !request.head.traits.isHead && statusCode != 204 && statusCode != 304
    }
}

extension LoadError {
    static var tooManyHeads: LoadError {
        .transfer(.wire(HTTP1Error(.limit(.taskHeadBytes), detail: "the heads of all responses are longer than 1 MiB")))
    }
}
