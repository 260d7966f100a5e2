import AFLoop
import AFWire

/// Sends one request, head and body: everything about the sending half of an exchange that is not a decision.
///
/// Two slices leave at a time: framing (the head, and what stands around chunks) and the content behind it, in place.
final class RequestWriter {
    enum Step {
        /// The kernel has taken so much of head and content.
        case moved(headBytes: Int, bodyBytes: Int)
        /// The channel takes nothing now.
        case blocked
        /// The body has nothing now; it tells its client when it has.
        case waiting
        case finished
        case failed(SystemCallError)
        case bodyFailed(BodyFailure)
    }

    /// Most heads are shorter.
    private static let keptCapacity = 2048

    @exclusivity(unchecked) private var body: (any BodySource)?
    /// The same as `body`, if the request waits for `100 Continue`.
    @exclusivity(unchecked) private var gate: ContinueGate?
    @exclusivity(unchecked) private var isChunked = false
    @exclusivity(unchecked) private var trailers: TrailerSection?
    @exclusivity(unchecked) private var headCount = 0
    @exclusivity(unchecked) private var framing: [UInt8] = []
    @exclusivity(unchecked) private var framingSent = 0
    @exclusivity(unchecked) private var sentHead = 0
    /// How much is still to come of the chunk whose header is written.
    @exclusivity(unchecked) private var chunkLeft = 0
    /// The body has nothing more.
    @exclusivity(unchecked) private(set) var isAtEnd = true

    /// Nothing to send.
    func reset() {
        body = nil
        gate = nil
        isChunked = false
        trailers = nil
        headCount = 0
        clearFraming()
        sentHead = 0
        chunkLeft = 0
        isAtEnd = true
    }

    /// - Parameters:
    ///   - patience: How long to wait for `100 Continue`, if the request expects it.
    ///   - client: Told when a body that had nothing to send has something.
    func start(
        _ request: WireRequest,
        body: (any BodySource)?,
        patience: LoopInterval,
        on loop: EventLoop,
        for client: any BodyClient
    ) {
        reset()
        HeadWriter.append(request.head, framing: request.body.framing, to: &framing)
        headCount = framing.count
        guard let body else { return }
        if request.head.expectsContinue { gate = ContinueGate(body: body, patience: patience, on: loop) }
        let source: any BodySource = gate ?? body
        source.client = client
        self.body = source
        isChunked = request.body.isChunked
        trailers = request.body.trailers
        isAtEnd = false
    }

    /// The server wants the body. True if it was being kept back.
    func serverGoesOn() -> Bool {
        guard awaitsContinue else { return false }
        gate?.open()
        return true
    }

    /// The body is kept back until the server says that it wants it.
    var awaitsContinue: Bool { gate?.isClosed ?? false }

    /// Stops sending. The body itself belongs to the transfer, and may be sent again elsewhere by now.
    func stop(for client: any BodyClient) {
        isAtEnd = true
        guard let body else { return }
        if body.client === client { body.client = nil }
        gate?.close()
        // A connection at rest must keep neither the body nor what that refers to.
        (self.body, gate, trailers) = (nil, nil, nil)
    }

    /// The kernel has taken a byte of the request.
    var hasBegun: Bool { sentHead > 0 }

    /// Nothing of the head is left, but something may be of the body.
    var isInBody: Bool { sentHead == headCount }

    /// The kernel has taken all of the request.
    var isDone: Bool { isAtEnd && framing.isEmpty }

    /// Sends the beginning of the request: what can be sent with one call.
    ///
    /// - Parameter limit: How much of the body may be sent.
    func begin(_ permit: consuming Permit, to channel: any ByteChannel, atMost limit: Int) -> Step {
        // The permit ends here, also if the kernel takes nothing now: the rules may be others by the time that it does.
        write(to: channel, atMost: limit)
    }

    /// Sends more of a request that has begun.
    func goOn(to channel: any ByteChannel, atMost limit: Int) -> Step {
        hasBegun ? write(to: channel, atMost: limit) : .blocked
    }

    private func write(to channel: any ByteChannel, atMost limit: Int) -> Step {
        var hasContent = false
        if let body, !isAtEnd {
            switch body.next() {
            case .ready:
                hasContent = true
                if isChunked, chunkLeft == 0 { openChunk(body) }
            // The head does not wait for the body: a server that refuses it, or says 100, has to see the head first.
            case .waiting: if framingSent == framing.count { return .waiting }
            case .end: if let failure = finish() { return .bodyFailed(failure) }
            case .failed(let failure): return .bodyFailed(failure)
            }
        }
        if framingSent == framing.count, !hasContent { return .finished }
        // After the body was asked: that it has failed is told at once, also while the peer takes nothing.
        guard channel.isWritable else { return .blocked }
        return note(hasContent ? transmit(body, to: channel, atMost: limit) : transmit(.empty, to: channel))
    }

    private func openChunk(_ body: any BodySource) {
        _ = body.withReady { content in
            // The header binds: what the body gets from now on belongs to the next chunk (`transmit`).
            chunkLeft = content.count
            ChunkWriter.appendHeader(for: content.count, to: &framing)
            // So the body counts nothing as taken.
            return .wouldBlock
        }
    }

    private func finish() -> BodyFailure? {
        isAtEnd = true
        guard isChunked else { return nil }
        do throws(RequestRejection) {
            ChunkWriter.appendEnd(trailers: try trailers?.fields(), to: &framing)
            return nil
        } catch {
            return .trailers(error)
        }
    }

    private func transmit(_ body: (any BodySource)?, to channel: any ByteChannel, atMost limit: Int) -> ChannelWrite {
        guard let body else { return .wouldBlock }
        let limit = isChunked ? min(limit, chunkLeft) : limit
        return body.withReady { content in
            transmit(UnsafeRawBufferPointer(rebasing: content.prefix(limit)), to: channel)
        }
    }

    private func transmit(_ content: UnsafeRawBufferPointer, to channel: any ByteChannel) -> ChannelWrite {
        framing.withUnsafeBytes { framing in
            channel.write(UnsafeRawBufferPointer(rebasing: framing[framingSent...]), second: content)
        }
    }

    private func note(_ write: ChannelWrite) -> Step {
        switch write {
        case .wouldBlock, .bytes(0): return .blocked
        case .failed(let error): return .failed(error)
        case .bytes(let count):
            // Framing leaves first. What stands around chunks counts neither as head nor as body.
            let framingBytes = min(count, framing.count - framingSent)
            let headBytes = min(framingBytes, headCount - sentHead)
            framingSent += framingBytes
            sentHead += headBytes
            if framingSent == framing.count { clearFraming() }
            if count > framingBytes { consume(count - framingBytes) }
            return .moved(headBytes: headBytes, bodyBytes: count - framingBytes)
        }
    }

    /// Keeps the memory for the next request, unless it is much.
    private func clearFraming() {
        framingSent = 0
        if framing.isEmpty { return }
        framing.removeAll(keepingCapacity: framing.capacity <= RequestWriter.keptCapacity)
    }

    private func consume(_ count: Int) {
        body?.consume(count)
        guard isChunked else { return }
        chunkLeft -= count
        // It leaves with the header of the next chunk, or with the last one: a call less for each.
        if chunkLeft == 0 { framing.append(contentsOf: ChunkWriter.chunkEnd) }
    }
}
