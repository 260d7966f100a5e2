import AFLoop
import AFTestFixtures
import AFVirtualWorld
import AFWire
import Testing

@testable import AFTransport

/// A second protocol beside HTTP/1.1: it answers each request with its own target, in the opposite order of the requests,
/// and sends nothing.
private final class EchoConnection: HTTPConnection {
    let made: ConnectionReport
    let opened: LoopInstant
    let generation: Int
    private let channel: any ByteChannel
    private let owner: any ConnectionOwner
    private(set) var isReused = false
    private var clients: [any ExchangeClient] = []

    var keepAliveHint: Duration? { nil }
    var capacity: Int { 3 }
    var load: Int { clients.count }
    var answersInOrder: Bool { false }

    init(_ parts: ConnectionParts) {
        made = parts.made
        opened = parts.platform.loop.now
        generation = parts.generation
        channel = parts.channel
        owner = parts.owner
    }

    func begin(_ client: any ExchangeClient) {
        append(client)
    }

    func append(_ client: any ExchangeClient) {
        clients.append(client)
        client.exchangeBegins(on: self)
        client.sent(headBytes: client.request.head.url.target.count, bodyBytes: 0)
        client.requestSent()
    }

    func sendAppended() {}
    func rest() {}
    func goOn(with client: any ExchangeClient) {}
    func probePeer(for client: any ExchangeClient) {}
    func surrender() -> (any ByteChannel)? { nil }

    func close() {
        channel.close()
        owner.connectionClosed(self)
        for client in clients { client.lostItsTurn() }
        clients = []
    }

    func abandon(_ client: any ExchangeClient) {
        clients.removeAll { $0 === client }
        if clients.isEmpty { owner.exchangeEnded(on: self, mayReuse: true) }
    }

    /// Answers the request that came last.
    func answer() throws {
        guard let client = clients.popLast() else { return }
        isReused = true
        if clients.isEmpty { owner.exchangeEnded(on: self, mayReuse: true) } else { owner.connectionHasRoom() }
        var decoder = ResponseDecoder(method: .other)
        let step = try Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".utf8).withUnsafeBytes {
            try decoder.decode($0)
        }
        guard case .head(let head) = step.event else { return }
        client.receivedHead(head, headBytes: step.headBytes)
        client.request.url.target.withUnsafeBytes { client.receivedBody($0) }
        client.exchangeFinished()
    }
}

private final class Listener: TransferClient {
    private(set) var status = 0
    private(set) var text = ""
    private(set) var isFinished = false
    private(set) var error: TransferError?

    var handshakeDelegate: (any HandshakeDelegate)? { nil }
    func forbids(_ request: WireRequest) -> Bool { false }
    func forbidsTunnel(to endpoint: Endpoint) -> Bool { false }
    func transferIsForbidden(_ transfer: Transfer) { transfer.cancel() }
    func transferSentBody(_ transfer: Transfer, total: Int64) {}
    func transferReceivedHead(_ transfer: Transfer, _ head: ResponseHead) { status = head.status }
    func transferMayDecode(_ transfer: Transfer) {}
    func transferReceivedBody(_ transfer: Transfer, _ bytes: UnsafeRawBufferPointer) {
        text += String(decoding: bytes, as: UTF8.self)
    }
    func transferFinished(_ transfer: Transfer) { isFinished = true }
    func transferFailed(_ transfer: Transfer, _ error: TransferError) { self.error = error }
}

/// The pool and the transfer know only `HTTPConnection`: another protocol needs nothing but another implementation.
@Suite("Another protocol in the place of HTTP/1.1")
struct EchoConnectionTests {
    private let world = VirtualWorld()
    private let deadlines: DeadlineWatch
    private let platform: Platform

    init() {
        deadlines = DeadlineWatch(loop: world.loop)
        platform = world.makeWorld().platform
        world.respond("api.test") { _, _, client in client.report("the echo sends nothing") }
    }

    private func pool(perHost: Int = 1, _ connections: @escaping (EchoConnection) -> Void) -> ConnectionPool {
        let limits = PoolLimits(
            perHost: perHost,
            maximumIdle: 1,
            idleTime: LoopInterval(.seconds(60)),
            maximumAge: LoopInterval(.seconds(600))
        )
        let settings = PoolSettings(
            limits: limits,
            continuePatience: LoopInterval(.seconds(1)),
            rules: ConnectionRules(),
            queueInterval: nil,
            receiveRate: nil,
            sendRate: nil
        )
        return ConnectionPool(platform: platform, settings: settings, observer: nil) { parts in
            let connection = EchoConnection(parts)
            connections(connection)
            return connection
        }
    }

    private func start(_ target: String, in pool: ConnectionPool, for client: Listener) throws {
        let request = try freeze("http://api.test\(target)")
        let transfer = Transfer(
            request,
            key: ConnectionKey(endpoint: request.endpoint, security: nil),
            pool: pool,
            loop: world.loop,
            deadlines: deadlines,
            idleInterval: LoopInterval(.seconds(60)),
            time: TaskTime(until: world.now + .seconds(60)),
            asksForPipelining: false,
            client: client
        )
        transfer.start(priority: 0.5, body: nil)
    }

    @Test func `the pool gives one connection as many requests as it takes at once`() throws {
        var connections: [EchoConnection] = []
        let pool = pool { connections.append($0) }
        let listeners = (1...4).map { _ in Listener() }
        for (number, listener) in listeners.enumerated() { try start("/target-\(number)", in: pool, for: listener) }
        world.advance(by: .seconds(1))

        let connection = try #require(connections.first)
        #expect(connection.load == 3)
        try connection.answer()
        #expect(listeners.map(\.text) == ["", "", "/target-2", ""])
        world.advance(by: .seconds(1))
        #expect(connection.load == 3, "the fourth has the place of the third")
        while connection.load > 0 { try connection.answer() }

        #expect(listeners.map(\.text) == ["/target-0", "/target-1", "/target-2", "/target-3"])
        #expect(listeners.allSatisfy { $0.isFinished && $0.status == 200 && $0.error == nil })
        #expect(connections.count == 1)
        pool.shutDown()
        deadlines.shutDown()
        world.advance(by: .seconds(1))
        #expect(world.network.openConnections.isEmpty)
        // They hold their pool, which holds the closure that noted them.
        connections.removeAll()
    }

    @Test func `a connection with room for more gets them before the pool dials another`() throws {
        var connections: [EchoConnection] = []
        let pool = pool(perHost: 6) { connections.append($0) }
        let listeners = (1...5).map { _ in Listener() }
        try start("/0", in: pool, for: listeners[0])
        world.advance(by: .seconds(1))
        for number in 1...4 { try start("/\(number)", in: pool, for: listeners[number]) }
        world.advance(by: .seconds(1))

        // It takes three. The other two need another one.
        #expect(connections.first?.load == 3 && connections.map(\.load).reduce(0, +) == 5)
        #expect(world.network.connections.count <= 3)
        for connection in connections { while connection.load > 0 { try connection.answer() } }
        #expect(listeners.map(\.text) == (0...4).map { "/\($0)" })
        pool.shutDown()
        deadlines.shutDown()
        world.advance(by: .seconds(1))
        #expect(world.network.openConnections.isEmpty)
        connections.removeAll()
    }
}
