import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

// What the load does with what its transfer receives.

extension Load: TransferClient {
    func requestToSendAgain(_ transfer: Transfer) -> WireRequest {
        addingStepFields(to: transfer.request, isRepeated: true)
    }

    var taskNumber: Int? { handle?.taskIdentifier }

    var handshakeDelegate: (any HandshakeDelegate)? {
        endpoint.flatMap { challenges(of: $0) }
    }

    func presentJudge(of transfer: Transfer) -> TrustJudge? { trustJudge(for: transfer.key.endpoint) }

    // MARK: - The request

    /// What the program allows its rules, the session does not exceed by itself.
    func transferMaySendAgain(_ transfer: Transfer) -> Bool {
        guard let interception = memory?.interception else { return true }
        return interception.interceptors.allSatisfy { interceptor in
            (interceptor as? any AttemptLimit).map { interception.attempt < $0.maximumAttempts } ?? true
        }
    }

    func forbids(_ request: WireRequest) -> Bool { session.forbids(request) }
    func forbidsTunnel(to endpoint: Endpoint) -> Bool { session.forbidsTunnel(to: endpoint) }
    func transferIsForbidden(_ transfer: Transfer) { judge(.plainTextForbidden) }

    func transferSentBody(_ transfer: Transfer, total: Int64) {
        let hasNews = snapshot.withLock { snapshot in
            // When the session sends a body again, progress goes on where the first attempt ended.
            snapshot.sent = max(snapshot.sent, total)
            return snapshot.sent > snapshot.reportedSent && !snapshot.isSendingAnnounced
        }
        guard hasNews, let (delegate, task) = taskDelegate else { return }
        snapshot.withLock { $0.isSendingAnnounced = true }
        session.outbox.post(.block { Load.reportSent(by: task, to: delegate) })
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

    /// Tells the delegate, whose answer nothing waits for: how many there are is bounded by the decoder of each response.
    func transferReceivedInterim(_ transfer: Transfer, head: ResponseHead) {
        guard let (delegate, task) = taskDelegate, !session.isMissing(.receivedInterim, in: delegate) else { return }
        let response = HTTPURLResponse(url: transfer.request.location, head: head)
        delegateGoesFirst = true
        session.outbox.post(
            .block { delegate.urlSession(task.session, task: task, didReceiveInformationalResponse: response) }
        )
    }

    func transferReceivedHead(_ transfer: Transfer, head: ResponseHead) {
        let steps = session.steps.learning
        for place in steps.indices { steps[place].learn(from: head, of: transfer, for: self) }
        let request = transfer.request
        let response = HTTPURLResponse(
            url: request.location,
            head: head,
            decodes: session.decodesAnswer(to: request),
            after: transfer.precedingHeads
        )
        // No step wants the only response of a load that succeeds.
        if head.status < 300, memory == nil {
            if acceptResponse() { receive(response, to: request, transfer: transfer) }
        } else {
            judge(response: .response(PendingResponse(response, of: transfer)))
        }
    }

    /// Takes the task's response from the network.
    private func receive(_ response: HTTPURLResponse, to request: WireRequest, transfer: Transfer) {
        writer = ResponseKeeper(self).writer(for: response, to: request, of: transfer)
        // What follows a 101 is no body.
        deliver(response, to: request, isDecoded: request.opensWebSocket && response.statusCode == 101)
    }

    /// Delivers the task's response.
    private func deliver(_ response: HTTPURLResponse, to request: WireRequest, isDecoded: Bool) {
        note(response, expecting: request.head.traits.isHead ? 0 : response.expectedContentLength)
        // Ask the plan first: a `CodedBody` that refuses to be made has been allocated.
        content = isDecoded || !response.contentPlan.changesLength ? nil : codedBody(response.contentPlan)
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

    /// Delivers a response that the steps have judged: it is the task's.
    func deliver(_ pending: PendingResponse) {
        memory?.pending = nil
        if let transfer = pending.transfer {
            // An interceptor may still ask to send the request again.
            transfer.keepsBody = memory?.interception != nil
            if pending.end != nil, !transfer.keepsBody { transfer.surrenderBody()?.close() }
            receive(pending.response, to: pending.request, transfer: transfer)
            // The consumer may have refused the response, and the task may load something else: drop the rest.
            guard transfer === self.transfer else { return }
            // Before the body, which the load does not decode while the transfer is paused.
            transfer.unpause(.full)
            transfer.unpause(.undecided)
        } else {
            deliver(pending.response, to: pending.request, isDecoded: pending.isDecoded)
        }
        if isLoading, !pending.body.isEmpty { pending.body.withUnsafeBytes { receive($0) } }
        guard isLoading else { return }
        switch pending.end {
        case nil: break
        case .finished: bodyEnded()
        case .failed(let error): fail(error)
        }
    }

    /// Answers with a stored response as if it had come from the network: the steps judge it, too.
    func answer(with stored: StoredAnswer) {
        guard let present = presentRequest else { return }
        let hit = stored.isConfirmed ? stored.hit : stored.hit.unconfirmed(at: cache.moment())
        let now = session.loop.now
        let times = TransferTimes(servedFromCacheAt: now, asked: stored.asked ?? now)
        let record = ExchangeRecord(.cache(times, stored.request), request: present, response: hit.response)
        memory(beginningWith: present).add(record)
        if let (request, question) = stored.refresh {
            CacheRefresh.begin(request, hit: stored.hit, question: question, after: self)
        }
        trace?.servedFromCache()
        judge(response: .response(PendingResponse(hit, for: stored.request)))
        if transfer == nil, memory?.foreign == nil { watchTime() }
    }

    // MARK: - The body

    func transferReceivedBody(_ transfer: Transfer, bytes: UnsafeRawBufferPointer) {
        switch take(.part) {
        case .deliver: receive(bytes)
        case .keep: memory?.pending?.keep(bytes)
        default: break
        }
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
        if let writer { consumer.collected == nil ? writer.append(bytes) : writer.count(bytes) }
        trace?.delivered(bytes)
        consumer.receivedBody(bytes, of: self)
    }

    func transferFinished(_ transfer: Transfer) {
        switch take(.end) {
        case .deliver: bodyEnded()
        case .keep: memory?.pending?.end = .finished
        default: break
        }
    }

    private func bodyEnded() {
        if let content { content.inputEnded() } else { finishReceiving() }
    }

    func transferFailed(_ transfer: Transfer, error failure: TransferError) { judge(.transfer(failure)) }

    // MARK: - Decoding

    private func codedBody(_ plan: ContentPlan) -> CodedBody? {
        CodedBody(
            plan: plan,
            of: self,
            within: session.settings.content.limits,
            page: session.world.platform.contentPage.value,
            on: session.loop
        )
    }

    var mayDecode: Bool { transfer?.pauses.isSubset(of: .undecoded) ?? true }

    func isDecoding(_ body: CodedBody) -> Bool { content === body && isLoading }

    func transferMayDecode(_ transfer: Transfer) {
        content?.goOnSoon()
    }

    func deliver(decoded bytes: UnsafeRawBufferPointer) {
        transfer?.decoded(bytes.count)
        deliver(bytes)
    }

    /// The length of the longest piece that the consumer is given at a time.
    var longestPiece: Int { content == nil ? ReadBuffer.size : ContentDecoder.pieceSize }

    // MARK: - From the consumer

    /// Counts the bytes of an earlier task, which the response continues.
    func count(from offset: Int64, total: Int64?) {
        let expected = total ?? NSURLSessionTransferSizeUnknown
        snapshot.withLock { snapshot in
            snapshot.received = offset
            snapshot.expectedToReceive = expected
            snapshot.progress?.totalUnitCount = expected
            snapshot.progress?.completedUnitCount = offset
        }
    }

    /// Shows the task's owner this response in place of the one that came.
    func present(_ response: URLResponse) {
        self.response = response
        snapshot.withLock { $0.response = response }
    }

    var expectedBodyLength: Int64 { response?.expectedContentLength ?? NSURLSessionTransferSizeUnknown }
}

extension Load: DecodedBodyTarget {}
