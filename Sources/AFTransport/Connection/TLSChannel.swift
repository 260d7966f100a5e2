package import AFLoop
package import AFTLS
import Glibc

/// Joins an engine and a channel: a channel that secures what passes through it.
///
/// ```
/// HTTP1Connection ──▶ TLSChannel ──▶ TLSEngine
///   plaintext            │             │ ciphertext, in windows
///                        ▼             ▼
///                   ByteChannel ◀── unsent, unread
/// ```
///
/// Between calls it holds only what the kernel did not take (`unsent`) and what a reader with a small buffer left
/// (`unread`).
package final class TLSChannel: ByteChannel, ChannelHandler, TurnEndTarget {
    @exclusivity(unchecked) package var handler: (any ChannelHandler)?
    /// What a failed read or write means, where the cause is above the socket.
    @exclusivity(unchecked) package private(set) var failure: TLSFailure?
    /// The stream ended without the peer's `close_notify`: an attacker on the way may have ended it.
    @exclusivity(unchecked) package private(set) var isTruncated = false

    /// More than one write leaves unsent. A peer that makes it more asks for TLS messages and reads none.
    private static let unsentLimit = 256 << 10
    /// How much of a handshake is read at once, and so decrypted at once: OpenSSL does not stop before its input ends.
    private static let handshakeRead = 16 << 10
    /// The bytes of a handshake that cost as much as a piece: they may be records of one byte.
    private static let handshakeBytesPerPiece = 64

    package let turnShare: TurnShare
    package let engine: TLSEngine
    private let channel: any ByteChannel
    private let buffers: TLSBuffers
    @exclusivity(unchecked) private var unsent: [UInt8] = []
    /// The last message of the handshake is in `unsent`, to leave with the first request.
    @exclusivity(unchecked) private var isHolding = false
    @exclusivity(unchecked) private var unread: [UInt8] = []
    @exclusivity(unchecked) private var sendError: SystemCallError?
    @exclusivity(unchecked) private var readError: SystemCallError?
    /// The engine may hold more than the last reader had room for.
    @exclusivity(unchecked) private var hasMore = false
    /// The peer has begun a TLS message, and the engine can seal nothing before the rest of it is read.
    @exclusivity(unchecked) private var awaitsInput = false
    /// How the stream ended, after bytes that are delivered first. The engine is not asked again: it does not remember
    /// what it refused.
    @exclusivity(unchecked) private var end: TLSEngine.Step?
    @exclusivity(unchecked) private var isOpen = true
    @exclusivity(unchecked) private var hasEndedWriting = false

    package init(channel: any ByteChannel, engine: TLSEngine, buffers: TLSBuffers) {
        self.channel = channel
        turnShare = channel.turnShare
        self.engine = engine
        self.buffers = buffers
        channel.handler = self
    }

    package var remoteAddress: SocketAddress { channel.remoteAddress }
    package var localAddress: SocketAddress? { channel.localAddress }

    package var isReadable: Bool { isOpen && (channel.isReadable || hasMore) }
    package var isWritable: Bool { isOpen && !awaitsInput && (unsent.isEmpty || isHolding) && channel.isWritable }

    package func finishConnecting() throws(SystemCallError) {
        try channel.finishConnecting()
    }

    package func channelReady() {
        if !unsent.isEmpty, !isHolding, channel.isWritable { flush() }
        handler?.channelReady()
    }

    package func continueNextTurn() {
        channel.continueNextTurn()
    }

    package func probePeer() {
        channel.probePeer()
    }

    /// Gives back the memory that only messages under way need.
    package func rest() {
        engine.freeBuffers()
        (channel as? TLSChannel)?.rest()
    }

    /// Sends `close_notify`, and leaves the connection beneath as it is: answers to the peer's new keys may have to
    /// follow.
    package func endWriting() {
        guard isOpen, !hasEndedWriting, failure == nil else { return }
        hasEndedWriting = true
        turn(.empty) { engine.close() }
        stopHolding()
    }

    /// The last message of the handshake counts as flushed: it leaves with the first write, or at the end of the turn.
    package var isFlushed: Bool { (unsent.isEmpty || isHolding) && channel.isFlushed }

    /// Sends `close_notify` if the kernel takes it at once. A peer that does not read must not hold up the caller.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        handler = nil
        stopHolding()
        if unsent.isEmpty, failure == nil, !hasEndedWriting {
            turn(.empty) { engine.close() }
        }
        channel.close()
    }

    // MARK: - The handshake

    package enum HandshakeStep {
        case finished
        case waiting
        case failed(TLSFailure)
        case broken(SystemCallError)
    }

    /// Goes on as far as the network and the judge allow.
    package func handshake() -> HandshakeStep {
        var fresh = UnsafeRawBufferPointer.empty
        while true {
            switch turn(fresh, holding: true, call: { engine.handshake() }) {
            case .finished:
                // The poller reports nothing again for bytes that came along with the handshake.
                hasMore = !unread.isEmpty
                return .finished
            case .undecided: return .waiting
            case .needsInput: break
            case .failed(let failure):
                self.failure = failure
                return .failed(failure)
            case .closed, .truncated, .moved:
                return .failed(TLSFailure(.ended, detail: "the connection was closed during the handshake"))
            }
            guard !turnShare.isSpent else {
                channel.continueNextTurn()
                return .waiting
            }
            // What the peer sent before it stopped reading explains a send error better.
            switch fetch(atMost: TLSChannel.handshakeRead) {
            case .bytes(let bytes):
                turnShare.take(pieces: bytes.count / TLSChannel.handshakeBytesPerPiece)
                fresh = bytes
            case .nothing: return sendError.map(HandshakeStep.broken) ?? .waiting
            case .ended: fresh = .empty
            case .failed(let error): return .broken(sendError ?? error)
            }
        }
    }

    /// No request took along the last message of the handshake: send it now.
    package func turnEnded() {
        stopHolding()
    }

    private func stopHolding() {
        guard isHolding else { return }
        isHolding = false
        if channel.isWritable { flush() }
    }

    // MARK: - Reading

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelRead {
        guard isOpen else { return .failed(SystemCallError(.recv, code: EBADF)) }
        if let end { return conclude(end) }
        if let readError { return .failed(readError) }
        var filled = 0
        var step = hasMore ? turn(.empty) { decrypt(into: buffer, filled: &filled) } : .needsInput
        var hasFetched = false
        while case .needsInput = step, mayFetch(having: filled, of: buffer.count, again: hasFetched) {
            hasFetched = true
            switch fetch() {
            case .bytes(let bytes): step = turn(bytes) { decrypt(into: buffer, filled: &filled) }
            case .ended: step = turn(.empty) { decrypt(into: buffer, filled: &filled) }
            case .nothing:
                hasMore = false
                return filled > 0 ? .bytes(filled) : .wouldBlock
            case .failed(let error):
                guard filled > 0 else { return .failed(error) }
                // The kernel reports the error once: keep it, and deliver what came before it first.
                readError = error
                hasMore = true
                return .bytes(filled)
            }
        }
        if unsent.count > TLSChannel.unsentLimit {
            step = .failed(
                TLSFailure(.flood, detail: "the server asks for new keys again and again and reads no answer")
            )
        }
        switch step {
        case .needsInput: hasMore = false
        case .moved: hasMore = true
        case .closed, .truncated, .failed, .finished, .undecided:
            hasMore = true
            end = step
            wakeWriter()
        }
        return filled > 0 ? .bytes(filled) : conclude(step)
    }

    /// A reader with much room gets much at once: it may keep the bytes without a copy.
    private func mayFetch(having filled: Int, of room: Int, again: Bool) -> Bool {
        if again, turnShare.isSpent { return false }
        return filled == 0 || (channel.isReadable && filled + buffers.input.count <= room)
    }

    /// Decrypts until input, room, or the peer's share of this turn is used up. One record is always decrypted: who asks
    /// whether something has come gets an answer.
    private func decrypt(into buffer: UnsafeMutableRawBufferPointer, filled: inout Int) -> TLSEngine.Step {
        let allowed = turnShare.piecesLeft
        var records = 0
        defer { turnShare.take(pieces: records) }
        while filled < buffer.count {
            let step = engine.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), counting: &records)
            guard case .moved(let count) = step else { return step }
            filled += count
            if records >= allowed { break }
        }
        return .moved(filled)
    }

    private func conclude(_ step: TLSEngine.Step) -> ChannelRead {
        switch step {
        case .failed(let failure):
            self.failure = failure
            return .failed(SystemCallError(.recv, code: EPROTO))
        case .truncated:
            isTruncated = true
            return .end
        case .closed: return .end
        case .moved, .finished, .needsInput, .undecided: return .wouldBlock
        }
    }

    private enum Fetched {
        case bytes(UnsafeRawBufferPointer)
        case nothing
        case ended
        case failed(SystemCallError)
    }

    private func fetch(atMost limit: Int = .max) -> Fetched {
        guard channel.isReadable else { return .nothing }
        let room = UnsafeMutableRawBufferPointer(rebasing: buffers.input.prefix(limit))
        switch channel.read(into: room) {
        case .bytes(let count): return .bytes(UnsafeRawBufferPointer(rebasing: buffers.input[..<count]))
        case .wouldBlock: return .nothing
        case .end:
            engine.noteInputEnded()
            return .ended
        case .failed(let error): return .failed(error)
        }
    }

    // MARK: - Writing

    package func write(_ first: UnsafeRawBufferPointer, second: UnsafeRawBufferPointer) -> ChannelWrite {
        guard isOpen else { return .failed(SystemCallError(.send, code: EBADF)) }
        if let sendError { return .failed(sendError) }
        guard isWritable else { return .wouldBlock }
        let sealed = turn(.empty) { seal(first, second: second) }
        if let sendError { return .failed(sendError) }
        guard failure == nil else { return .failed(SystemCallError(.send, code: EPROTO)) }
        return sealed == 0 && awaitsInput ? .wouldBlock : .bytes(sealed)
    }

    /// Returns how much of both was sealed.
    private func seal(_ first: UnsafeRawBufferPointer, second: UnsafeRawBufferPointer) -> Int {
        var sealed = 0
        for _ in 0..<TLSBuffers.sealedRecords where sealed < first.count + second.count {
            switch engine.write(piece(of: first, second: second, from: sealed)) {
            case .moved(let count): sealed += count
            case .failed(let failure):
                self.failure = failure
                return sealed
            case .needsInput, .finished, .undecided:
                awaitsInput = true
                return sealed
            case .closed, .truncated:
                failure = TLSFailure(.ended, detail: "the connection was closed in the middle of a message")
                return sealed
            }
        }
        return sealed
    }

    /// What the writer waited for has come, or never will. It goes on in the next turn: it may have had its share of
    /// this one.
    private func wakeWriter() {
        guard awaitsInput else { return }
        awaitsInput = false
        channel.continueNextTurn()
    }

    /// The next bytes that go into one record: head and beginning of the body travel together.
    private func piece(
        of first: UnsafeRawBufferPointer,
        second: UnsafeRawBufferPointer,
        from offset: Int
    ) -> UnsafeRawBufferPointer {
        guard offset < first.count else { return UnsafeRawBufferPointer(rebasing: second[(offset - first.count)...]) }
        let rest = UnsafeRawBufferPointer(rebasing: first[offset...])
        guard rest.count < TLSEngine.recordSize, !second.isEmpty else { return rest }
        let joined = UnsafeRawBufferPointer(rebasing: second[..<min(second.count, TLSEngine.recordSize - rest.count)])
        buffers.record.copyMemory(from: rest)
        UnsafeMutableRawBufferPointer(rebasing: buffers.record[rest.count...]).copyMemory(from: joined)
        return UnsafeRawBufferPointer(rebasing: buffers.record[..<(rest.count + joined.count)])
    }

    // MARK: - The windows

    /// Runs a call of the engine with `fresh` ciphertext behind what is unread, keeps
    /// what it leaves, and sends what it made.
    private func turn<Result>(
        _ fresh: UnsafeRawBufferPointer,
        holding holdsLast: Bool = false,
        call: () -> Result
    ) -> Result {
        engine.setOutput(buffers.output)
        let awaitedInput = awaitsInput
        let given = unread.count + fresh.count
        let result: Result
        if unread.isEmpty {
            engine.input = fresh
            result = call()
            if !engine.input.isEmpty { unread = Array(engine.input) }
        } else {
            unread.append(contentsOf: fresh)
            result = unread.withUnsafeBytes { bytes in
                engine.input = bytes
                return call()
            }
            unread.removeFirst(unread.count - engine.input.count)
        }
        if awaitedInput, engine.input.count < given { wakeWriter() }
        engine.input = .empty
        guard !engine.output.isEmpty else { return result }
        if holdsLast, engine.isEstablished, unsent.isEmpty {
            unsent = Array(engine.output)
            isHolding = true
        } else {
            deliver(engine.output)
        }
        return result
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer) {
        guard unsent.isEmpty else {
            unsent.append(contentsOf: bytes)
            return stopHolding()
        }
        let sent = transmit(bytes)
        if sent < bytes.count { unsent.append(contentsOf: bytes[sent...]) }
    }

    private func flush() {
        let sent = unsent.withUnsafeBytes { transmit($0) }
        unsent.removeFirst(sent)
    }

    /// Returns how much the kernel took.
    private func transmit(_ bytes: UnsafeRawBufferPointer) -> Int {
        var sent = 0
        while sent < bytes.count, sendError == nil {
            switch channel.write(UnsafeRawBufferPointer(rebasing: bytes[sent...]), second: .empty) {
            case .wouldBlock, .bytes(0): return sent
            case .bytes(let count): sent += count
            case .failed(let error): sendError = error
            }
        }
        return sent
    }
}

extension UnsafeRawBufferPointer {
    package static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
