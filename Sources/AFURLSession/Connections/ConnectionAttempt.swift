import AFLoop
import AFTLS
import AFWire

protocol ConnectionAttemptClient: AnyObject {
    func attemptSucceeded(_ attempt: ConnectionAttempt, _ channel: any ByteChannel)
    func attemptFailed(_ attempt: ConnectionAttempt, _ error: TransferError)
    /// Whether anybody waits for it.
    func isAwaited(_ attempt: ConnectionAttempt) -> Bool
    /// Who may be asked about the server, if anybody.
    func handshakeDelegate(for attempt: ConnectionAttempt) -> (any HandshakeDelegate)?
    /// Whether the one who was asked last does not wait any more.
    func hasAskerLeft(_ attempt: ConnectionAttempt) -> Bool
}

/// A connection in the making: dialled, led through its proxy if there is one, and for
/// https then secured. Its client hears from it once, unless it is cancelled before.
final class ConnectionAttempt: DialClient, HandshakeClient, ResolverClient, ProxyPassageClient, TimerTarget {
    /// Addresses of one name that a SOCKS proxy is asked for, one after the other.
    private static let destinationLimit = 4

    /// Which of its session.
    let number: Int
    let begun: LoopInstant
    private let key: ConnectionKey
    private let rules: ConnectionRules
    private let world: World
    private let events: EventDesk?
    private var client: (any ConnectionAttemptClient)?
    private var target: DialTarget?
    private var dialer: Dialer?
    private var passage: ProxyPassage?
    private var handshake: Handshake?
    /// What the server's name was looked up to be, for a proxy that is told addresses.
    private var destinations: [SOCKS5Destination] = []
    private var lookup = DialReport()
    private var isLookingUp = false
    /// On whose behalf the server was judged.
    var asker: Transfer?
    /// The time that runs now.
    private var limit: (timeout: NamedTimeout, started: LoopInstant, timer: TimerID)?

    init(
        to key: ConnectionKey,
        under rules: ConnectionRules = ConnectionRules(),
        number: Int,
        world: World,
        events: EventDesk?,
        client: any ConnectionAttemptClient
    ) {
        self.number = number
        begun = world.loop.now
        self.events = events
        self.key = key
        self.rules = rules
        self.world = world
        self.client = client
    }

    func start(_ target: DialTarget) {
        for security in [key.proxySecurity, key.security] {
            if let security { world.trustStores.prefetch(security.configuration.anchors) }
        }
        self.target = target
        startLimit(.connect, rules.connect)
        if let route = key.route { return start(by: route) }
        dial()
    }

    private func dial() {
        guard let target else { return }
        let dialer = Dialer(
            target,
            rules: rules.dialRules(
                key.link,
                to: (key.route?.endpoint ?? key.endpoint).host.text,
                as: key.route == nil ? .server : .proxy
            ),
            on: world.loop,
            opener: world.opener,
            resolver: world.resolver.value,
            client: self
        )
        self.dialer = dialer
        if case .name(let name, _) = target { note(.lookupStarted(host: name)) }
        dialer.start()
    }

    func cancel() {
        if client != nil { note(.connectionClosed) }
        client = nil
        stopLimit()
        if isLookingUp { world.resolver.value.cancel(self) }
        dialer?.cancel()
        passage?.cancel()
        handshake?.cancel()
    }

    var phase: TransferPhase {
        if handshake != nil { return .securing }
        if isLookingUp { return .resolving }
        if key.route != nil { return .proxy }
        return dialer?.isResolving ?? false ? .resolving : .connecting
    }

    /// How it went so far.
    var dialReport: DialReport {
        var report = dialer?.presentReport ?? DialReport()
        if let started = lookup.resolveStarted {
            report.resolveStarted = started
            report.resolveEnded = lookup.resolveEnded
        }
        return report
    }
    var handshakeReport: HandshakeReport? { handshake?.report }
    var isProxied: Bool { key.route != nil }
    /// What an HTTP proxy said when it was asked for a tunnel.
    private(set) var tunnelAnswer: ResponseHead?

    // MARK: - Time

    private func startLimit(_ timeout: NamedTimeout, _ interval: LoopInterval?) {
        stopLimit()
        guard let interval else { return }
        let timer = world.loop.startTimer(at: world.loop.now + interval, in: .all, for: self)
        limit = (timeout, world.loop.now, timer)
    }

    private func stopLimit() {
        if let limit { world.loop.cancelTimer(limit.timer) }
        limit = nil
    }

    func timerFired(_ timer: TimerID) {
        guard let limit, let client else { return }
        let late = TransferError.overdue(limit.timeout, phase, limit.started.duration(to: world.loop.now))
        self.limit = nil
        dialer?.giveUp()
        cancel()
        client.attemptFailed(self, late)
    }

    // MARK: - By a proxy

    private func start(by route: ProxyRoute) {
        let host = key.endpoint.host
        guard route.kind == .socks5, host.kind == .name else {
            if let address = host.socketAddress, !mayReach(address) { return fail(forbidden([address])) }
            destinations = [SOCKS5Destination(host)]
            return dial()
        }
        isLookingUp = true
        lookup.resolveStarted = world.loop.now
        note(.lookupStarted(host: host.connectName))
        world.resolver.value.resolve(host.connectName, for: self)
    }

    func resolved(_ result: Result<[SocketAddress], ResolutionFailure>) {
        guard client != nil else { return }
        isLookingUp = false
        lookup.resolveEnded = world.loop.now
        switch result {
        case .failure(let failure): fail(.dial(.unresolved(failure), lookup))
        case .success(let addresses):
            note(.lookupEnded(addresses: addresses.count))
            let allowed = addresses.filter(mayReach)
            if allowed.isEmpty, !addresses.isEmpty { return fail(forbidden(addresses)) }
            destinations = Array(allowed.compactMap(SOCKS5Destination.init).prefix(Self.destinationLimit))
            guard !destinations.isEmpty else {
                let failure = ResolutionFailure(.notFound, message: "the name has no address of the internet")
                return fail(.dial(.unresolved(failure), lookup))
            }
            dial()
        }
    }

    /// What a proxy is told to connect to is for the filter, too.
    private func mayReach(_ address: SocketAddress) -> Bool {
        rules.filter?.allows(address.withPort(key.endpoint.port), of: key.endpoint.host.text, as: .server) ?? true
    }

    private func forbidden(_ addresses: [SocketAddress]) -> TransferError {
        lookup.attempts = addresses.map { DialAttempt(address: $0.withPort(key.endpoint.port), outcome: .forbidden) }
        return .dial(.forbidden, lookup)
    }

    func passageSucceeded(_ passage: ProxyPassage, _ channel: any ByteChannel) {
        note(.proxyEnded)
        tunnelAnswer = passage.answer
        secure(channel)
    }

    func passageFailed(_ passage: ProxyPassage, _ cause: ProxyFailure.Cause) {
        guard let route = key.route else { return }
        tunnelAnswer = passage.answer
        self.passage = nil
        if case .tunnel(.reply(let reply)) = cause, reply.concernsAddress, destinations.count > 1 {
            destinations.removeFirst()
            return dial()
        }
        fail(.proxy(ProxyFailure(route: route, cause: cause)))
    }

    // MARK: - From the dialer

    func dialResolved(_ dial: Dialer, to addresses: [SocketAddress]) {
        guard events != nil else { return }
        if dial.report.resolveEnded != nil { note(.lookupEnded(addresses: addresses.count)) }
        note(.connectStarted(addresses: addresses.map(\.description)))
    }

    func dialSucceeded(_ dial: Dialer, _ channel: any ByteChannel) {
        if events != nil { note(.connectEnded(address: channel.remoteAddress.description)) }
        guard let route = key.route, let destination = destinations.first else { return secure(channel) }
        let passage = ProxyPassage(to: key, by: route, destination, world: world, client: self)
        self.passage = passage
        note(.proxyStarted(proxy: route.endpoint.text))
        passage.start(channel)
    }

    func dialFailed(_ dial: Dialer, _ failure: DialFailure) {
        if let route = key.route {
            fail(.proxy(ProxyFailure(route: route, cause: .dial(failure, dial.report))))
        } else {
            fail(.dial(failure, dial.report))
        }
    }

    // MARK: - From the handshake

    private func secure(_ channel: any ByteChannel) {
        guard let security = key.security else { return succeed(channel) }
        startLimit(.tls, rules.handshake)
        let handshake = Handshake(channel, to: key, under: security, world: world, client: self)
        self.handshake = handshake
        note(.tlsStarted(host: key.endpoint.host.text))
        handshake.start()
    }

    func isAwaited(_ handshake: Handshake) -> Bool { client?.isAwaited(self) ?? true }

    func handshakeDelegate(for handshake: Handshake) -> (any HandshakeDelegate)? {
        client?.handshakeDelegate(for: self)
    }

    func hasAskerLeft(_ handshake: Handshake) -> Bool { client?.hasAskerLeft(self) ?? false }

    /// Somebody waits for it now.
    func claimed() { handshake?.claimed() }

    /// Nobody waited for it at a time when the server was to be judged.
    var wasParked: Bool { handshake?.wasParked ?? false }

    func handshakeSucceeded(_ handshake: Handshake, _ channel: TLSChannel) {
        note(handshake.report.event)
        succeed(channel)
    }

    func handshakeFailed(_ handshake: Handshake, _ failure: HandshakeFailure) {
        if let route = key.route, failure.isBrokenOff {
            fail(.proxy(ProxyFailure(route: route, cause: .dropped)))
        } else {
            fail(.handshake(failure))
        }
    }

    private func note(_ kind: @autoclosure () -> SessionEvent.Kind) {
        if let events { events.post(kind(), connection: number) }
    }

    private func succeed(_ channel: any ByteChannel) {
        let client = client
        self.client = nil
        stopLimit()
        client?.attemptSucceeded(self, channel)
    }

    private func fail(_ error: TransferError) {
        if events != nil {
            let failure = error.urlError(for: nil, peer: key.endpoint).loadFailure
            note(.connectionFailed(message: failure?.message ?? ""))
        }
        let client = client
        self.client = nil
        stopLimit()
        client?.attemptFailed(self, error)
    }
}

extension HandshakeReport {
    fileprivate var event: SessionEvent.Kind {
        let version = version.map { "\($0)" } ?? ""
        return .tlsEnded(version: version, cipherSuite: cipherSuite, isResumed: isResumed)
    }
}

extension HandshakeFailure {
    /// The connection ended under it: nobody said why.
    fileprivate var isBrokenOff: Bool {
        switch cause {
        case .broken: true
        case .tls(let failure): failure.kind == .ended
        case .refused, .identityCancelled: false
        }
    }
}
