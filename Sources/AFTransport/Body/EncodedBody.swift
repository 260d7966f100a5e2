import AFBase
package import AFLoop
package import AFWire

/// A body whose content is coded while it is sent.
///
/// A worker codes one piece, and the next only when that has left. So the loop codes nothing, and a body of any length
/// holds one piece of its content and one coded. Content does not wait for more of it: when there is nothing more for now,
/// the body sends what there is, and a server that reads along has all of it.
package final class EncodedBody: BodySource {
    private static let pieceSize = 128 << 10

    /// One time that the body is sent.
    private final class Pass: Sendable {
        /// Nil before the first piece.
        let encoder = Lock<ContentEncoder?>(nil)
    }

    private enum Place {
        /// It takes content for the next piece.
        case gathering
        case encoding
        /// The coded piece leaves.
        case sending(isLast: Bool)
        case over
        case failed(BodyFailure)
    }

    @exclusivity(unchecked) package var client: (any BodyClient)?
    private let content: any BodySource
    package let coding: ContentCoding
    private let worker: any BlockingWorker
    private let loop: EventLoop
    @exclusivity(unchecked) private var pass = Pass()
    @exclusivity(unchecked) private var place = Place.gathering
    @exclusivity(unchecked) private var piece: [UInt8] = []
    /// The content that was taken for the pieces so far.
    @exclusivity(unchecked) private var taken: Int64 = 0
    /// As far as its coded pieces have left.
    @exclusivity(unchecked) package private(set) var contentSent: Int64? = 0
    @exclusivity(unchecked) private var coded: [UInt8] = []
    @exclusivity(unchecked) private var sent = 0
    /// The encoder holds nothing back.
    @exclusivity(unchecked) private var isFlushed = true
    /// The client waits for `bodyReady`.
    @exclusivity(unchecked) private var isAwaited = false

    package init(_ content: any BodySource, coding: ContentCoding, worker: any BlockingWorker, on loop: EventLoop) {
        self.content = content
        self.coding = coding
        self.worker = worker
        self.loop = loop
    }

    package func next() -> BodyStep {
        switch place {
        case .gathering: gather()
        case .encoding: wait()
        case .sending: .ready
        case .over: .end
        case .failed(let failure): .failed(failure)
        }
    }

    private func wait() -> BodyStep {
        isAwaited = true
        return .waiting
    }

    private func gather() -> BodyStep {
        content.client = self
        while piece.count < EncodedBody.pieceSize {
            switch content.next() {
            case .ready: take()
            case .waiting where piece.isEmpty && isFlushed: return wait()
            case .waiting: return encode(before: .pause)
            case .end: return encode(before: .end)
            case .failed(let failure):
                place = .failed(failure)
                return .failed(failure)
            }
        }
        return encode(before: .more)
    }

    private func take() {
        let former = piece.count
        _ = content.withReady { bytes in
            piece.append(contentsOf: bytes.prefix(EncodedBody.pieceSize - former))
            return .bytes(piece.count - former)
        }
        content.consume(piece.count - former)
    }

    private func encode(before next: ContentEncoder.Next) -> BodyStep {
        place = .encoding
        isFlushed = next != .more
        taken += Int64(piece.count)
        let bound = LoopBound(confined: self, on: loop)
        worker.run { [piece, pass, coding, loop] in
            let coded = Result { () throws(ContentFailure) in
                try pass.encoder.withLock { encoder throws(ContentFailure) -> [UInt8] in
                    let present = if let encoder { encoder } else { try ContentEncoder(coding) }
                    encoder = present
                    return try present.encode(piece, before: next)
                }
            }
            loop.enqueue { bound.value.encoded(coded, in: pass, isLast: next == .end) }
        }
        piece.removeAll(keepingCapacity: true)
        loop.expectEcho()
        return wait()
    }

    private func encoded(_ result: Result<[UInt8], ContentFailure>, in pass: Pass, isLast: Bool) {
        guard pass === self.pass else { return }
        switch result {
        case .success(let bytes):
            (coded, sent) = (bytes, 0)
            place = .sending(isLast: isLast)
            goOnIfSent()
        case .failure: place = .failed(.coding(coding))
        }
        bodyReady()
    }

    private func goOnIfSent() {
        guard sent == coded.count, case .sending(let isLast) = place else { return }
        contentSent = taken
        place = isLast ? .over : .gathering
    }

    package func withReady(_ take: (UnsafeRawBufferPointer) -> ChannelWrite) -> ChannelWrite {
        coded.withUnsafeBytes { take(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
    }

    package func consume(_ count: Int) {
        sent += count
        goOnIfSent()
    }

    package var mayReplay: Bool { content.mayReplay }

    package func rewind(_ done: @escaping (BodyFailure?) -> Void) {
        startOver()
        content.rewind(done)
    }

    /// The content goes without its coding, or with another.
    package func surrenderContent() -> any BodySource {
        client = nil
        startOver()
        return content
    }

    private func startOver() {
        pass = Pass()
        place = .gathering
        (piece, coded, sent) = ([], [], 0)
        (taken, contentSent) = (0, 0)
        (isFlushed, isAwaited) = (true, false)
    }

    package func close() {
        client = nil
        startOver()
        content.close()
    }
}

extension EncodedBody: BodyClient {
    package func bodyReady() {
        // What the content has meanwhile is taken when the piece has left.
        if case .encoding = place { return }
        guard isAwaited else { return }
        isAwaited = false
        client?.bodyReady()
    }
}
