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
    package var messageLimit: Int
    /// How often to ask the server whether it is there. Nil: never.
    let pingInterval: LoopInterval?
    /// How long the server may take for the answer.
    let pongPatience: LoopInterval
    /// How long the server may take to answer our Close frame, and to close the connection then.
    package let closePatience: LoopInterval

    package init(
        messageLimit: Int,
        pingInterval: LoopInterval?,
        pongPatience: LoopInterval,
        closePatience: LoopInterval
    ) {
        self.messageLimit = messageLimit
        self.pingInterval = pingInterval
        self.pongPatience = pongPatience
        self.closePatience = closePatience
    }
}

/// Speaks the WebSocket protocol on a connection that a handshake has opened (RFC 6455). Confined to its loop.
/// `WebSocketMachine` says where it stands, and what it does next.
package final class WebSocketConnection: ChannelHandler {
    /// What a connection remembers that is not open any more.
    private final class Ending {
        /// Why nothing more is sent.
        let refusal: WebSocketFailure
        /// What the server has broken.
        var failure: WebSocketFailure?

        init(_ refusal: WebSocketFailure) {
            self.refusal = refusal
        }
    }

    private let channel: any ByteChannel
    private let secured: TLSChannel?
    private let turnShare: TurnShare
    private let platform: Platform
    private let closePatience: LoopInterval
    @exclusivity(unchecked) private var client: (any WebSocketClient)?

    @exclusivity(unchecked) private var machine = WebSocketMachine()
    @exclusivity(unchecked) private var decoder: WebSocketDecoder
    @exclusivity(unchecked) private var assembly: MessageAssembly
    @exclusivity(unchecked) private var outbox: WebSocketOutbox
    /// What was read and is not decoded yet: the client took no more messages, or the server had its share of the turn.
    @exclusivity(unchecked) private var unread: Backlog
    @exclusivity(unchecked) private var writeError: SystemCallError?
    /// Nil until the connection has something to ask the server.
    @exclusivity(unchecked) private var keepAlive: WebSocketKeepAlive?
    private var closeTimer: PausableTimer?
    /// Nil as long as it is open.
    private var ending: Ending?

    /// - Parameters:
    ///   - early: What came behind the response that opened the connection.
    ///   - random: Makes the keys of the masks.
    package init(
        _ channel: any ByteChannel,
        secured: TLSChannel?,
        early: [UInt8],
        agreement: WebSocketHandshake.Agreement,
        terms: WebSocketTerms,
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
        assembly = MessageAssembly(compression: agreement.compression, limit: terms.messageLimit)
        outbox = WebSocketOutbox(compression: agreement.compression, random: random)
        channel.handler = self
        channel.probePeer()
        if let interval = terms.pingInterval {
            keepAlive = makeKeepAlive(every: interval, patience: terms.pongPatience)
        }
    }

    /// Why nothing more is sent.
    private var refusal: WebSocketFailure { ending?.refusal ?? .closed(WebSocketClose(code: nil)) }

    /// Tells the machine what happens.
    ///
    /// - Returns: What the connection has to do.
    func take(_ event: WebSocketMachine.Event) -> WebSocketMachine.Action {
        let former = machine.state
        let action = machine.handle(event)
        if action == .impossible { finish(.fault(WebSocketMachine.objection(to: event, in: former))) }
        return action
    }

    // MARK: - From the client

    package func start() {
        if machine.isOpen { keepAlive?.start() }
        proceed()
    }

    /// Goes on: the client takes messages again.
    package func proceed() {
        guard !machine.isSuspended else { return }
        channelReady()
        keepAlive?.clientTakesMessages(mayRead)
    }

    package func suspend() {
        machine.suspend()
        keepAlive?.pause()
        closeTimer?.stop()
    }

    package func resume() {
        guard machine.resume() else { return }
        keepAlive?.resume()
        closeTimer?.start()
        proceed()
    }

    package func limitMessages(to bytes: Int) {
        decoder.limitMessages(to: bytes)
        assembly.limit = bytes
    }

    /// - Parameter completion: Called once: when the bytes have left, or with the reason why they do not.
    package func send(_ message: WebSocketMessage, completion: @escaping (WebSocketFailure?) -> Void) {
        guard take(.sendAsked) == .send else { return completion(refusal) }
        outbox.add(message, completion: completion)
        write()
    }

    /// - Parameter completion: Called once: when the server has answered, or with the reason why it does not.
    package func ping(_ completion: ((WebSocketFailure?) -> Void)?) {
        guard take(.sendAsked) == .send else {
            completion?(refusal)
            return
        }
        // The program decides how long it waits for the answers to its pings.
        if keepAlive == nil { keepAlive = makeKeepAlive(every: nil, patience: LoopInterval(.zero)) }
        keepAlive?.ping(completion)
    }

    /// Sends a Close frame behind the messages that wait.
    package func close(_ close: WebSocketClose) {
        guard take(.closeAsked) == .sendClose else { return }
        outbox.addClose(close.payload)
        beginEnding(.closed(WebSocketClose(code: nil)))
        proceed()
    }

    /// Closes the connection at once, with a Close frame if there is room for it.
    package func drop() {
        client = nil
        switch take(.dropAsked) {
        case .sayGoodbye:
            let cut = outbox.cutMessages()
            outbox.addClose(WebSocketClose(code: WebSocketClose.goingAway).payload)
            while case .moved = outbox.write(to: channel) {}
            for completion in cut { completion(refusal) }
            finish(nil)
        case .drop: finish(nil)
        default: break
        }
    }

    // MARK: - From the channel

    package func channelReady() {
        write()
        read()
    }

    // MARK: - Writing

    private func write() {
        guard !machine.isSuspended, !machine.isBroken else { return }
        while !turnShare.isSpentForWriting {
            if machine.state == .over { return }
            let step = outbox.write(to: channel)
            reportWritten()
            switch step {
            case .moved:
                if take(.bytesLeft) == .restartTimer { restartCloseTimer() }
                keepAlive?.bytesLeft(andPing: { !outbox.pingWaits })
            case .blocked: return
            case .empty:
                if take(.allLeft) == .endWriting { channel.endWriting() }
                return
            case .failed(let error):
                guard take(.sendingFailed) == .readRest else { return }
                writeError = error
                return channel.continueNextTurn()
            case .broken: return lose(.noMemory)
            }
        }
        channel.continueNextTurn()
    }

    private func reportWritten() {
        guard channel.isFlushed else { return }
        while let completion = outbox.popWritten() { completion(nil) }
    }

    // MARK: - Reading

    private func read() {
        while !turnShare.isSpent, readSome() {}
        if turnShare.isSpent, mayRead { channel.continueNextTurn() }
    }

    /// False if there is nothing more to do now.
    private func readSome() -> Bool {
        guard mayRead else { return false }
        guard unread.isEmpty else { return decodeUnread() }
        guard channel.isReadable || machine.isBroken else { return false }
        let page = platform.readBuffer.value.forReading()
        switch channel.read(into: page) {
        case .bytes(let count):
            keepAlive?.heard()
            let rest = decode(UnsafeRawBufferPointer(rebasing: page[..<count]))
            if machine.decodes, !rest.isEmpty { unread = Backlog(Array(rest)) }
            return true
        case .wouldBlock:
            // A share that is spent on records without data says nothing about what follows.
            if let writeError, !channel.isReadable { lose(failure(of: writeError)) }
        case .end: lose(writeError.map(failure(of:)) ?? .cutShort)
        case .failed(let error): lose(failure(of: error))
        }
        return false
    }

    private var mayRead: Bool { machine.reads(isWanted: client?.wantsMessage == true) }

    /// False if there is still something left.
    private func decodeUnread() -> Bool {
        // In place: a client that takes one message at a time would have the rest copied for each.
        let used = unread.withBytes { $0.count - decode($0).count }
        if machine.decodes { unread.removeFirst(used) } else { unread = Backlog() }
        return unread.isEmpty
    }

    /// - Returns: What the client does not take now.
    private func decode(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var offset = 0
        do throws(WebSocketFailure) {
            while machine.decodes, mayRead, !turnShare.isSpent {
                turnShare.take()
                let step = try decoded(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                offset += step.consumed
                if case .needMore = step.event { break }
                try act(on: step.event)
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

    private func decoded(
        _ bytes: UnsafeRawBufferPointer
    ) throws(WebSocketFailure) -> (consumed: Int, event: WebSocketDecoder.Event) {
        do throws(WebSocketViolation) {
            return try decoder.decode(bytes)
        } catch {
            throw error.code == WebSocketViolation.tooBig ? .tooLong(limit: assembly.limit) : .violation(error)
        }
    }

    private func act(on event: WebSocketDecoder.Event) throws(WebSocketFailure) {
        let page = platform.contentPage.value.bytes
        switch event {
        case .needMore, .fragment: break
        case .begin(let opcode, let isCompressed): assembly.begin(isText: opcode == .text, isCompressed: isCompressed)
        case .piece(let bytes): try assembly.add(bytes, announced: decoder.announced, page: page)
        case .end:
            let message = try assembly.end(page: page)
            let isWanted = client?.wantsMessage == true
            if take(isWanted ? .message : .unwantedMessage) == .deliver { client?.webSocketReceived(message) }
        case .ping(let payload): if take(.serverPing) == .pong { outbox.addPong(payload) }
        case .pong(let payload): keepAlive?.received(pong: payload)
        case .close(let close): received(close)
        }
    }

    private func received(_ close: WebSocketClose) {
        let action = take(.serverClosed)
        guard action == .answerClose || action == .noteClose else { return }
        // The server reads no more messages, so ours must not stand in front of our Close frame.
        let cut = outbox.cutMessages()
        if action == .answerClose { outbox.addClose(WebSocketClose(code: close.code).payload) }
        beginEnding(.closed(close))
        client?.webSocketReceivedClose(close)
        for completion in cut { completion(.closed(close)) }
        write()
    }

    // MARK: - Time

    private func makeKeepAlive(every interval: LoopInterval?, patience: LoopInterval) -> WebSocketKeepAlive {
        WebSocketKeepAlive(every: interval, patience: patience, on: platform.loop) { [weak self] in self?.obey($0) }
    }

    private func obey(_ order: WebSocketKeepAlive.Order) {
        switch order {
        case .ping(let payload):
            outbox.addPing(payload)
            write()
            keepAlive?.clientTakesMessages(mayRead)
        case .giveUp(let failure): lose(failure)
        }
    }

    private func startCloseTimer() {
        guard closeTimer == nil else { return }
        let patience = closePatience
        let timer = PausableTimer(after: patience, on: platform.loop) { [weak self] in
            self?.lose(.noClose(.nanoseconds(patience.nanoseconds)), on: .closeOverdue)
        }
        if !machine.isSuspended { timer.start() }
        closeTimer = timer
    }

    /// The messages in front of our Close frame leave, one by one.
    private func restartCloseTimer() {
        closeTimer?.stop()
        closeTimer = nil
        startCloseTimer()
    }

    // MARK: - Ending

    /// From now on the end of the connection is what is waited for.
    ///
    /// - Parameter refusal: Why nothing more is sent. The first reason counts.
    private func beginEnding(_ refusal: WebSocketFailure) {
        keepAlive?.stop()
        startCloseTimer()
        if ending == nil { ending = Ending(refusal) }
    }

    private func fail(_ failure: WebSocketFailure) {
        let action = take(.violation)
        guard action == .failWithClose || action == .fail else { return }
        let cut = outbox.cutMessages()
        if action == .failWithClose, let code = failure.code { outbox.addClose(WebSocketClose(code: code).payload) }
        beginEnding(failure)
        ending?.failure = failure
        for completion in cut { completion(failure) }
        write()
        // What the server still sends does not count.
        if channel.isReadable { channel.continueNextTurn() }
    }

    /// The connection is of no use any more, unless it has ended in order or failed before.
    private func lose(_ reason: WebSocketFailure, on event: WebSocketMachine.Event = .lost) {
        switch take(event) {
        case .end: finish(reason)
        case .endFailed: finish(ending?.failure ?? reason)
        case .endInOrder: finish(nil)
        default: break
        }
    }

    private func failure(of error: SystemCallError) -> WebSocketFailure {
        secured?.failure.map(WebSocketFailure.secured) ?? .channel(error)
    }

    private func finish(_ failure: WebSocketFailure?) {
        let left = failure ?? .closed(WebSocketClose(code: nil))
        if ending == nil { ending = Ending(left) }
        keepAlive?.stop()
        closeTimer?.stop()
        closeTimer = nil
        channel.close()
        let client = client
        self.client = nil
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
