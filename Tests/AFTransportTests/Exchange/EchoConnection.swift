import AFLoop
import AFTestFixtures
import AFVirtualWorld
import AFWire
import Testing

@testable import AFTransport

/// A second protocol beside HTTP/1.1: it answers each request with its own target, in the opposite order of the requests,
/// and sends nothing.
final class EchoConnection: HTTPConnection {
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

final class TransferListener: TransferClient {
    private(set) var status = 0
    private(set) var text = ""
    private(set) var isFinished = false
    private(set) var error: TransferError?

    var handshakeDelegate: (any HandshakeDelegate)? { nil }
    func forbids(_ request: WireRequest) -> Bool { false }
    func forbidsTunnel(to endpoint: Endpoint) -> Bool { false }
    func transferIsForbidden(_ transfer: Transfer) { transfer.cancel() }
    func transferSentBody(_ transfer: Transfer, total: Int64) {}
    func transferReceivedHead(_ transfer: Transfer, head: ResponseHead) { status = head.status }
    func transferMayDecode(_ transfer: Transfer) {}
    func transferReceivedBody(_ transfer: Transfer, bytes: UnsafeRawBufferPointer) {
        text += String(decoding: bytes, as: UTF8.self)
    }
    func transferFinished(_ transfer: Transfer) { isFinished = true }
    func transferFailed(_ transfer: Transfer, error: TransferError) { self.error = error }
}

/// A virtual network whose connections speak the echo protocol.
struct EchoNetwork {
    let world = VirtualWorld()
    let deadlines: DeadlineWatch
    private let platform: Platform

    init() {
        deadlines = DeadlineWatch(loop: world.loop)
        platform = world.makeWorld().platform
        world.respond("api.test") { _, _, client in client.report("the echo sends nothing") }
    }

    func pool(perHost: Int = 1, _ connections: @escaping (EchoConnection) -> Void) -> ConnectionPool {
        var settings = PoolSettings()
        settings.maximumConnectionsPerHost = perHost
        settings.maximumIdleConnections = 1
        return ConnectionPool(platform: platform, settings: settings, observer: nil) { parts in
            let connection = EchoConnection(parts)
            connections(connection)
            return connection
        }
    }

    func transfer(of target: String, in pool: ConnectionPool, for client: TransferListener) throws -> Transfer {
        let request = try freeze("http://api.test\(target)")
        return Transfer(
            request,
            key: ConnectionKey(endpoint: request.endpoint, security: nil),
            pool: pool,
            loop: world.loop,
            deadlines: deadlines,
            idleInterval: LoopInterval(.seconds(60)),
            time: TaskTime(from: world.now, until: world.now + .seconds(60)),
            asksForPipelining: false,
            client: client
        )
    }

    func start(_ target: String, in pool: ConnectionPool, for client: TransferListener) throws {
        try transfer(of: target, in: pool, for: client).start(priority: 0.5, body: nil)
    }

    /// Nothing is left: no connection, and no deadline.
    func finish(_ pool: ConnectionPool) {
        pool.shutDown()
        deadlines.shutDown()
        world.advance(by: .seconds(1))
        #expect(world.network.openConnections.isEmpty)
    }
}
