import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

// The requests of a load, one after the other, and the time it has for them.

extension Load {
    /// The present request, without what the session adds.
    var presentRequest: URLRequest? { memory?.request ?? handle?.originalRequest }

    /// Makes this the present request, which the task shows.
    func becomes(_ request: URLRequest) {
        memory(beginningWith: request).request = request
        snapshot.withLock { $0.currentRequest = request }
    }

    /// Nothing of the body of the present request has been sent.
    func countBodyAnew(of wire: OwnRequest) {
        let expected = presentBody.expectedLength(wire)
        snapshot.withLock { snapshot in
            snapshot.expectedToSend = expected
            (snapshot.sent, snapshot.reportedSent) = (0, 0)
        }
    }

    /// The request that the load begins with: the task's, or the one that its delegate has put in place of it.
    var ownRequest: URLRequest? { memory?.replacement ?? handle?.originalRequest }

    /// The same as it is sent.
    var ownWire: OwnRequest {
        guard let request = memory?.replacement, let handle else { return self.request }
        return OwnRequest { () throws(RequestRejection) in
            try body.freeze(request, with: handle.session.headers, settings: session.settings)
        }
    }

    /// The server of the exchange that is under way, was the last, or comes next.
    var endpoint: Endpoint? {
        transfer?.request.endpoint ?? memory?.request.target?.endpoint ?? request.frozen?.endpoint
    }

    /// The request with the fields that the steps add to its head.
    func addingStepFields(to request: WireRequest, isRepeated: Bool = false) -> WireRequest {
        var fields = HTTPHeaders()
        // By place, since an iterator counts references.
        let steps = session.steps.addingFields
        for place in steps.indices {
            steps[place].addFields(to: &fields, of: request, load: self, isRepeated: isRepeated)
        }
        if request.opensWebSocket { consumer.addFields(to: &fields, of: request, load: self) }
        return fields.isEmpty ? request : request.changing { $0.fields.replace(with: fields) }
    }

    // MARK: - Leaving an exchange

    /// Ends the present exchange, which is not the load's last.
    func leave(_ outcome: ExchangeOutcome) {
        startConsumerOver()
        guard memory?.foreign == nil else { return leaveForeign(outcome.response) }
        leave(outcome.response as? HTTPURLResponse)
    }

    /// - Parameter response: The response of the exchange, which is not the task's.
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

    /// Whether the response to the present exchange proves that the server knows the password.
    func proof(in response: URLResponse?) -> DigestAnswer.Proof {
        response == nil ? .absent : memory?.authentication?.machine.proof ?? .absent
    }

    /// Forgets an exchange that has sent nothing: the metrics do not show it.
    func forgetTransfer() {
        transfer?.cancel()
        transfer = nil
    }

    /// Has the consumer forget what it has received of a response, if there is one.
    func startConsumerOver() {
        guard response != nil else { return }
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

    // MARK: - Sources of the session

    /// Makes the load by a source that takes the place of a transfer.
    @discardableResult
    func beginForeign(_ request: URLRequest) -> ForeignLoad {
        leaveTime()
        let foreign = ForeignLoad(request: request, of: self)
        memory(beginningWith: request).foreign = foreign
        if isSuspended { foreign.pause(.suspended) }
        return foreign
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
