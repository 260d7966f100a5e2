import AFBase
package import AFLoop
import AFTLS
package import AFWire
import Foundation

/// The owner of a WebSocket connection, told on the loop what happens on it.
package protocol WebSocketClient: AnyObject {
    /// Whether it takes another message now. If not, the server has to wait.
    var wantsMessage: Bool { get }
    func webSocketReceived(_ message: WebSocketMessage)
    /// The server has sent a Close frame. No message follows.
    func webSocketReceivedClose(_ close: WebSocketClose)
    /// The connection is closed: in order, or because of a failure. Nothing follows.
    func webSocketEnded(_ failure: WebSocketFailure?)
}

/// What the owner of a WebSocket decides about it.
package struct WebSocketTerms: Sendable {
    /// The most bytes of a message that is received.
    package var messageLimit = 1 << 20
    /// How often to ask the server whether it is there. Nil: never.
    package var pingInterval: LoopInterval?
    /// How long the server may take for the answer.
    package var pongPatience = LoopInterval(.seconds(10))
    /// How long the server may take to answer our Close frame, and to close the connection then.
    package var closePatience = LoopInterval(.seconds(5))

    package init() {}
}

/// Speaks the WebSocket protocol on a connection that a handshake has opened (RFC 6455). Confined to its loop.
///
/// ```
///        close(), or a violation               the server's Close        the server closes
/// open ───────────────────────────▶ closing ─────────────────────▶ ending ───────────────▶ over
///   │  the server's Close: answer it                                 ▲
///   └────────────────────────────────────────────────────────────────┘
/// ```
package final class WebSocketConnection: ChannelHandler {
    private enum State {
        case open
        /// Our Close frame is on its way, and the server's is awaited. With a failure nothing that it sends counts.
        indirect case closing(WebSocketFailure?)
        /// Both Close frames have been sent, or ours is on its way: the server has to close the connection.
        case ending
        case over
    }

    private let channel: any ByteChannel
    private let secured: TLSChannel?
    private let turnShare: TurnShare
    private let platform: Platform
    private let closePatience: LoopInterval
    @exclusivity(unchecked) private var client: (any WebSocketClient)?

    @exclusivity(unchecked) private var state = State.open
    @exclusivity(unchecked) private var decoder: WebSocketDecoder
    @exclusivity(unchecked) private var assembly: MessageAssembly
    @exclusivity(unchecked) private var outbox: WebSocketOutbox
    /// What was read and is not decoded yet: the client took no more messages, or the server had its share of the turn.
    @exclusivity(unchecked) private var unread: Backlog
    @exclusivity(unchecked) private var writeError: SystemCallError?
    @exclusivity(unchecked) private var isSuspended = false
    /// A message behind our Close frame found no room.
    private var hasDropped = false
    /// Nil until the connection has something to ask the server.
    @exclusivity(unchecked) private var keepAlive: WebSocketKeepAlive?
    private var closeTimer: PausableTimer?
    /// Why nothing more is sent; the first reason counts.
    private var ending = WebSocketFailure.closed(WebSocketClose(code: nil))

    /// - Parameters:
    ///   - early: What came behind the response that opened the connection.
    ///   - random: Makes the keys of the masks.
    package init(
        _ channel: any ByteChannel,
        secured: TLSChannel?,
        early: [UInt8],
        _ agreement: WebSocketHandshake.Agreement,
        _ terms: WebSocketTerms,
        platform: Platform,
        random: @escaping () -> UInt64,
        client: any WebSocketClient
    ) {
        self.channel = channel
        self.secured = secured
        turnShare = channel.turnShare
        self.platform = platform
        closePatience = terms.closePatience
        self.client = client
        unread = Backlog(early)
        decoder = WebSocketDecoder(
            allowsCompression: agreement.compression != nil,
            messageLimit: terms.messageLimit
        )
        assembly = MessageAssembly(agreement.compression, limit: terms.messageLimit)
        outbox = WebSocketOutbox(agreement.compression, random: random)
        channel.handler = self
        channel.probePeer()
        if terms.pingInterval != nil { keepAlive = makeKeepAlive(terms) }
    }

    // MARK: - From the client

    package func start() {
        if isOpen { keepAlive?.start() }
        proceed()
    }

    /// Goes on: the client takes messages again.
    package func proceed() {
        guard !isSuspended else { return }
        write()
        read()
        keepAlive?.clientTakesMessages(takesMessages)
    }

    package func suspend() {
        isSuspended = true
        keepAlive?.pause()
        closeTimer?.stop()
    }

    package func resume() {
        guard isSuspended else { return }
        isSuspended = false
        keepAlive?.resume()
        closeTimer?.start()
        proceed()
    }

    package func limitMessages(to bytes: Int) {
        decoder.limitMessages(to: bytes)
        assembly.limit = bytes
    }

    /// - Parameter completion: Called once: when the bytes have left, or with the reason why they do not.
    package func send(_ message: WebSocketMessage, _ completion: @escaping (WebSocketFailure?) -> Void) {
        guard isOpen else { return completion(ending) }
        outbox.add(message, completion)
        write()
    }

    /// - Parameter completion: Called once: when the server has answered, or with the reason why it does not.
    package func ping(_ completion: ((WebSocketFailure?) -> Void)?) {
        guard isOpen else {
            completion?(ending)
            return
        }
        if keepAlive == nil { keepAlive = makeKeepAlive(WebSocketTerms()) }
        keepAlive?.ping(completion)
    }

    /// Sends a Close frame behind the messages that wait.
    package func close(_ close: WebSocketClose) {
        guard isOpen else { return }
        state = .closing(nil)
        outbox.addClose(close.payload)
        keepAlive?.stop()
        startCloseTimer()
        proceed()
    }

    /// Closes the connection at once, with a Close frame if there is room for it.
    package func drop() {
        client = nil
        if isOpen, writeError == nil, !isSuspended {
            let cut = outbox.cutMessages()
            outbox.addClose(WebSocketClose(code: WebSocketClose.goingAway).payload)
            while case .moved = outbox.write(to: channel) {}
            for completion in cut { completion(.closed(WebSocketClose(code: nil))) }
        }
        end(nil)
    }

    // MARK: - From the channel

    package func channelReady() {
        guard !isSuspended else { return }
        write()
        read()
    }

    // MARK: - Writing

    private func write() {
        guard !isSuspended, writeError == nil else { return }
        while !turnShare.isSpentForWriting {
            if case .over = state { return }
            let step = outbox.write(to: channel)
            reportWritten()
            switch step {
            case .moved:
                if case .closing(nil) = state { restartCloseTimer() }
                keepAlive?.bytesLeft(andPing: { !outbox.pingWaits })
            case .blocked: return
            case .empty: return outboxIsEmpty()
            case .failed(let error): return sendingFailed(error)
            case .broken: return end(.noMemory)
            }
        }
        channel.continueNextTurn()
    }

    private func reportWritten() {
        guard channel.isFlushed else { return }
        while let completion = outbox.popWritten() { completion(nil) }
    }

    /// Nothing follows the Close frame of a client that fails the connection.
    private func outboxIsEmpty() {
        if case .closing(.some) = state { channel.endWriting() }
    }

    /// The server takes no more. What it sent before may be a Close frame that says why.
    private func sendingFailed(_ error: SystemCallError) {
        writeError = error
        channel.continueNextTurn()
    }

    // MARK: - Reading

    private func read() {
        while !turnShare.isSpent, readSome() {}
        if turnShare.isSpent, mayRead || mayDecodeUnread { channel.continueNextTurn() }
    }

    /// False if there is nothing more to do now.
    private func readSome() -> Bool {
        guard unread.isEmpty else { return decodeUnread() }
        guard mayRead, channel.isReadable || writeError != nil else { return false }
        let page = platform.readBuffer.value.forReading()
        switch channel.read(into: page) {
        case .bytes(let count):
            keepAlive?.heard()
            let rest = decode(UnsafeRawBufferPointer(rebasing: page[..<count]))
            if mayDecode, !rest.isEmpty { unread = Backlog(Array(rest)) }
            return true
        case .wouldBlock:
            // A share that is spent on records without data says nothing about what follows.
            if let writeError, !channel.isReadable { inputEnded(writeError) }
        case .end: inputEnded(writeError)
        case .failed(let error): inputEnded(error)
        }
        return false
    }

    /// Whether what the server sends has a taker.
    private var mayRead: Bool {
        guard !isSuspended, unread.isEmpty else { return false }
        return switch state {
        case .open: takesMessages
        case .closing, .ending: true
        case .over: false
        }
    }

    /// When the connection is broken, the messages that have arrived go to the client all the same.
    private var takesMessages: Bool { client?.wantsMessage == true || writeError != nil }

    /// Whether what was read has a taker.
    private var mayDecodeUnread: Bool { !unread.isEmpty && !isSuspended && (takesMessages || !isOpen) }

    /// False if there is still something left.
    private func decodeUnread() -> Bool {
        guard mayDecodeUnread else { return false }
        // In place: a client that takes one message at a time would have the rest copied for each.
        let used = unread.withBytes { $0.count - decode($0).count }
        if mayDecode { unread.removeFirst(used) } else { unread = Backlog() }
        return unread.isEmpty
    }

    /// - Returns: What the client does not take now.
    private func decode(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var offset = 0
        do throws(WebSocketFailure) {
            while mayDecode, takesMessages || !isOpen, !turnShare.isSpent {
                turnShare.take()
                let step = try decoded(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                offset += step.consumed
                if case .needMore = step.event { break }
                try take(step.event)
            }
            assembly.keep()
        } catch {
            assembly.dropPiece()
            fail(error)
        }
        // Once for all pings: a server may send many.
        if outbox.pongWaits { write() }
        return UnsafeRawBufferPointer(rebasing: bytes[offset...])
    }

    private var isOpen: Bool { if case .open = state { true } else { false } }

    /// Whether anything that the server sends counts.
    private var mayDecode: Bool {
        switch state {
        case .open, .closing(nil): true
        case .closing(.some), .ending, .over: false
        }
    }

    private func decoded(
        _ bytes: UnsafeRawBufferPointer
    ) throws(WebSocketFailure) -> (consumed: Int, event: WebSocketDecoder.Event) {
        do throws(WebSocketViolation) {
            return try decoder.decode(bytes)
        } catch {
            throw error.code == WebSocketViolation.tooBig ? .tooLong(limit: assembly.limit) : .violation(error)
        }
    }

    private func take(_ event: WebSocketDecoder.Event) throws(WebSocketFailure) {
        let page = platform.contentPage.value.bytes
        switch event {
        case .needMore, .fragment: break
        case .begin(let opcode, let isCompressed): assembly.begin(isText: opcode == .text, isCompressed: isCompressed)
        case .piece(let bytes): try assembly.add(bytes, announced: decoder.announced, page: page)
        case .end:
            let message = try assembly.end(page: page)
            // Behind our Close frame a message that the client does not want is dropped: the server's Close follows it. So
            // are those behind it: the program must not miss one in the middle.
            if isOpen || (!hasDropped && client?.wantsMessage == true) {
                client?.webSocketReceived(message)
            } else {
                hasDropped = true
            }
        case .ping(let payload):
            if isOpen || outbox.closeWaits { outbox.addPong(payload) }
        case .pong(let payload): keepAlive?.received(pong: payload)
        case .close(let close): received(close)
        }
    }

    private func received(_ close: WebSocketClose) {
        keepAlive?.stop()
        let wasOpen = isOpen
        // The server reads no more messages, so ours must not stand in front of our Close frame.
        let cut = wasOpen || outbox.closeWaits ? outbox.cutMessages() : []
        if wasOpen {
            outbox.addClose(WebSocketClose(code: close.code).payload)
            ending = .closed(close)
        }
        state = .ending
        startCloseTimer()
        client?.webSocketReceivedClose(close)
        for completion in cut { completion(.closed(close)) }
        if outbox.closeWaits { write() }
    }

    // MARK: - Time

    private func makeKeepAlive(_ terms: WebSocketTerms) -> WebSocketKeepAlive {
        WebSocketKeepAlive(every: terms.pingInterval, patience: terms.pongPatience, on: platform.loop) {
            [weak self] in self?.obey($0)
        }
    }

    private func obey(_ order: WebSocketKeepAlive.Order) {
        switch order {
        case .ping(let payload):
            outbox.addPing(payload)
            write()
            keepAlive?.clientTakesMessages(takesMessages)
        case .giveUp(let failure): end(failure)
        }
    }

    private func startCloseTimer() {
        guard closeTimer == nil else { return }
        let timer = PausableTimer(closePatience, on: platform.loop) { [weak self] in self?.closeTookTooLong() }
        if !isSuspended { timer.start() }
        closeTimer = timer
    }

    /// The messages in front of our Close frame leave, one by one.
    private func restartCloseTimer() {
        closeTimer?.stop()
        closeTimer = nil
        startCloseTimer()
    }

    private func closeTookTooLong() {
        switch state {
        case .closing(let failure): end(failure ?? .noClose(.nanoseconds(closePatience.nanoseconds)))
        case .open, .ending, .over: end(nil)
        }
    }

    // MARK: - Ending

    /// Tells the server why, and waits for the end of the connection: closing it at once could take the Close frame
    /// from the server again.
    private func fail(_ failure: WebSocketFailure) {
        if case .over = state { return }
        keepAlive?.stop()
        let cut = outbox.cutMessages()
        if isOpen, let code = failure.code { outbox.addClose(WebSocketClose(code: code).payload) }
        if isOpen { ending = failure }
        state = .closing(failure)
        startCloseTimer()
        for completion in cut { completion(failure) }
        write()
        dropInput()
    }

    /// What the server still sends does not count.
    private func dropInput() {
        if channel.isReadable { channel.continueNextTurn() }
    }

    private func inputEnded(_ error: SystemCallError?) {
        switch state {
        case .open, .closing(nil): end(error.map(failure(of:)) ?? .cutShort)
        case .closing(let failure?): end(failure)
        case .ending, .over: end(nil)
        }
    }

    private func failure(of error: SystemCallError) -> WebSocketFailure {
        secured?.failure.map(WebSocketFailure.secured) ?? .channel(error)
    }

    private func end(_ failure: WebSocketFailure?) {
        if case .over = state { return }
        var failure = failure
        if case .ending = state { failure = nil }
        if isOpen, let failure { ending = failure }
        state = .over
        keepAlive?.stop()
        closeTimer?.stop()
        closeTimer = nil
        channel.close()
        let client = client
        self.client = nil
        let left = failure ?? .closed(WebSocketClose(code: nil))
        for completion in outbox.takeAll() { completion(left) }
        for completion in keepAlive?.takeAll() ?? [] { completion(left) }
        client?.webSocketEnded(failure)
    }
}

extension WebSocketClose {
    /// The payload of the frame (RFC 6455 §5.5.1). The reason is cut to what fits, between two characters.
    var payload: [UInt8] {
        guard let code else { return [] }
        var text = reason[...]
        while text.utf8.count > 123 { text.removeLast() }
        return [UInt8(code >> 8), UInt8(code & 0xFF)] + text.utf8
    }
}
