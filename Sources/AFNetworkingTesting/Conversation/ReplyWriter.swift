/// Sends one reply as its `Delivery` says.
///
/// Bytes gather until there are 64 KiB or the reply ends, so that a small reply is one write. Every write
/// passes `flush()`, which dribbles and cuts.
struct ReplyWriter {
    private static let gathered = 64 * 1024

    private let stream: SocketStream
    private let delivery: Delivery
    private var pending: [UInt8] = []
    private var sent = 0
    /// The offset in the whole reply at which the reply is cut.
    private var cutOffset: Int?
    /// How many bytes of the body itself have been sent, or are pending.
    private var content = 0

    init(stream: SocketStream, delivery: Delivery) {
        self.stream = stream
        self.delivery = delivery
        if let cut = delivery.cut, cut.part == .message { cutOffset = cut.count }
    }

    /// Sends the reply. Returns whether the connection may serve another request.
    @discardableResult
    mutating func send(_ reply: ServerReply, to request: RecordedRequest?) throws(ConnectionEnd) -> Bool {
        if let raw = delivery.raw {
            beginBody()
            try appendContent(raw)
            try finish()
            return delivery.keepAlive ?? true
        }
        for interim in delivery.interims {
            try append(ReplyHead.bytes(status: interim.status, reason: nil, headers: interim.headers))
            try flush()
        }
        let head = ReplyHead(reply, to: request)
        try append(head.bytes)
        beginBody()
        try append(delivery.surplus)
        if let body = reply.body, head.sendsBody {
            if let delay = delivery.bodyDelay {
                try flush()
                try stream.pause(for: delay)
            }
            try send(body, framing: head.framing)
        }
        try finish()
        return head.staysOpen
    }

    private mutating func beginBody() {
        guard let cut = delivery.cut, cut.part == .body else { return }
        let (offset, isHuge) = (sent + pending.count).addingReportingOverflow(cut.count)
        cutOffset = isHuge ? .max : offset
    }

    // MARK: - Bodies

    private mutating func send(_ body: ReplyBody, framing: ReplyHead.WireFraming) throws(ConnectionEnd) {
        switch framing {
        case .plain:
            try sendPieces(of: body, through: nil)
        case .chunked(let sizes, let trailers):
            try sendPieces(of: body, through: ChunkCutter(sizes: sizes))
            try append(trailers.lastChunk)
        }
    }

    /// - Parameter cutter: Cuts the pieces into chunks; nil to send them as they are.
    private mutating func sendPieces(of body: ReplyBody, through cutter: ChunkCutter?) throws(ConnectionEnd) {
        var (cutter, offset) = (cutter, 0)
        while body.count.map({ offset < $0 }) ?? true {
            let piece = body.piece(offset)
            if piece.isEmpty { break }
            let usable = body.count.map { min(piece.count, $0 - offset) } ?? piece.count
            offset += usable
            try keepPace()
            if cutter == nil { try appendContent(usable == piece.count ? piece : Array(piece.prefix(usable))) }
            for chunk in cutter?.add(piece.prefix(usable)) ?? [] { try appendChunk(chunk) }
        }
        for chunk in cutter?.end() ?? [] { try appendChunk(chunk) }
        // The source ended before the announced length: close, so that the client sees a truncated body.
        if let count = body.count, offset < count {
            try finish()
            throw .close
        }
    }

    /// Flushes before it pauses, so that the client gets the bytes before the pause.
    private mutating func keepPace() throws(ConnectionEnd) {
        guard let pace = delivery.pace else { return }
        try flush()
        try stream.pause(for: pace)
    }

    private mutating func appendChunk(_ chunk: [UInt8]) throws(ConnectionEnd) {
        try append(Array("\(String(chunk.count, radix: 16))\r\n".utf8))
        try appendContent(chunk)
        try append(Array("\r\n".utf8))
    }

    // MARK: - Bytes

    /// Appends bytes of the body itself, and finds the place of a cut that counts these.
    private mutating func appendContent(_ bytes: [UInt8]) throws(ConnectionEnd) {
        if let cut = delivery.cut, cut.part == .content, cutOffset == nil, cut.count - content <= bytes.count {
            cutOffset = sent + pending.count + max(cut.count - content, 0)
        }
        content += bytes.count
        try append(bytes)
    }

    private mutating func append(_ bytes: [UInt8]) throws(ConnectionEnd) {
        pending.append(contentsOf: bytes)
        if pending.count >= Self.gathered { try flush() }
    }

    private mutating func flush() throws(ConnectionEnd) {
        let bytes = pending
        pending.removeAll(keepingCapacity: true)
        let room = cutOffset.map { $0 - sent } ?? .max
        try write(bytes, upTo: min(bytes.count, room))
        // Exactly at the cut it is not known yet whether more bytes follow: `finish` decides.
        if bytes.count > room { try cut() }
    }

    private mutating func finish() throws(ConnectionEnd) {
        try flush()
        if delivery.cut != nil { try cut() }
    }

    private mutating func write(_ bytes: [UInt8], upTo count: Int) throws(ConnectionEnd) {
        let step = delivery.dribble?.byteCount ?? max(count, 1)
        var offset = 0
        while offset < count {
            let end = min(offset + step, count)
            let stream = stream
            try bytes.withBytes { all throws(ConnectionEnd) in
                try stream.send(UnsafeRawBufferPointer(rebasing: all[offset..<end]))
            }
            sent += end - offset
            offset = end
            if let interval = delivery.dribble?.interval, interval > .zero { try stream.pause(for: interval) }
        }
    }

    private func cut() throws(ConnectionEnd) {
        switch delivery.cut?.action {
        case .stall: try stream.waitForHangUp()
        case .reset: throw .reset
        case .close: throw .close
        case nil: return
        }
    }
}
