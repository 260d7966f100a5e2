import AFLoop
import AFTLS
import AFWire

/// One connection that speaks HTTP/1.1, one exchange at a time. It pipelines requests that ask for it.
///
/// 1. `ConnectionParts` makes it of a channel that is connected and, for https, secured.
/// 2. `begin`: the pool gives it a request. What has arrived before the request leaves is no answer to it.
/// 3. `write`: the request leaves, with a permit: the head, then the body as fast as rates and its owner allow.
/// 4. `read`: interim heads, head, body and trailers arrive. They may begin, and end, before the request has left in full.
/// 5. `finish`: the connection goes back to its owner, or closes. Only then is the client told.
/// 6. `rest`: idle, it holds no buffers, and ends if the server says anything. It goes on with 2.
///
/// With pipelined requests behind it, 5 leads to 4: the first of them is the client now. From 2 to 5 the client may
/// `abandon` it, which closes it, or take its channel by `surrender`. `close` may come at any time. A request that dies
/// with a used connection before any answer begins anew on a fresh one, if that is safe (`replace`).
///
/// Drives a channel by what the exchange machine and the response decoder say. It holds no buffer of its own beyond an
/// incomplete head, unless a server sends more pieces with one read than its share of a turn allows.
final class HTTP1Connection: HTTPConnection, ChannelHandler, BodyClient, RateClient {
    /// The fields of a head that cost as much as a piece of a body.
    private static let fieldsPerPiece = 16

    // MARK: Constants
    let made: ConnectionReport
    let opened: LoopInstant
    let generation: Int
    private let channel: any ByteChannel
    /// The channel, if it is a secured one.
    private let secured: TLSChannel?
    private let turnShare: TurnShare
    private let owner: any ConnectionOwner
    private let limits: ConnectionLimits
    private let loop: EventLoop
    private let buffer: ReadBuffer
    private let writer = RequestWriter()

    // MARK: From request to request
    @exclusivity(unchecked) private var isClosed = false
    @exclusivity(unchecked) private(set) var isReused = false
    @exclusivity(unchecked) private(set) var keepAliveHint: Duration?

    // MARK: The exchange under way
    @exclusivity(unchecked) private var client: (any ExchangeClient)?
    @exclusivity(unchecked) private var machine = ExchangeMachine()
    @exclusivity(unchecked) private var decoder = ResponseDecoder(method: .other)
    @exclusivity(unchecked) private var hasReceived = false
    /// What was read and is not decoded yet.
    @exclusivity(unchecked) private var backlog = Backlog()
    /// The peer takes no more, for this reason. What it sent before is still read.
    @exclusivity(unchecked) private var sendError: SystemCallError?
    /// The limit that the request itself sets for sending its body, if it does.
    @exclusivity(unchecked) private var ownRate: RateLimit?
    /// The pipelined requests, whose turn comes after it.
    @exclusivity(unchecked) private var pipeline = Pipeline()

    init(_ parts: ConnectionParts) {
        channel = parts.channel
        secured = parts.channel as? TLSChannel
        turnShare = parts.channel.turnShare
        made = parts.made
        generation = parts.generation
        owner = parts.owner
        limits = parts.limits
        loop = parts.platform.loop
        buffer = parts.platform.readBuffer.value
        opened = parts.platform.loop.now
        channel.handler = self
    }

    // MARK: - From the pool

    func begin(_ client: any ExchangeClient) {
        self.client = client
        let request = client.request
        machine = ExchangeMachine(keepsAlive: !request.closesConnection)
        decoder.beginAnew(
            request.head.traits.isHead ? .head : request.opensWebSocket ? .webSocket : .other,
            allowsLeadingEmptyLine: !isReused
        )
        hasReceived = false
        client.exchangeBegins(on: self)
        writer.start(request, body: client.body, patience: limits.continuePatience, on: loop, for: self)
        ownRate = request.ownLimits?.sendRate.flatMap { RateLimit(bytesPerSecond: $0, on: loop) }
        if client.outlastsPeers || client.isHeldUp { channel.probePeer() }
        guard !channel.isReadable else { return peerSpokeFirst() }
        write()
    }

    /// One request, unless others may be sent behind it: that one, too, can be sent again should no answer come, nothing
    /// holds it up, and the server has shown that it keeps connections.
    var capacity: Int {
        guard let client, client.mayBePipelined, !client.isHeldUp, isReused, !owner.avoidsPipelining,
            machine.sending == .done, machine.receiving == .head, !channel.isReadable, owner.mayTakeMore(self)
        else {
            return 1
        }
        return 1 + Pipeline.depth
    }

    var load: Int { (client == nil ? 0 : 1) + pipeline.count }
    var answersInOrder: Bool { true }

    /// Pipelines a request.
    func append(_ client: any ExchangeClient) {
        pipeline.append(client)
        client.follow(on: self)
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        letGo()
        channel.close()
        owner.connectionClosed(self)
        for follower in pipeline.takeAll() { follower.lostItsTurn() }
    }

    func surrender() -> (any ByteChannel)? {
        guard client != nil, pipeline.isEmpty, !machine.isSending, backlog.isEmpty, !isClosed else { return nil }
        isClosed = true
        letGo()
        channel.handler = nil
        owner.connectionLeft(self)
        return channel
    }

    /// Gives back memory, and has the kernel find out whether the peer is still there.
    func rest() {
        isReused = true
        pipeline = Pipeline()
        channel.probePeer()
        secured?.rest()
    }

    // MARK: - From the client

    func probePeer(for client: any ExchangeClient) {
        channel.probePeer()
    }

    /// The connection is closed: the rest of the response must meet no other request. A pipelined client keeps its place.
    func abandon(_ former: any ExchangeClient) {
        guard former === client else { return pipeline.remove(former) }
        perform(.cancelled)
    }

    func goOn(with client: any ExchangeClient) {
        if hasInput || machine.isSending { channel.continueNextTurn() }
    }

    // MARK: - From the channel

    func channelReady() {
        guard client != nil else {
            // No request is under way, so no bytes can be an answer: the next request would take them for its response.
            // What TLS says to itself is not for us.
            guard isSilent else { return owner.idleConnectionEnded(self) }
            secured?.rest()
            return
        }
        // No byte of the request has left yet, so what comes now is no answer.
        if machine.isSending, !writer.hasBegun, channel.isReadable { return peerSpokeFirst() }
        if channel.isWritable { write() }
        if hasInput { read() }
    }

    /// Whether there may be something to decode now.
    private var hasInput: Bool { channel.isReadable || !backlog.isEmpty || sendError != nil }

    // MARK: - Sending

    func bodyReady() {
        guard let client else { return }
        client.bodyWaits(false)
        write()
    }

    /// Sends what is left of head and body, the head and the beginning of the body in one go.
    private func write() {
        guard !pipeline.hasUnsent else { return sendAppended() }
        while true {
            guard machine.isSending, let client else { return }
            if client.holdsBodyBack, writer.isInBody { return }
            guard let limit = bodyAllowance else { return client.bodyWaits(true) }
            switch writeSome(of: client, atMost: limit) {
            case nil: return
            case .moved(let headBytes, let bodyBytes):
                limits.sending?.take(headBytes + bodyBytes)
                ownRate?.take(bodyBytes)
                client.bodyWaits(false)
                client.sent(headBytes: headBytes, bodyBytes: bodyBytes)
                if writer.isDone, machine.isSending, self.client != nil { return requestSent() }
                if turnShare.isSpentForWriting { return channel.continueNextTurn() }
            case .blocked: return
            case .waiting: return client.bodyWaits(true)
            case .finished: return requestSent()
            case .failed(let error): return sendingFailed(error)
            case .bodyFailed(let failure): return bodyFailed(failure)
            }
        }
    }

    /// Nil if the request may not leave now.
    private func writeSome(of client: any ExchangeClient, atMost limit: Int) -> RequestWriter.Step? {
        guard !writer.hasBegun else { return writer.goOn(to: channel, atMost: limit) }
        do throws(Refusal) {
            return writer.begin(try client.depart(), to: channel, atMost: limit)
        } catch {
            if error == .otherRules { replace(client) }
            return nil
        }
    }

    /// Sends the pipelined requests, all of them in one go.
    func sendAppended() {
        guard client != nil, channel.isWritable else { return }
        clearFollowers()
        guard client != nil, pipeline.hasUnsent, owner.isCurrent(self) else { return }
        switch pipeline.withUnsent({ channel.write($0, second: .empty) }) {
        case .wouldBlock: return
        case .failed(let error): return sendingFailed(error)
        case .bytes(let count): pipeline.noteSent(count)
        }
        if pipeline.hasUnsent, channel.isWritable { channel.continueNextTurn() }
    }

    /// Those that may not leave now make room for the ones behind them.
    private func clearFollowers() {
        while let follower = pipeline.firstWithoutLeave {
            do throws(Refusal) {
                pipeline.take(try follower.depart(), for: follower)
            } catch {
                pipeline.remove(follower)
                if error == .suspended || error == .otherRules { follower.lostItsTurn() }
            }
        }
    }

    /// The announced body cannot be sent, and nothing else may be in its place.
    private func bodyFailed(_ failure: BodyFailure) {
        perform(.cancelled, for: .body(failure))
    }

    /// The server gets no more of the request.
    private func stopSending() {
        writer.stop(for: self)
        limits.sending?.leave(self)
        ownRate?.shutDown()
        ownRate = nil
    }

    private func requestSent() {
        perform(.requestFinished)
        client?.requestSent()
    }

    /// The peer takes no more. What it sent before is in our receive buffer, behind the error, and is the better
    /// answer.
    private func sendingFailed(_ error: SystemCallError) {
        perform(.sendingFailed)
        sendError = error
        read()
    }

    /// How much of the body may be sent now. Nil: it has to wait for its share. The head never waits.
    private var bodyAllowance: Int? {
        guard limits.sending != nil || ownRate != nil, channel.isWritable else { return .max }
        guard writer.isInBody, !writer.isAtEnd else { return 0 }
        // Ask the request's own limit first: it keeps that grant while it waits for the shared limit.
        let own = ownRate?.request(for: self) ?? .max
        guard own > 0 else { return nil }
        let shared = limits.sending?.request(for: self) ?? .max
        return shared > 0 ? min(own, shared) : nil
    }

    func rateAllows(_ limit: RateLimit) {
        guard let client else { return limit.leave(self) }
        if limit === limits.receiving {
            client.shareIsSpent(false)
        } else {
            client.bodyWaits(false)
            channel.continueNextTurn()
        }
    }

    // MARK: - Receiving

    private func read() {
        while let client, readSome(for: client) {
            if self.client != nil, turnShare.isSpent { return channel.continueNextTurn() }
        }
    }

    /// False if there is nothing more to read now, or nothing more may be. Nothing holds up the end of a connection that
    /// is broken.
    private func readSome(for client: any ExchangeClient) -> Bool {
        guard sendError == nil else { return decodeBacklog() || readOnce() }
        guard !client.isHeldUp else { return false }
        if decodeBacklog() { return true }
        guard channel.isReadable else { return false }
        guard let receiving = limits.receiving else { return readOnce() }
        let allowance = receiving.request(for: self)
        guard allowance > 0 else {
            client.shareIsSpent(true)
            return false
        }
        return readOnce(atMost: allowance)
    }

    /// False if there is none.
    private func decodeBacklog() -> Bool {
        guard !backlog.isEmpty else { return false }
        let used = backlog.withBytes { $0.count - decode($0).count }
        if client == nil { backlog = Backlog() } else { backlog.removeFirst(used) }
        return true
    }

    /// False if there is nothing more to read now.
    private func readOnce(atMost limit: Int = .max) -> Bool {
        let whole = buffer.forReading()
        let room = limit < whole.count ? UnsafeMutableRawBufferPointer(rebasing: whole[..<limit]) : whole
        switch channel.read(into: room) {
        case .bytes(let count):
            limits.receiving?.take(count)
            let left = decode(UnsafeRawBufferPointer(rebasing: room[..<count]))
            if client != nil, !left.isEmpty { backlog = Backlog(Array(left)) }
            return true
        case .wouldBlock:
            // A share that is spent on records without data says nothing about what follows.
            if channel.isReadable { channel.continueNextTurn() } else if let sendError { channelFailed(sendError) }
        case .end:
            inputEnded()
        case .failed(let error):
            channelFailed(sendError ?? error)
        }
        return false
    }

    /// - Returns: What the share of this turn did not allow. If the connection has no request any more, it is surplus.
    private func decode(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var rest = bytes
        let allowed = turnShare.piecesLeft
        var pieces = 0
        defer { turnShare.take(pieces: pieces) }
        while let client {
            if !hasReceived, !rest.isEmpty {
                hasReceived = true
                client.responseBegan()
            }
            do throws(HTTP1Error) {
                let step = try decoder.decode(rest)
                rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
                if case .needMore = step.event { return rest }
                // What came with a head does not wait: who takes the channel over then has got all that was read.
                let mayStop = step.event.mayBeLast
                deliver(step, to: client, surplus: !rest.isEmpty && pipeline.isEmpty, counting: &pieces)
                if pieces >= allowed, mayStop, !rest.isEmpty { return rest }
            } catch {
                if !pipeline.isEmpty { owner.avoidsPipelining = true }
                perform(.responseMalformed, for: .wire(error))
            }
        }
        return rest
    }

    /// - Parameter pieces: Counts what the event costs.
    private func deliver(
        _ step: consuming ResponseDecoder.Step,
        to client: any ExchangeClient,
        surplus: Bool,
        counting pieces: inout Int
    ) {
        pieces += 1
        switch step.event {
        case .needMore: break
        case .interim(let head):
            pieces += head.headers.count / HTTP1Connection.fieldsPerPiece
            perform(.interimResponse)
            client.receivedInterim(head)
            // Do not send from here: bytes are being decoded.
            if head.status == 100, writer.serverGoesOn() { channel.continueNextTurn() }
        case .head(let head):
            pieces += head.headers.count / HTTP1Connection.fieldsPerPiece
            // RFC 9110 §15.5.9: the server gave up on an idle connection, and says so to the next request, which it has
            // probably not seen: that is no reason to send it something twice.
            if head.status == 408, client.mayRetry(reused: isReused, unprocessed: false) { return replace(client) }
            if head.status == 417, client.mayDropExpectation {
                client.dropExpectation()
                return replace(client)
            }
            keepAliveHint = head.keepAliveTimeout.map { .seconds($0) }
            perform(.responseHead(endsSending: machine.isSending && (head.endsRequest || writer.awaitsContinue)))
            client.receivedHead(head, headBytes: step.headBytes)
        case .body(let slice):
            client.receivedBody(slice)
        case .end(let trailers):
            if !trailers.isEmpty {
                pieces += trailers.count / HTTP1Connection.fieldsPerPiece
                client.receivedTrailers(trailers)
            }
            perform(.responseFinished(framedExactly: step.framedExactly, surplus: surplus))
        }
    }

    private func inputEnded() {
        guard client != nil else { return }
        do throws(HTTP1Error) {
            if case .end = try decoder.inputEnded() {
                if let secured, secured.isTruncated, !owner.toleratesMissingCloseNotify {
                    return peerClosed(.cutShort)
                }
                perform(.responseFinished(framedExactly: false, surplus: false))
            }
        } catch {
            peerClosed(sendError.map { .channel($0, .sending) } ?? .wire(error))
        }
    }

    private func channelFailed(_ error: SystemCallError) {
        guard let client else { return }
        if let failure = secured?.failure { return peerClosed(.secured(failure, client.phase, identity)) }
        peerClosed(.channel(error, client.phase))
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
            if let client, client.mayRetry(reused: isReused, unprocessed: true) { return replace(client) }
            let said = UnsafeRawBufferPointer(rebasing: room[..<count])
            fail(.wire(HTTP1Error(.status, reason: "the peer spoke before it was asked", peer: said)))
        case .wouldBlock: write()
        case .end: inputEnded()
        case .failed(let error): channelFailed(error)
        }
    }

    // MARK: - Ending

    private func letGo() {
        client = nil
        sendError = nil
        stopSending()
        limits.receiving?.leave(self)
    }

    /// Tells the machine, and does what it says.
    ///
    /// - Parameter error: What the client gets if that is to fail. Nil: it wants to know nothing any more.
    private func perform(_ event: ExchangeMachine.Event, for error: TransferError? = nil) {
        switch machine.handle(event) {
        case .wait, .deliverHead(stopSending: false): break
        case .stopSending, .deliverHead(stopSending: true):
            stopSending()
            client?.bodyWaits(false)
        case .finish(let reuse): finish(reuse: reuse)
        case .fail(let retryable): fail(error, isUnanswered: retryable)
        }
    }

    private func peerClosed(_ error: TransferError) {
        if !pipeline.isEmpty { owner.avoidsPipelining = true }
        perform(.peerClosed(receivedBytes: hasReceived), for: error)
    }

    /// The connection goes back first: the completion may start another request to
    /// the same peer, and must find it idle.
    private func finish(reuse: Bool) {
        guard let client else { return }
        letGo()
        if pipeline.isEmpty {
            owner.exchangeEnded(on: self, mayReuse: reuse && isSilent)
        } else if !reuse || !goOnWithFollower() {
            owner.exchangeEnded(on: self, mayReuse: false)
        }
        client.exchangeFinished()
    }

    /// Gives the next answer to the next pipelined request. False if that request has left or is not sent, or if the
    /// connection may not go on.
    private func goOnWithFollower() -> Bool {
        guard owner.isCurrent(self), let client = pipeline.takeFirst() else { return false }
        // It takes no answer now, and what was read already cannot wait.
        guard !client.isHeldUp else {
            client.lostItsTurn()
            return false
        }
        self.client = client
        isReused = true
        machine = ExchangeMachine()
        perform(.requestFinished)
        decoder.beginAnew(client.request.head.traits.isHead ? .head : .other)
        writer.reset()
        hasReceived = false
        client.leads(on: self)
        owner.connectionHasRoom()
        return true
    }

    /// Reads if need be: the last read says nothing about what follows if it filled the buffer to its end, or met a
    /// hang-up.
    private var isSilent: Bool {
        !channel.isReadable || (channel.read(into: buffer.forReading()) == .wouldBlock && !channel.isReadable)
    }

    private func fail(_ error: TransferError?, isUnanswered: Bool = false) {
        guard let client else { return }
        if isUnanswered, client.mayRetry(reused: isReused, unprocessed: !writer.hasBegun) { return replace(client) }
        letGo()
        owner.exchangeEnded(on: self, mayReuse: false)
        if let error { client.exchangeFailed(error) }
    }

    /// Leaves the request to a fresh connection, which takes this one's place.
    private func replace(_ client: any ExchangeClient) {
        close()
        client.retry()
    }
}

extension ResponseDecoder.Event {
    /// Whether what follows may wait for another turn.
    fileprivate var mayBeLast: Bool {
        switch self {
        case .interim, .body: true
        case .needMore, .head, .end: false
        }
    }
}
