import AFLoop
import AFTLS
import AFWire
import Foundation

@testable import AFTransport

/// Transfers in a virtual system: a pool, its rules, and no session.
final class TransferWorld: VirtualSystem {
    struct Settings {
        var pool = PoolSettings()
        var pipelines = false
        var idleTimeout = Duration.seconds(60)
        /// How long a whole transfer may take.
        var taskTimeout = Duration.seconds(7 * 24 * 3600)
        var fields: [String: String] = [:]
        var tls = TLSConfiguration()
        var proxies = ProxyConfiguration()
    }

    /// To be set before the first request.
    var settings = Settings()
    /// What is made of a channel.
    var connectionMaker: ConnectionMaker = { $0.connection() }
    /// Hosts that must not be talked to without TLS from now on.
    var pinned: Set<String> = []
    private(set) lazy var pool = makePool()
    private lazy var deadlines = DeadlineWatch(loop: loop)
    private lazy var selection = ProxySelection(settings.proxies, agent: defaults.all)
    private lazy var defaults = HeaderDefaults(additionalHeaders: settings.fields, userAgent: "test/1")
    private lazy var security = SessionSecurity(
        settings.tls,
        connectionsPerHost: settings.pool.maximumConnectionsPerHost
    )
    private var proxySecurities: [Int: SessionSecurity] = [:]

    private func makePool() -> ConnectionPool {
        ConnectionPool(
            platform: makePlatform(),
            settings: settings.pool,
            observer: nil,
            connectionMaker: connectionMaker
        )
    }

    /// The rules of the servers from now on.
    func replace(_ tls: TLSConfiguration) {
        security.replace(tls)
    }

    private func context(of security: SessionSecurity) -> SecurityContext {
        security.context { former, present in pool.replace(former, with: present) }
    }

    private func key(for request: WireRequest) throws -> ConnectionKey {
        let endpoint = request.endpoint
        let route = try selection.route(for: endpoint)?.naming(agentOf: request.head.fields)
        return ConnectionKey(
            endpoint: endpoint,
            unixPath: nil,
            security: endpoint.scheme == .https ? context(of: security) : nil,
            route: route,
            proxySecurity: route.flatMap { route in
                route.proxy.tls.map { tls in
                    let number = route.proxy.number
                    let security =
                        proxySecurities[number] ?? SessionSecurity(tls, connectionsPerHost: 6, owner: number)
                    proxySecurities[number] = security
                    return context(of: security)
                }
            }
        )
    }

    /// Wants idle connections to the origin of a URL.
    func warm(_ url: String, count: Int = 1) -> WarmUpEvents {
        do {
            let key = try key(for: WireRequest("GET", url, defaults: defaults))
            let events = WarmUpEvents(count: count, to: key, in: pool) { [unowned self] in pinned.contains($0) }
            #expect(pool.begin(events, to: key))
            return events
        } catch {
            preconditionFailure("the test asks for what cannot be sent: \(error)")
        }
    }

    /// Makes a transfer and does not start it.
    func make(
        _ method: String,
        _ url: String,
        body: Data? = nil,
        fields: [String: String] = [:],
        idleTimeout: Duration? = nil,
        priority: Float = 0.5,
        pipelining: Bool? = nil,
        rate: Int? = nil
    ) -> TransferEvents {
        let events = TransferEvents(priority: priority) { [unowned self] in pinned.contains($0) }
        do {
            let request = try WireRequest(method, url, body: body, fields: fields, defaults: defaults, rate: rate)
            events.transfer = Transfer(
                request: request,
                key: try key(for: request),
                pool: pool,
                loop: loop,
                deadlines: deadlines,
                idleInterval: LoopInterval(idleTimeout ?? settings.idleTimeout),
                time: TaskTime(from: now, until: now + settings.taskTimeout),
                asksForPipelining: pipelining ?? settings.pipelines,
                client: events
            )
        } catch {
            preconditionFailure("the test asks for what cannot be sent: \(error)")
        }
        return events
    }

    func send(
        _ method: String,
        _ url: String,
        body: Data? = nil,
        fields: [String: String] = [:],
        idleTimeout: Duration? = nil,
        priority: Float = 0.5,
        pipelining: Bool? = nil,
        rate: Int? = nil
    ) -> TransferEvents {
        let events = make(
            method,
            url,
            body: body,
            fields: fields,
            idleTimeout: idleTimeout,
            priority: priority,
            pipelining: pipelining,
            rate: rate
        )
        events.start()
        return events
    }

    /// Starts a request.
    func get(
        _ url: String,
        idleTimeout: Duration? = nil,
        priority: Float = 0.5,
        pipelining: Bool? = nil
    ) -> TransferEvents {
        send("GET", url, idleTimeout: idleTimeout, priority: priority, pipelining: pipelining)
    }

    /// Runs a request to its end.
    @discardableResult
    func load(_ url: String, fields: [String: String] = [:]) -> TransferEvents {
        let events = send("GET", url, fields: fields)
        run(events)
        return events
    }

    func run(_ events: TransferEvents...) { run(events) }

    func run(_ events: [TransferEvents]) {
        run { events.allSatisfy(\.isComplete) }
    }

    /// Where connections led, in order.
    var hosts: [String] { network.connections.map(\.host) }

    /// Ends everything, and says what is left: an empty list is what a test expects.
    func finish() -> [String] {
        deadlines.shutDown()
        pool.shutDown()
        run(limit: .seconds(24 * 3600))
        return leftovers()
    }
}

/// A suite whose tests have transfers in a system each, which must come to its end and leave nothing.
class TransferSuite {
    let world = TransferWorld()

    init() {}

    deinit {
        #expect(world.finish() == [])
    }
}

enum TransferEvent: Equatable {
    case response(Int)
    case data(Int)
    case finished
    case failed(String)
}

/// A transfer, and what its client heard.
final class TransferEvents: TransferClient {
    fileprivate(set) var transfer: Transfer!
    /// Neighbouring data joined.
    private(set) var all: [TransferEvent] = []
    private(set) var sent: [Int64] = []
    private(set) var head: ResponseHead?
    private(set) var bytes: [UInt8] = []
    private(set) var error: TransferError?
    private(set) var completions = 0
    private var isCancelled = false
    private let priority: Float
    private let isPinned: (String) -> Bool

    fileprivate init(priority: Float, _ isPinned: @escaping (String) -> Bool) {
        self.priority = priority
        self.isPinned = isPinned
    }

    var body: String { String(decoding: bytes, as: UTF8.self) }
    var isComplete: Bool { completions > 0 || isCancelled }
    /// How it failed, in the words of `TransferError.name`.
    var failure: String? { error?.name }
    /// What was wrong with the peer's message.
    var wireError: HTTP1Error.Kind? { if case .wire(let error)? = error { error.kind } else { nil } }

    func start() {
        transfer.start(priority: priority, body: transfer.request.body.data.map { DataBody($0) })
    }

    func suspend() { transfer.pause(.suspended) }
    func resume() { transfer.unpause(.suspended) }

    func cancel() {
        isCancelled = true
        transfer.cancel()
    }

    private func end(_ event: TransferEvent) {
        all.append(event)
        completions += 1
    }

    // MARK: - TransferClient

    var handshakeDelegate: (any HandshakeDelegate)? { nil }

    func forbids(_ request: WireRequest) -> Bool {
        request.endpoint.scheme == .http && isPinned(request.endpoint.host.text)
    }

    func forbidsTunnel(to endpoint: Endpoint) -> Bool { endpoint.scheme == .http && isPinned(endpoint.host.text) }

    func transferIsForbidden(_ transfer: Transfer) {
        transfer.cancel()
        end(.failed("clear text"))
    }

    func transferSentBody(_ transfer: Transfer, total: Int64) { sent.append(total) }

    func transferReceivedHead(_ transfer: Transfer, head: ResponseHead) {
        self.head = head
        all.append(.response(head.status))
    }

    func transferMayDecode(_ transfer: Transfer) {}

    func transferReceivedBody(_ transfer: Transfer, bytes: UnsafeRawBufferPointer) {
        self.bytes += bytes
        guard case .data(let count)? = all.last else { return all.append(.data(bytes.count)) }
        all[all.count - 1] = .data(count + bytes.count)
    }

    func transferFinished(_ transfer: Transfer) { end(.finished) }

    func transferFailed(_ transfer: Transfer, error: TransferError) {
        self.error = error
        end(.failed(error.name))
    }
}

/// Wants idle connections once, and what it heard.
final class WarmUpEvents: WarmUp {
    let count: Int
    /// How many were idle in the end.
    private(set) var idle: Int?
    private(set) var stops: [String] = []
    private var hasDialled = false
    private let key: ConnectionKey
    private let pool: ConnectionPool
    private let isPinned: (String) -> Bool

    fileprivate init(count: Int, to key: ConnectionKey, in pool: ConnectionPool, isPinned: @escaping (String) -> Bool) {
        (self.count, self.key, self.pool, self.isPinned) = (count, key, pool, isPinned)
    }

    func cancel() { pool.end(self, to: key) }

    var handshakeDelegate: (any HandshakeDelegate)? { nil }
    func forbids(_ request: WireRequest) -> Bool { true }
    func forbidsTunnel(to endpoint: Endpoint) -> Bool { endpoint.scheme == .http && isPinned(endpoint.host.text) }

    func mayDial(afterUse: Bool) -> Bool {
        defer { hasDialled = true }
        return !hasDialled
    }

    func isWarm(idle: Int) {
        self.idle = idle
        cancel()
    }

    func stopped(by error: TransferError?) {
        stops.append(error?.name ?? "rules")
        cancel()
    }
}

extension TransferError {
    /// In a few words, for tests.
    var name: String {
        switch self {
        case .body: "body"
        case .impossibleSocketPath: "no place"
        case .dial(let failure, _): failure.name
        case .proxy(let failure): "proxy \(failure.cause.name)"
        case .handshake(let failure): failure.cause.name
        case .secured: "TLS"
        case .cutShort: "cut short"
        case .wire(let error): error.name
        case .channel: "lost"
        case .timedOut(let phase, _): "late, \(phase)"
        case .outOfTime(let phase): "out of time, \(phase)"
        case .unserved(let report, _): report.isQueueTime ? "late in the queue" : "unserved"
        case .overdue(let timeout, _, _): "overdue \(timeout)"
        case .fault(let words): words
        }
    }
}

extension DialFailure {
    fileprivate var name: String {
        switch self {
        case .unresolved(let failure): "\(failure.kind)"
        case .unreachable: "unreachable"
        case .unanswered: "unanswered"
        case .forbidden: "forbidden"
        }
    }
}

extension HTTP1Error {
    fileprivate var name: String { if case .closed = kind { "lost" } else { "malformed" } }
}

extension HandshakeFailure.Cause {
    fileprivate var name: String {
        switch self {
        case .tls: "TLS"
        case .broken: "lost"
        case .refused(.rule(let rule, _)): "trust, \(rule)"
        case .refused: "trust"
        case .identityCancelled: "identity"
        }
    }
}

extension ProxyFailure.Cause {
    fileprivate var name: String {
        switch self {
        case .dial(let failure, _): failure.name
        case .handshake(let failure): failure.cause.name
        case .tunnel(let failure): failure.name
        case .dropped: "lost"
        }
    }
}

extension TunnelFailure {
    var name: String {
        switch self {
        case .refused(let head): "refused \(head.status)"
        case .malformed: "malformed"
        case .violation: "violation"
        case .reply(let reply): "reply \(reply.code)"
        case .noMethod: "no method"
        case .loginRejected: "login"
        case .surplus: "surplus"
        case .closed, .broken: "closed"
        }
    }
}
