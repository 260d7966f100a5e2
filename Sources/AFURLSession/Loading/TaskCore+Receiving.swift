import AFTransport
import AFWire
import Foundation

// What the task does with what its transfer receives.

extension TaskCore: TransferClient {
    func requestToSendAgain(_ transfer: Transfer) -> WireRequest {
        transfer.request.replacing(credentialsAgain(for: transfer.request))
    }

    var handshakeDelegate: (any HandshakeDelegate)? {
        guard let task, let endpoint else { return nil }
        return ChallengeDesk(task, taskDelegate?.delegate, endpoint, in: session)
    }

    func presentJudge(of transfer: Transfer) -> TrustJudge? { trustJudge(for: transfer.key.endpoint) }

    // MARK: - The request

    func transferSentBody(_ transfer: Transfer, total: Int64) {
        let hasNews = snapshot.withLock { snapshot in
            // When the session sends a body again, progress goes on where the first attempt ended.
            snapshot.sent = max(snapshot.sent, total)
            return snapshot.sent > snapshot.reportedSent && !snapshot.isSendingAnnounced
        }
        guard hasNews, let (delegate, task) = taskDelegate else { return }
        snapshot.withLock { $0.isSendingAnnounced = true }
        session.outbox.post(.block { TaskCore.reportSent(by: task, to: delegate) })
    }

    private static func reportSent(by task: URLSessionTask, to delegate: any URLSessionTaskDelegate) {
        let (before, total, expected) = task.snapshot.withLock { snapshot in
            defer { snapshot.reportedSent = snapshot.sent }
            snapshot.isSendingAnnounced = false
            return (snapshot.reportedSent, snapshot.sent, snapshot.expectedToSend)
        }
        guard total > before else { return }
        delegate.urlSession(
            task.session,
            task: task,
            didSendBodyData: total - before,
            totalBytesSent: total,
            totalBytesExpectedToSend: expected
        )
    }

    // MARK: - The response

    func transferReceivedHead(_ transfer: Transfer, _ head: ResponseHead) {
        if session.learnsFromHeads { learn(from: head, of: transfer) }
        if course?.dealings != nil { noteTunnel(of: transfer) }
        let response = HTTPURLResponse(url: transfer.request.location, head: head, decodes: session.decodesContent)
        guard head.status >= 300 || course != nil else { return receive(response, to: transfer.request, transfer) }
        let held = HeldResponse(response, of: transfer)
        guard !asksForCredentials(held), !isAnsweredByCache(held), !redirects(held), !asksInterceptors(about: held)
        else { return }
        receive(response, to: transfer.request, transfer)
    }

    /// Takes the task's response from the network.
    func receive(_ response: HTTPURLResponse, to request: WireRequest, _ transfer: Transfer) {
        session.cache.note(response, to: request)
        writer = cacheWriter(for: response, of: transfer)
        deliver(response, to: request, isDecoded: false)
    }

    /// Delivers the task's response.
    func deliver(_ response: HTTPURLResponse, to request: WireRequest, isDecoded: Bool) {
        note(response, expecting: request.isHead ? 0 : response.expectedContentLength)
        // Ask the plan first: a `CodedBody` that refuses to be made has been allocated.
        content = isDecoded || !response.contentPlan.changesLength ? nil : CodedBody(response.contentPlan, of: self)
        consumer.receivedResponse(response, of: self)
    }

    /// Delivers the task's response, whose body has no coding to remove.
    func deliver(asItIs response: URLResponse, expecting length: Int64) {
        note(response, expecting: length)
        content = nil
        consumer.receivedResponse(response, of: self)
    }

    private func note(_ response: URLResponse, expecting length: Int64) {
        self.response = response
        snapshot.withLock { snapshot in
            snapshot.response = response
            snapshot.expectedToReceive = length
            snapshot.progress?.totalUnitCount = length
        }
    }

    func transferReceivedBody(_ transfer: Transfer, _ bytes: UnsafeRawBufferPointer) {
        if let held = course?.held { return held.body.append(contentsOf: bytes) }
        receive(bytes)
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        if let content { content.receive(bytes) } else { deliver(bytes) }
    }

    /// Delivers a piece of the decoded body.
    func deliver(_ bytes: UnsafeRawBufferPointer) {
        snapshot.withLock { snapshot in
            snapshot.received += Int64(bytes.count)
            snapshot.progress?.completedUnitCount = snapshot.received
        }
        writer?.append(bytes)
        trace?.delivered(bytes)
        consumer.receivedBody(bytes, of: self)
    }

    func transferFinished(_ transfer: Transfer) {
        if let held = course?.held { held.end = .finished } else { bodyEnded() }
    }

    private func bodyEnded() {
        if let content { content.inputEnded() } else { finishReceiving() }
    }

    func transferFailed(_ transfer: Transfer, _ failure: TransferError) {
        let error = LoadError.transfer(failure)
        if let held = course?.held, !error.isOutOfTime {
            held.end = .failed(error)
            startClock()
        } else if !isAnsweredByCache(error), !asksForCredentials(error, transfer), !waitsForNetwork(error, transfer),
            !asksInterceptors(about: error)
        {
            fail(error)
        }
    }

    // MARK: - Held responses

    /// Keeps a response back until a step has decided whether it is the task's.
    func hold(_ held: HeldResponse) {
        guard let request = presentRequest else { return }
        course(beginningWith: request).held = held
        held.transfer?.keepsBody = true
    }

    /// Delivers the response that was held, unless an interceptor wants to see it: no other step does.
    func conclude(_ held: HeldResponse) {
        if !asksInterceptors(about: held) { deliver(held) }
    }

    /// Delivers the response that was held: it is the task's.
    func deliver(_ held: HeldResponse) {
        course?.held = nil
        if let transfer = held.transfer {
            // An interceptor may still ask to send the request again.
            transfer.keepsBody = course?.interception != nil
            if held.end != nil, !transfer.keepsBody { transfer.surrenderBody()?.close() }
            receive(held.response, to: held.request, transfer)
            // The consumer may have refused the response, and the task may load something else: drop the rest.
            guard transfer === self.transfer else { return }
            // Before the body, which the task does not decode while the transfer is paused.
            transfer.unpause(.undecided)
        } else {
            deliver(held.response, to: held.request, isDecoded: held.isDecoded)
        }
        if isLoading, !held.body.isEmpty { held.body.withUnsafeBytes { receive($0) } }
        guard isLoading else { return }
        switch held.end {
        case nil: break
        case .finished: bodyEnded()
        case .failed(let error): fail(error)
        }
    }
}
