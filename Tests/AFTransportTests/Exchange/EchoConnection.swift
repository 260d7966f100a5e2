import AFLoop
import AFWire

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

extension TransferWorld {
    /// Its connections speak the echo protocol, and are noted.
    func speakEcho(perHost: Int = 1, _ note: @escaping (EchoConnection) -> Void) {
        respond("api.test") { _, _, client in client.report("the echo sends nothing") }
        settings.pool.maximumConnectionsPerHost = perHost
        connectionMaker = { parts in
            let connection = EchoConnection(parts)
            note(connection)
            return connection
        }
    }
}
