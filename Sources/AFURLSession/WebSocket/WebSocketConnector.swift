import AFBase
import AFLoop
import AFTLS
import AFTransport
import AFWire
import Foundation

/// A message, or a ping, that the program sends, and whom to tell what becomes of it.
struct SendOrder: Sendable {
    /// A Swift task awaits it, which does not depend on the delegate queue.
    let isAwaited: Bool
    let handler: @Sendable ((any Error)?) -> Void
}

/// A message that the program wants to receive. Confined to the loop.
final class ReceiveOrder {
    typealias Reception = Result<URLSessionWebSocketTask.Message, any Error>

    let isAwaited: Bool
    /// The caller does not wait any more: perhaps since before the order arrived.
    var isWithdrawn = false
    let handler: @Sendable (Reception) -> Void

    init(isAwaited: Bool, handler: @escaping @Sendable (Reception) -> Void) {
        self.isAwaited = isAwaited
        self.handler = handler
    }
}

/// What a program hears of behind the last message.
private struct WebSocketEnding {
    /// The server's Close frame.
    var close: (URLSessionWebSocketTask.CloseCode, Data?)?
    /// The connection is closed, with or without a failure.
    var end: WebSocketFailure??
    /// Runs while messages wait for the program.
    var timer: PausableTimer?
    var isImpatient = false

    var isNews: Bool { close != nil || end != nil }
}

/// The loop's side of a WebSocket task: asks for the WebSocket, takes the connection over when the server agrees, and
/// hands messages to the program and to the connection.
final class WebSocketConnector: TaskConsumer {
    private enum Stage {
        case asking
        /// The server has agreed. What else came with its response is kept until the connection is ours. The other stages
        /// last for days, and have no room for it.
        indirect case opening(WebSocketHandshake.Agreement, early: [UInt8])
        case open(WebSocketConnection)
        case over(any Error)
    }

    /// What waits for the WebSocket to open.
    private enum Operation {
        case send(WebSocketMessage, SendOrder)
        case ping(SendOrder)
        /// The caller only wants to know.
        case nothing(SendOrder)
        case close(URLSessionWebSocketTask.CloseCode, Data?)
    }

    /// What a message costs beside its bytes: a server may send empty ones without end.
    private static let messageCost = 64

    /// What the connection is opened with, but for the limit of messages, which may change until then.
    private let terms: WebSocketTerms
    private let receiveBufferSize: Int
    private let closing: Lock<URLSessionWebSocketTask.Closing>
    @exclusivity(unchecked) private var load: Load?
    @exclusivity(unchecked) private var stage = Stage.asking
    /// The value of `Sec-WebSocket-Accept` that answers the last request.
    private var accept: [UInt8]?
    private var handshake: WebSocketHandshake?
    @exclusivity(unchecked) private var operations = Fifo<Operation>()
    @exclusivity(unchecked) private var receives = Fifo<ReceiveOrder>()
    @exclusivity(unchecked) private var inbox = Fifo<WebSocketMessage>()
    /// How much the messages in the inbox take.
    @exclusivity(unchecked) private var inboxCost = 0
    /// What the program hears of behind the messages that came before.
    private var ending = WebSocketEnding()
    /// How long the program may take for these.
    private let patience: LoopInterval
    /// The number of the connection in its session.
    private var number: Int?
    /// When the WebSocket was opened.
    private var opened: LoopInstant?

    init(_ options: WebSocketOptions, closing: Lock<URLSessionWebSocketTask.Closing>) {
        terms = options.terms
        patience = terms.closePatience
        receiveBufferSize = options.receiveBufferSize
        self.closing = closing
    }

    // MARK: - Asking

    var isHolding: Bool { false }
    var caching: ResponseCaching { .never }

    func prepare(for load: Load) -> ConsumerPreparation {
        self.load = load
        return .nothing
    }

    /// Adds the fields that ask for the WebSocket. Each request that is sent has a key of its own.
    func addFields(to fields: inout HTTPHeaders, of request: WireRequest, load: Load) {
        guard let handshake = request.terms.webSocket else { return }
        let world = load.session.world
        let random = (world.random(), world.random())
        let key = String(decoding: withUnsafeBytes(of: random) { Base64.encode($0) }, as: UTF8.self)
        let proof = SHA1Digest.of(WebSocketHandshake.proof(of: key))
        accept = proof.map { proof in proof.withUnsafeBytes { Base64.encode($0) } }
        self.handshake = handshake
        fields.append(contentsOf: handshake.fields(key: key))
    }

    func receivedResponse(_ response: URLResponse, of load: Load) {
        self.load = load
        guard let response = response as? HTTPURLResponse, response.statusCode == 101, let handshake else {
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            return load.fail(.webSocket(.refused(status: status)))
        }
        // OpenSSL had no memory for it.
        guard let accept else { return load.fail(.webSocket(.noMemory)) }
        do throws(WebSocketHandshake.Flaw) {
            stage = .opening(try handshake.agreement(in: response.headers, accept: accept), early: [])
        } catch {
            return load.fail(.webSocket(.handshake(error)))
        }
        // The exchange is at work on what it has read: take its connection in the next turn.
        load.pause(.unanswered)
        let bound = LoopBound(confined: self, on: load.session.loop)
        load.session.loop.enqueue(in: .all) { bound.value.open() }
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        guard case .opening(let agreement, let early) = stage else { return }
        stage = .opening(agreement, early: early + bytes)
    }

    /// The connection ended before it was ours.
    func receivedEnd(of load: Load) {
        if case .opening = stage { load.fail(.webSocket(.cutShort)) }
    }

    private func open() {
        guard case .opening(let agreement, let early) = stage, let load else { return }
        guard let transfer = load.transfer, transfer.times.requestEnded != nil,
            let channel = transfer.surrenderChannel()
        else { return load.fail(.webSocket(.cutShort)) }
        let session = load.session
        accept = nil
        number = transfer.times.connection?.number
        load.letGoOfTransfer()
        load.watchTime()
        var terms = terms
        terms.messageLimit = closing.withLock { $0.messageLimit }
        let connection = WebSocketConnection(
            channel,
            secured: channel as? TLSChannel,
            early: early,
            agreement: agreement,
            terms: terms,
            platform: session.world.platform,
            random: session.world.random,
            client: self
        )
        stage = .open(connection)
        closing.withLock { $0.subprotocol = agreement.subprotocol }
        opened = session.loop.now
        // What came with the response counts by its messages.
        load.snapshot.withLock { $0.received = 0 }
        let shown = agreement.subprotocol.map { SecretMask().value($0, of: WebSocketHandshake.subprotocolField) }
        load.trace?.note(.webSocketOpened(subprotocol: shown))
        tell { $0.urlSession($1.session, webSocketTask: $1, didOpenWithProtocol: agreement.subprotocol) }
        if load.isSuspended { connection.suspend() }
        while let operation = operations.popFirst() { perform(operation, on: connection, of: load) }
        connection.start()
    }

    // MARK: - From the task

    func suspended(_ isSuspended: Bool, of load: Load) {
        guard case .open(let connection) = stage else { return }
        if isSuspended {
            ending.timer?.stop()
            connection.suspend()
        } else {
            ending.timer?.start()
            connection.resume()
        }
    }

    func limitMessages(to bytes: Int) {
        if case .open(let connection) = stage { connection.limitMessages(to: bytes) }
    }

    func send(_ message: WebSocketMessage, for order: SendOrder, in session: SessionCore) {
        add(.send(message, order), for: order, in: session)
    }

    func tellWhenOpen(_ order: SendOrder, in session: SessionCore) {
        // It may have been closed since.
        if opened != nil { return finish(order, error: nil, in: session) }
        add(.nothing(order), for: order, in: session)
    }

    func ping(_ order: SendOrder, in session: SessionCore) {
        add(.ping(order), for: order, in: session)
    }

    private func add(_ operation: Operation, for order: SendOrder, in session: SessionCore) {
        switch stage {
        case .asking, .opening: operations.append(operation)
        case .open(let connection): if let load { perform(operation, on: connection, of: load) }
        case .over(let error): finish(order, error: error, in: session)
        }
    }

    private func perform(_ operation: Operation, on connection: WebSocketConnection, of load: Load) {
        let session = load.session
        switch operation {
        case .send(let message, let order):
            let count = Int64(message.byteCount)
            connection.send(message) { [self] failure in
                if failure == nil {
                    load.snapshot.withLock { $0.sent += count }
                    load.trace?.sent(message, at: session.loop.now)
                }
                finish(order, error: failure.map { error($0, of: load) }, in: session)
            }
        case .nothing(let order): finish(order, error: nil, in: session)
        case .close(let code, let reason): end(connection, code: code, reason: reason)
        case .ping(let order):
            connection.ping { [self] failure in finish(order, error: failure.map { error($0, of: load) }, in: session) }
        }
    }

    private func finish(_ order: SendOrder, error: (any Error)?, in session: SessionCore) {
        (order.isAwaited ? session.resumptions : session.outbox).post(.failure(order.handler, error))
    }

    /// False if there is no WebSocket to close.
    func close(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) -> Bool {
        switch stage {
        case .asking, .opening:
            guard load != nil, operations.contains(where: { if case .send = $0 { true } else { false } }) else {
                return false
            }
            operations.append(.close(code, reason))
        case .over: break
        case .open(let connection): end(connection, code: code, reason: reason)
        }
        return true
    }

    private func end(_ connection: WebSocketConnection, code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        closing.withLock { closing in
            guard closing.code == .invalid else { return }
            (closing.code, closing.reason, closing.isOrderly) = (code, reason, true)
        }
        let wire = UInt16(exactly: code.rawValue).flatMap { WebSocketClose.maySend($0) ? $0 : nil }
        connection.close(WebSocketClose(code: wire, reason: String(decoding: reason ?? Data(), as: UTF8.self)))
    }

    // MARK: - Receiving

    func receive(_ order: ReceiveOrder, in session: SessionCore) {
        if order.isWithdrawn { return finish(order, with: .failure(CancellationError()), in: session) }
        let wanted = wantsMessage
        if let message = inbox.popFirst() {
            inboxCost -= message.byteCount + Self.messageCost
            finish(order, with: .success(URLSessionWebSocketTask.Message(message)), in: session)
            goOnEnding()
        } else if case .over(let error) = stage {
            return finish(order, with: .failure(error), in: session)
        } else {
            receives.append(order)
        }
        if !wanted, wantsMessage, case .open(let connection) = stage { connection.proceed() }
    }

    /// The caller does not wait any more.
    func withdraw(_ order: ReceiveOrder, in session: SessionCore) {
        order.isWithdrawn = true
        guard receives.remove(where: { $0 === order }) else { return }
        finish(order, with: .failure(CancellationError()), in: session)
    }

    private func finish(_ order: ReceiveOrder, with result: ReceiveOrder.Reception, in session: SessionCore) {
        let handler = order.handler
        if order.isAwaited, case .success = result { closing.withLock { $0.unclaimed += 1 } }
        (order.isAwaited ? session.resumptions : session.outbox).post(.block { handler(result) })
    }

    // MARK: - Ending

    /// Tells the program of the server's Close frame, and ends the task, as soon as it has the messages that came before;
    /// or when it has asked for none of them for too long.
    func goOnEnding() {
        guard ending.isNews, load != nil else { return }
        if !ending.isImpatient, hasUnreceived { return awaitReceiver() }
        ending.timer?.stop()
        ending.timer = nil
        tellClose()
        guard let end = ending.end.take() else { return }
        if let failure = end { load?.fail(LoadError(failure)) } else { load?.finishReceiving() }
    }

    /// Whether a message waits for the program, or is on its way to a Swift task.
    private var hasUnreceived: Bool {
        if !inbox.isEmpty { return true }
        return closing.withLock { closing in
            closing.awaitsClaims = closing.unclaimed > 0
            return closing.awaitsClaims
        }
    }

    private func awaitReceiver() {
        guard let load else { return }
        ending.timer?.stop()
        let timer = PausableTimer(after: patience, on: load.session.loop) { [weak self] in
            self?.ending.isImpatient = true
            self?.goOnEnding()
        }
        ending.timer = timer
        if !load.isSuspended { timer.start() }
    }

    private func tellClose() {
        guard let (code, reason) = ending.close.take() else { return }
        tell { $0.urlSession($1.session, webSocketTask: $1, didCloseWith: code, reason: reason) }
    }

    func completed(_ error: (any Error)?, of load: Load) -> Bool {
        let session = load.session
        ending.timer?.stop()
        tellClose()
        ending = WebSocketEnding()
        let left = error ?? self.error(.closed(close), of: load)
        var connection: WebSocketConnection?
        if case .open(let open) = stage { connection = open }
        stage = .over(left)
        if let opened { closing.withLock { $0.duration = opened.duration(to: session.loop.now) } }
        if error != nil {
            closing.withLock { closing in
                if connection != nil, !closing.isServers {
                    (closing.code, closing.reason) = (.abnormalClosure, nil)
                }
                closing.isOrderly = false
            }
        }
        connection?.drop()
        if let number { session.events?.post(.connectionClosed, connection: number) }
        for operation in operations.takeAll() {
            switch operation {
            case .send(_, let order), .ping(let order), .nothing(let order): finish(order, error: left, in: session)
            case .close: break
            }
        }
        for order in receives.takeAll() { finish(order, with: .failure(left), in: session) }
        self.load = nil
        return load.tellEnd()
    }

    private var close: WebSocketClose {
        closing.withLock { closing in
            WebSocketClose(
                code: UInt16(exactly: closing.code.rawValue),
                reason: String(decoding: closing.reason ?? Data(), as: UTF8.self)
            )
        }
    }

    private func error(_ failure: WebSocketFailure, of load: Load) -> any Error {
        if case .over(let error) = stage { error } else { load.urlError(LoadError(failure)) }
    }

    private func tell(_ call: @escaping @Sendable (any URLSessionWebSocketDelegate, URLSessionWebSocketTask) -> Void) {
        guard let load, let task = load.handle as? URLSessionWebSocketTask else { return }
        let own = load.listener(as: (any URLSessionWebSocketDelegate).self)
        guard let delegate = own ?? load.session.delegate as? any URLSessionWebSocketDelegate else { return }
        load.session.outbox.post(.block { call(delegate, task) })
    }
}

extension WebSocketConnector: WebSocketClient {
    var wantsMessage: Bool { !receives.isEmpty || inboxCost < receiveBufferSize }

    func webSocketReceived(_ message: WebSocketMessage) {
        guard let load else { return }
        load.snapshot.withLock { $0.received += Int64(message.byteCount) }
        load.trace?.received(message, at: load.session.loop.now)
        guard let order = receives.popFirst() else {
            inboxCost += message.byteCount + Self.messageCost
            return inbox.append(message)
        }
        finish(order, with: .success(URLSessionWebSocketTask.Message(message)), in: load.session)
    }

    func webSocketReceivedClose(_ close: WebSocketClose) {
        let code = close.code.map(Int.init) ?? URLSessionWebSocketTask.CloseCode.noStatusReceived.rawValue
        let reason = close.reason.isEmpty ? nil : Data(close.reason.utf8)
        guard let shown = URLSessionWebSocketTask.CloseCode(rawValue: code) else { return }
        closing.withLock { closing in
            let ends = [.normalClosure, .goingAway, .noStatusReceived].contains(shown)
            (closing.code, closing.reason, closing.isServers) = (shown, reason, true)
            closing.isOrderly = closing.isOrderly || ends
        }
        load?.trace?.note(.webSocketClosed(code: code, reason: close.reason))
        ending.close = (shown, reason)
        goOnEnding()
    }

    func webSocketEnded(_ failure: WebSocketFailure?) {
        ending.end = .some(failure)
        goOnEnding()
    }
}

extension LoadError {
    /// What TLS says about its end is said in its own words.
    fileprivate init(_ failure: WebSocketFailure) {
        switch failure {
        case .secured(let failure): self = .transfer(.secured(failure, .receivingBody, .notAsked))
        case .fault(let words): self = .fault(words)
        default: self = .webSocket(failure)
        }
    }
}

extension URLSessionWebSocketTask.Message {
    fileprivate init(_ message: WebSocketMessage) {
        switch message {
        case .text(let text): self = .string(text)
        case .binary(let data): self = .data(data)
        }
    }
}
