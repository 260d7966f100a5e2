package import AFLoop
import AFTLS
import AFWire

/// One connection that speaks HTTP/1.1, one exchange at a time. It pipelines requests that ask for it.
///
/// Drives a channel by what the exchange machine and the response decoder say, and
/// holds no buffer of its own beyond an incomplete head.
package final class HTTPConnection: ChannelHandler, BodyClient, PooledConnection, RateClient {
    /// Reads or writes per turn, so that one fast peer leaves room for the others.
    private static let stepsPerTurn = 16

    // MARK: Constants
    package let peer: Peer
    package let made: ConnectionReport
    /// The channel, if it is a secured one.
    package let secured: TLSChannel?
    package let opened: LoopInstant
    package let generation: Int
    private let channel: any ByteChannel
    private let pool: ConnectionPool
    private let loop: EventLoop
    private let buffer: ReadBuffer
    private let writer = RequestWriter()

    // MARK: From exchange to exchange
    @exclusivity(unchecked) private var isClosed = false
    /// It has completed an exchange before.
    @exclusivity(unchecked) package private(set) var isReused = false
    /// How long the peer said it will keep the connection.
    @exclusivity(unchecked) package private(set) var keepAliveHint: Duration?

    // MARK: The exchange under way
    @exclusivity(unchecked) private var transfer: Transfer?
    @exclusivity(unchecked) private var machine = ExchangeMachine()
    @exclusivity(unchecked) private var decoder = ResponseDecoder(method: .other)
    @exclusivity(unchecked) private var hasReceived = false
    /// The limit that the request itself sets for sending its body, if it does.
    @exclusivity(unchecked) private var ownRate: RateLimit?
    /// The pipelined requests, whose turn comes after it.
    @exclusivity(unchecked) private var pipeline = Pipeline()

    package init(
        _ channel: any ByteChannel,
        to peer: Peer,
        in pool: ConnectionPool,
        platform: Platform,
        made: ConnectionReport
    ) {
        self.channel = channel
        secured = channel as? TLSChannel
        self.peer = peer
        self.pool = pool
        self.made = made
        loop = platform.loop
        buffer = platform.readBuffer.value
        opened = platform.loop.now
        generation = pool.generation
        channel.handler = self
    }

    // MARK: - From the pool

    package func begin(_ transfer: Transfer) {
        self.transfer = transfer
        machine = ExchangeMachine(keepsAlive: !transfer.request.closesConnection)
        let method: ResponseDecoder.Method = transfer.request.isHead ? .head : .other
        decoder = ResponseDecoder(method: method, allowsLeadingEmptyLine: !isReused)
        hasReceived = false
        transfer.exchangeBegins(on: self)
        writer.start(transfer.request, transfer.body, patience: pool.continuePatience, on: loop, for: self)
        ownRate = transfer.request.limits?.sendRate.flatMap { RateLimit($0, on: loop) }
        if transfer.outlastsPeers || !transfer.pauses.isEmpty { channel.probePeer() }
        guard !channel.isReadable else { return peerSpokeFirst() }
        write()
    }

    /// Whether a request may be sent behind the one under way: that one, too, can be sent
    /// again should no answer come, nothing holds it up, and the peer has shown that it
    /// keeps connections.
    package var takesMore: Bool {
        guard let transfer, transfer.mayBePipelined, transfer.pauses.isEmpty, isReused, !peer.avoidsPipelining else {
            return false
        }
        return machine.sending == .done && machine.receiving == .head && !channel.isReadable
            && pipeline.count < Pipeline.depth && mayGoOn && pool.mayGoOn(self)
    }

    /// How many requests wait behind the one under way.
    package var load: Int { pipeline.count }

    /// The rules it was made under still hold.
    private var mayGoOn: Bool { !peer.isRetired && generation == pool.generation }

    /// Pipelines a request. It leaves together with all that are appended in this turn.
    package func append(_ transfer: Transfer) {
        pipeline.append(transfer)
        transfer.follows(on: self)
    }

    package func close() {
        if !isClosed { pool.observer?.connection(made.number, .closed) }
        isClosed = true
        letGo()
        channel.close()
        peer.machine.connectionClosed(self)
        for follower in pipeline.takeAll() { pool.sendAgain(follower) }
    }

    /// Gives its channel away. What comes from now on is no HTTP, and the new owner closes the channel. Nil if not all
    /// was sent, or pipelined requests wait on it.
    func surrender() -> (any ByteChannel)? {
        guard transfer != nil, pipeline.isEmpty, !machine.isSending, !isClosed else { return nil }
        isClosed = true
        letGo()
        channel.handler = nil
        pool.connectionLeft(self)
        return channel
    }

    /// Prepares for being idle: gives back memory, and has the kernel find out whether the peer is still there.
    package func rest() {
        pipeline = Pipeline()
        channel.probePeer()
        secured?.rest()
    }

    // MARK: - From the transfer

    /// The transfer is held up, and no deadline of its own watches the peer: the kernel has to.
    package func probePeer() {
        channel.probePeer()
    }

    /// A transfer wants nothing more. The connection is closed: the rest of the response must meet no other request. A
    /// pipelined transfer keeps its place.
    package func abandon(_ former: Transfer) {
        guard former === transfer else { return pipeline.remove(former) }
        letGo()
        pool.exchangeEnded(on: self, mayReuse: false)
    }

    /// Nothing holds up the transfer any more.
    package func goOn() {
        if channel.isReadable || machine.isSending { channel.continueNextTurn() }
    }

    // MARK: - From the channel

    package func channelReady() {
        guard transfer != nil else {
            // No request is under way, so no bytes can be an answer: the next request would take them for its response.
            // What TLS says to itself is not for us.
            guard isSilent else { return pool.idleConnectionEnded(self) }
            secured?.rest()
            return
        }
        // No byte of the request has left yet, so what comes now is no answer.
        if machine.isSending, !writer.hasBegun, channel.isReadable { return peerSpokeFirst() }
        if channel.isWritable { write() }
        if channel.isReadable { read() }
    }

    // MARK: - Sending

    package func bodyReady() {
        guard transfer != nil else { return }
        transfer?.bodyWaits(false)
        write()
    }

    /// Sends what is left of head and body, the head and the beginning of the body in
    /// one go.
    private func write() {
        guard !pipeline.hasUnsent else { return writeAhead() }
        for _ in 0..<HTTPConnection.stepsPerTurn {
            guard let transfer, machine.isSending else { return }
            if writer.isInBody, transfer.pauses.contains(.suspended) { return }
            guard let limit = bodyAllowance else { return transfer.bodyWaits(true) }
            switch writer.write(to: channel, atMost: limit) {
            case .moved(let headBytes, let bodyBytes):
                pool.sending?.take(headBytes + bodyBytes)
                ownRate?.take(bodyBytes)
                transfer.bodyWaits(false)
                transfer.sent(headBytes: headBytes, bodyBytes: bodyBytes)
            case .blocked: return
            case .waiting: return transfer.bodyWaits(true)
            case .finished: return requestSent()
            case .failed(let error): return sendingFailed(error)
            case .bodyFailed(let failure): return bodyFailed(failure)
            }
        }
        channel.continueNextTurn()
    }

    /// Sends the pipelined requests, all of them in one go.
    func writeAhead() {
        guard transfer != nil, mayGoOn, channel.isWritable else { return }
        switch pipeline.withUnsent({ channel.write($0, .empty) }) {
        case .wouldBlock: return
        case .failed(let error): return sendingFailed(error)
        case .bytes(let count): pipeline.noteSent(count)
        }
        if pipeline.hasUnsent, channel.isWritable { channel.continueNextTurn() }
    }

    /// The announced body cannot be sent, and nothing else may be in its place.
    private func bodyFailed(_ failure: BodyFailure) {
        if case .fail = machine.handle(.cancelled) { fail(.body(failure)) }
    }

    private func requestSent() {
        perform(.requestFinished)
        transfer?.requestSent()
    }

    /// The peer takes no more. What it sent before is in our receive buffer, behind the error, and is the better
    /// answer.
    private func sendingFailed(_ error: SystemCallError) {
        perform(.sendingFailed)
        while transfer != nil, readOnce(insteadOf: error) {}
    }

    /// How much of the body may be sent now. Nil: it has to wait for its share. The head never waits.
    private var bodyAllowance: Int? {
        guard pool.sending != nil || ownRate != nil, channel.isWritable else { return .max }
        guard writer.isInBody, !writer.isAtEnd else { return 0 }
        // Ask the request's own limit first: it keeps that grant while it waits for the shared limit.
        let own = ownRate?.request(for: self) ?? .max
        guard own > 0 else { return nil }
        let shared = pool.sending?.request(for: self) ?? .max
        return shared > 0 ? min(own, shared) : nil
    }

    package func rateAllows(_ limit: RateLimit) {
        guard let transfer else { return limit.leave(self) }
        if limit === pool.receiving {
            transfer.unpause(.share)
        } else {
            transfer.bodyWaits(false)
            channel.continueNextTurn()
        }
    }

    // MARK: - Receiving

    private func read() {
        for _ in 0..<HTTPConnection.stepsPerTurn {
            guard let transfer, transfer.pauses.isEmpty, channel.isReadable, readShare(of: transfer) else { return }
        }
        if transfer != nil { channel.continueNextTurn() }
    }

    /// False if there is nothing more to read now, or nothing more may be.
    private func readShare(of transfer: Transfer) -> Bool {
        guard let receiving = pool.receiving else { return readOnce() }
        let share = receiving.request(for: self)
        guard share > 0 else {
            transfer.pause(.share)
            return false
        }
        return readOnce(atMost: share)
    }

    /// False if there is nothing more to read now.
    private func readOnce(insteadOf sendError: SystemCallError? = nil, atMost limit: Int = .max) -> Bool {
        let whole = buffer.forReading()
        let room = limit < whole.count ? UnsafeMutableRawBufferPointer(rebasing: whole[..<limit]) : whole
        switch channel.read(into: room) {
        case .bytes(let count):
            pool.receiving?.take(count)
            decode(UnsafeRawBufferPointer(rebasing: room[..<count]))
            return true
        case .wouldBlock:
            if let sendError { channelFailed(sendError) }
        case .end:
            inputEnded(sendError)
        case .failed(let error):
            channelFailed(sendError ?? error)
        }
        return false
    }

    private func decode(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while let transfer {
            if !hasReceived, !rest.isEmpty {
                hasReceived = true
                transfer.responseBegan()
            }
            do throws(HTTP1Error) {
                let step = try decoder.decode(rest)
                rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
                if case .needMore = step.event { return }
                deliver(step, to: transfer, surplus: !rest.isEmpty && pipeline.isEmpty)
            } catch {
                if !pipeline.isEmpty { pool.avoidPipelining(to: peer) }
                if case .fail = machine.handle(.responseMalformed) { fail(.wire(error)) }
            }
        }
    }

    private func deliver(_ step: consuming ResponseDecoder.Step, to transfer: Transfer, surplus: Bool) {
        switch step.event {
        case .needMore: break
        case .interim(let head):
            perform(.interimResponse)
            transfer.receivedInterim(head)
            // Do not send from here: bytes are being decoded.
            if head.status == 100, writer.serverGoesOn() { channel.continueNextTurn() }
        case .head(let head):
            // RFC 9110 §15.5.9: the server gave up on an idle connection, and says so to the next request, which it has
            // not seen.
            if head.status == 408, transfer.mayRetry(reused: isReused, unprocessed: true) { return replace(transfer) }
            if head.status == 417, transfer.mayDropExpectation() {
                transfer.dropExpectation()
                return replace(transfer)
            }
            keepAliveHint = head.keepAliveTimeout.map { .seconds($0) }
            perform(.responseHead)
            transfer.receivedHead(head, headBytes: step.headBytes)
        case .body(let slice):
            transfer.receivedBody(slice)
        case .end(let trailers):
            if !trailers.isEmpty { transfer.receivedTrailers(trailers) }
            perform(.responseFinished(framedExactly: step.framedExactly, surplus: surplus))
        }
    }

    private func inputEnded(_ sendError: SystemCallError?) {
        guard transfer != nil else { return }
        do throws(HTTP1Error) {
            if case .end = try decoder.inputEnded() {
                if let secured, secured.isTruncated, !toleratesMissingFarewell {
                    return peerClosed(.cutShort)
                }
                perform(.responseFinished(framedExactly: false, surplus: false))
            }
        } catch {
            peerClosed(sendError.map { .channel($0, .sending) } ?? .wire(error))
        }
    }

    private func channelFailed(_ error: SystemCallError) {
        guard let transfer else { return }
        if let failure = secured?.failure { return peerClosed(.secured(failure, transfer.phase, identity)) }
        peerClosed(.channel(error, transfer.phase))
    }

    /// Whether the peer asked for our certificate, and got it: an alert after the handshake may be its verdict.
    private var identity: TransferError.Identification {
        guard let engine = secured?.engine, engine.wasAskedForIdentity else { return .notAsked }
        return engine.hasShownIdentity ? .shown : .withheld
    }

    /// The peer sent something before the request left. The request can go to a fresh connection without harm.
    private func peerSpokeFirst() {
        let room = buffer.forReading()
        switch channel.read(into: room) {
        case .bytes(let count):
            if let transfer, transfer.mayRetry(reused: isReused, unprocessed: true) { return replace(transfer) }
            let said = UnsafeRawBufferPointer(rebasing: room[..<count])
            fail(.wire(HTTP1Error(.status, "the peer spoke before it was asked", peer: said)))
        case .wouldBlock: write()
        case .end: inputEnded(nil)
        case .failed(let error): channelFailed(error)
        }
    }

    private var toleratesMissingFarewell: Bool {
        (peer.key.security ?? peer.key.proxySecurity)?.configuration.toleratesMissingFarewell ?? true
    }

    // MARK: - Ending

    private func letGo() {
        transfer = nil
        writer.stop(for: self)
        pool.receiving?.leave(self)
        pool.sending?.leave(self)
        ownRate?.shutDown()
        ownRate = nil
    }

    private func perform(_ event: ExchangeMachine.Event) {
        switch machine.handle(event) {
        case .finish(let reuse): finish(reuse: reuse)
        case .wait, .deliverHead, .stopSending: break  // `write` asks the machine each time
        case .fail: break  // only follows the events that their callers report with an error
        }
    }

    private func peerClosed(_ error: TransferError) {
        guard case .fail(let retryable) = machine.handle(.peerClosed(receivedBytes: hasReceived)) else { return }
        if !pipeline.isEmpty { pool.avoidPipelining(to: peer) }
        fail(error, isUnanswered: retryable)
    }

    /// The connection goes back first: the completion may start another request to
    /// the same peer, and must find it idle.
    private func finish(reuse: Bool) {
        guard let transfer else { return }
        letGo()
        isReused = true
        if pipeline.isEmpty {
            pool.exchangeEnded(on: self, mayReuse: reuse && isSilent)
        } else if !reuse || !goOnWithFollower() {
            pool.exchangeEnded(on: self, mayReuse: false)
        }
        transfer.exchangeFinished()
    }

    /// Gives the next answer to the next pipelined request. False if that request has left or is not sent, or if the
    /// connection may not go on.
    private func goOnWithFollower() -> Bool {
        guard mayGoOn, let transfer = pipeline.takeFirst() else { return false }
        self.transfer = transfer
        machine = ExchangeMachine()
        perform(.requestFinished)
        decoder = ResponseDecoder(method: transfer.request.isHead ? .head : .other)
        writer.reset()
        hasReceived = false
        transfer.leads(on: self)
        pool.settleLater(peer)
        return true
    }

    /// Reads if need be: the last read says nothing about what follows if it filled the buffer to its end, or met a
    /// hang-up.
    private var isSilent: Bool {
        !channel.isReadable || channel.read(into: buffer.forReading()) == .wouldBlock
    }

    private func fail(_ error: TransferError, isUnanswered: Bool = false) {
        guard let transfer else { return }
        if isUnanswered, transfer.mayRetry(reused: isReused, unprocessed: !writer.hasBegun) { return replace(transfer) }
        letGo()
        pool.exchangeEnded(on: self, mayReuse: false)
        transfer.exchangeFailed(error)
    }

    /// Leaves the request to a fresh connection, which takes this one's place.
    private func replace(_ transfer: Transfer) {
        close()
        transfer.retry()
    }
}
