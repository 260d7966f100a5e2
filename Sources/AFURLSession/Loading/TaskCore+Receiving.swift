import AFTransport
import AFWire
import Foundation

// What the transfer under way tells.

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
            // A body sent again is progress only from where the first attempt ended.
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

    /// The task's response, from the network.
    func receive(_ response: HTTPURLResponse, to request: WireRequest, _ transfer: Transfer) {
        session.cache.note(response, to: request)
        writer = cacheWriter(for: response, of: transfer)
        deliver(response, to: request, isDecoded: false)
    }

    /// The task's response.
    func deliver(_ response: HTTPURLResponse, to request: WireRequest, isDecoded: Bool) {
        note(response, expecting: request.isHead ? 0 : response.expectedContentLength)
        // Asked first: an object that refuses to be made has been made.
        content = isDecoded || !response.contentPlan.changesLength ? nil : CodedBody(response.contentPlan, of: self)
        consumer.receivedResponse(response, of: self)
    }

    /// The task's response, whose body comes as it is.
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

    /// A piece of the content itself.
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

    /// Keeps a response back until it is decided whose it is.
    func hold(_ held: HeldResponse) {
        guard let request = presentRequest else { return }
        course(beginningWith: request).held = held
        held.transfer?.keepsBody = true
    }

    /// A response that was held back is nobody else's.
    func conclude(_ held: HeldResponse) {
        if !asksInterceptors(about: held) { deliver(held) }
    }

    /// A response that was held back is the task's after all.
    func deliver(_ held: HeldResponse) {
        course?.held = nil
        if let transfer = held.transfer {
            // Even now somebody may want it all again.
            transfer.keepsBody = course?.interception != nil
            if held.end != nil, !transfer.keepsBody { transfer.surrenderBody()?.close() }
            receive(held.response, to: held.request, transfer)
            // Whoever got it may have had no use for it, and something else is loaded: what is left of it is nobody's.
            guard transfer === self.transfer else { return }
            // Before the body, which is not decoded while anybody holds it up.
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
