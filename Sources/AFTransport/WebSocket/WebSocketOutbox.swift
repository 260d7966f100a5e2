import AFBase
import AFLoop
import AFWire

/// What leaves a WebSocket: messages in order, control frames between their frames. Confined to the loop.
///
/// It encodes as much as one write takes, so its own memory does not grow with the messages.
struct WebSocketOutbox {
    typealias Completion = (WebSocketFailure?) -> Void

    enum Step {
        /// There may be more to write.
        case moved
        case blocked
        case empty
        case failed(SystemCallError)
        /// A part of a message is sent, and the rest cannot be packed.
        case broken
    }

    /// How much is encoded at a time.
    private static let batch = 64 << 10
    /// The longest payload of a frame: a control frame waits for the end of a frame, not of a message.
    private static let frameLimit = 1 << 20
    private static let mostPongs = 16
    /// What an idle connection keeps of its buffer.
    private static let idleCapacity = 256

    /// A message on its way.
    private struct Message {
        let message: WebSocketMessage
        let count: Int
        /// Nil if the rest of it is not sent any more: then its caller knows already.
        var completion: Completion?
        /// How many of its bytes were encoded, or packed.
        var taken = 0
        var hasBegun = false

        init(_ message: WebSocketMessage, completion: @escaping Completion) {
            self.message = message
            self.completion = completion
            count = message.byteCount
        }

        /// The next bytes that are neither encoded nor packed.
        func withBytes<Result>(_ count: Int, body: (UnsafeRawBufferPointer) -> Result) -> Result {
            message.withBytes { body(UnsafeRawBufferPointer(rebasing: $0[taken..<taken + count])) }
        }

        /// RFC 6455 §5.4: only the first frame of a message says what it is.
        mutating func nextOpcode() -> WebSocketOpcode {
            guard !hasBegun else { return .continuation }
            hasBegun = true
            return if case .text = message { .text } else { .binary }
        }
    }

    /// The frame of which a part of the payload is still to be encoded.
    private struct Frame {
        let mask: WebSocketMask
        let count: Int
        var encoded = 0
    }

    private let random: () -> UInt64
    /// The upper half of the last random number, if no mask has it yet.
    private var spareKey: UInt32?
    private var isBroken = false
    /// RFC 6455 §5.5.1: nothing follows our Close frame.
    private var isClosed = false
    private var deflater: MessageDeflater?
    private var messages = Fifo<Message>()
    private var frame: Frame?
    private var pings = Fifo<[UInt8]>()
    /// Where the last ping ends that is encoded and not written.
    private var pingEnd: Int64?
    /// The newest pongs.
    private var pongs: [[UInt8]] = []
    private var close: [UInt8]?
    /// What is encoded, and how much of it is written.
    private var buffer: [UInt8] = []
    private var writtenOfBuffer = 0
    private var writtenCount: Int64 = 0
    /// The messages whose bytes are all encoded, with the place of the last one.
    private var encoded = Fifo<(end: Int64, completion: Completion)>()

    init(compression: WebSocketCompression?, random: @escaping () -> UInt64) {
        deflater = compression.flatMap { MessageDeflater($0) }
        self.random = random
    }

    // MARK: - In

    mutating func add(_ message: WebSocketMessage, completion: @escaping Completion) {
        messages.append(Message(message, completion: completion))
    }

    mutating func addPing(_ payload: [UInt8]) {
        pings.append(payload)
    }

    /// RFC 6455 §5.5.3: we may leave out the pings before the newest. A server that sends many cannot make us keep them.
    mutating func addPong(_ payload: [UInt8]) {
        guard !isClosed else { return }
        if pongs.count == Self.mostPongs { pongs.removeFirst() }
        pongs.append(payload)
    }

    var pongWaits: Bool { !pongs.isEmpty }

    /// Whether a ping has not been written yet.
    var pingWaits: Bool { !pings.isEmpty || pingEnd.map { $0 > writtenCount } ?? false }

    /// Sends a Close frame behind the messages that wait.
    mutating func addClose(_ payload: [UInt8]) {
        close = payload
    }

    /// Drops the messages that wait. The rest of the present frame still leaves: without it the server would read what
    /// follows as a part of that frame.
    ///
    /// - Returns: Tells the callers of these messages.
    mutating func cutMessages() -> [Completion] {
        var all = messages.takeAll()
        let cut = all.compactMap(\.completion)
        if frame != nil, !all.isEmpty {
            all[0].completion = nil
            messages.append(all[0])
        }
        return cut
    }

    /// Everything whose callers wait for an answer.
    mutating func takeAll() -> [Completion] {
        encoded.takeAll().map(\.completion) + messages.takeAll().compactMap(\.completion)
    }

    // MARK: - Out

    mutating func write(to channel: any ByteChannel) -> Step {
        if buffer.isEmpty { encode() }
        guard !isBroken else { return .broken }
        guard !buffer.isEmpty else { return .empty }
        guard channel.isWritable else { return .blocked }
        let result = buffer.withUnsafeBytes { bytes in
            channel.write(UnsafeRawBufferPointer(rebasing: bytes[writtenOfBuffer...]), second: .empty)
        }
        switch result {
        case .wouldBlock: return .blocked
        case .failed(let error): return .failed(error)
        case .bytes(let count):
            writtenOfBuffer += count
            writtenCount += Int64(count)
            if writtenOfBuffer == buffer.count {
                buffer.removeAll(keepingCapacity: buffer.capacity <= Self.idleCapacity || !messages.isEmpty)
                writtenOfBuffer = 0
            }
            return .moved
        }
    }

    /// The next message that has left, if the kernel has all that was written.
    mutating func popWritten() -> Completion? {
        guard let first = encoded.first, first.end <= writtenCount else { return nil }
        return encoded.popFirst()?.completion
    }

    // MARK: - Encoding

    private mutating func encode() {
        while buffer.count < Self.batch, !isBroken, encodeNext() {}
    }

    /// False if there is nothing to encode.
    private mutating func encodeNext() -> Bool {
        // The rest of a frame first: nothing may stand within it. Then control frames, which may stand between the frames
        // of a message (RFC 6455 §5.4). The Close frame last: nothing may follow it.
        if frame != nil {
            encodePayload()
        } else if !pongs.isEmpty {
            encode(.pong, payload: pongs.removeFirst())
        } else if let payload = pings.popFirst() {
            encode(.ping, payload: payload)
            pingEnd = encodedCount
        } else if !messages.isEmpty {
            if deflater == nil || !encodePacked() { beginFrame() }
        } else if let payload = close {
            (close, isClosed) = (nil, true)
            encode(.close, payload: payload)
        } else {
            return false
        }
        return true
    }

    private mutating func encode(_ opcode: WebSocketOpcode, payload: [UInt8]) {
        let mask = makeMask()
        payload.withUnsafeBytes { WebSocketWriter.append(opcode, payload: $0, mask: mask, to: &buffer) }
    }

    private mutating func beginFrame() {
        guard var message = messages.popFirst() else { return }
        let mask = makeMask()
        let count = min(message.count - message.taken, Self.frameLimit)
        WebSocketWriter.appendHead(
            message.nextOpcode(),
            count: count,
            isFinal: message.taken + count == message.count,
            mask: mask,
            to: &buffer
        )
        messages.putBack(message)
        frame = Frame(mask: mask, count: count)
        encodePayload()
    }

    private mutating func encodePayload() {
        guard var frame, var message = messages.popFirst() else { return }
        let count = min(frame.count - frame.encoded, max(Self.batch - buffer.count, 1))
        message.withBytes(count) { piece in
            WebSocketWriter.appendPayload(piece, mask: frame.mask, at: frame.encoded, to: &buffer)
        }
        message.taken += count
        frame.encoded += count
        let hasEnded = frame.encoded == frame.count
        self.frame = hasEnded ? nil : frame
        if message.taken == message.count {
            encoded(message)
        } else if !hasEnded || message.completion != nil {
            messages.putBack(message)
        }
    }

    /// Packs the next part of a message into a frame. False if that is not possible, and nothing was done.
    private mutating func encodePacked() -> Bool {
        guard let deflater, var message = messages.popFirst() else { return false }
        var packed: [UInt8] = []
        var isComplete = false
        repeat {
            let count = min(message.count - message.taken, Self.batch)
            isComplete = message.taken + count == message.count
            // RFC 7692 §7.2.3.6: an empty message is an empty block.
            guard message.count > 0 else {
                packed = [0]
                break
            }
            let isPacked = message.withBytes(count) { deflater.deflate($0, isLast: isComplete, to: &packed) }
            guard isPacked else {
                // What is not compressed leaves as it is, but for a message that has begun.
                isBroken = message.taken > 0
                self.deflater = nil
                messages.putBack(message)
                return isBroken
            }
            message.taken += count
        } while packed.isEmpty && !isComplete
        let (isFirst, mask) = (!message.hasBegun, makeMask())
        let opcode = message.nextOpcode()
        packed.withUnsafeBytes { packed in
            WebSocketWriter.append(
                opcode,
                payload: packed,
                isFinal: isComplete,
                isCompressed: isFirst,
                mask: mask,
                to: &buffer
            )
        }
        if isComplete { encoded(message) } else { messages.putBack(message) }
        return true
    }

    private mutating func encoded(_ message: Message) {
        guard let completion = message.completion else { return }
        encoded.append((encodedCount, completion))
    }

    /// How many bytes were encoded, written or not.
    private var encodedCount: Int64 { writtenCount - Int64(writtenOfBuffer) + Int64(buffer.count) }

    /// RFC 6455 §5.3: a key that the server cannot foretell, for each frame.
    private mutating func makeMask() -> WebSocketMask {
        if let spareKey {
            self.spareKey = nil
            return WebSocketMask(key: spareKey)
        }
        let number = random()
        spareKey = UInt32(truncatingIfNeeded: number >> 32)
        return WebSocketMask(key: UInt32(truncatingIfNeeded: number))
    }
}
