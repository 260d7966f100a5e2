package import AFLoop
import AFTLS
import AFWire

package protocol ConnectionAttemptClient: AnyObject {
    /// Whether the server may speak before the client does. HTTP and TLS clients speak first.
    var serverMaySpeakFirst: Bool { get }
    func attemptSucceeded(_ attempt: ConnectionAttempt, channel: any ByteChannel)
    func attemptFailed(_ attempt: ConnectionAttempt, error: TransferError)
    /// The attempt is about to ask a proxy for a tunnel.
    func depart(_ attempt: ConnectionAttempt) throws(Refusal) -> Permit
}

/// Makes one connection:
///
/// 1. It looks up the server's name, if a SOCKS proxy is to get its address (`socks5`).
/// 2. `Dialer` connects to the server, or to the proxy.
/// 3. `ProxyPassage` has the proxy connect to the server. If a SOCKS proxy cannot reach an address, it goes on with 2.
/// 4. `Handshake` secures the channel, for https.
///
/// One timeout holds for 1 to 3, and one for 4. The client is told once how that ended, unless it cancels before.
package final class ConnectionAttempt: DialClient, HandshakeClient, ResolverClient, ProxyPassageClient, TimerTarget {
    /// How many addresses of one name we ask a SOCKS proxy for, one after the other.
    private static let destinationLimit = 4

    /// Which connection of its session.
    package let number: Int
    package let begun: LoopInstant
    private let key: ConnectionKey
    private let rules: ConnectionRules
    private let platform: Platform
    private let observer: (any ConnectionObserver)?
    private var client: (any ConnectionAttemptClient)?
    /// Whom the handshake asks about the server. Nil if the attempt secures nothing but the way to a proxy.
    var asker: (any HandshakeAsker)?
    private var target: DialTarget?
    private var dialer: Dialer?
    private var passage: ProxyPassage?
    private var handshake: Handshake?
    /// What we may ask the proxy for, the next one first: the server as the URL names it, or its addresses if the proxy
    /// takes no names.
    private var destinations: [SOCKS5Destination] = []
    private var lookup = DialReport()
    private var isLookingUp = false
    /// The timeout that runs now.
    private var limit: (timeout: NamedTimeout, started: LoopInstant, timer: TimerID)?

    package init(
        to key: ConnectionKey,
        under rules: ConnectionRules = ConnectionRules(),
        number: Int,
        platform: Platform,
        observer: (any ConnectionObserver)?,
        client: any ConnectionAttemptClient
    ) {
        self.number = number
        begun = platform.loop.now
        self.observer = observer
        self.key = key
        self.rules = rules
        self.platform = platform
        self.client = client
    }

    package func start(_ target: DialTarget) {
        for security in [key.proxySecurity, key.security] {
            if let security { platform.trustStores.prefetch(security.configuration.anchors) }
        }
        self.target = target
        startLimit(.connect, interval: rules.connect)
        if let route = key.route { return start(by: route) }
        dial()
    }

    private var resolver: any Resolver { (rules.resolver ?? platform.resolver).value }

    private func dial() {
        guard let target else { return }
        let dialer = Dialer(
            to: target,
            rules: rules.dialRules(
                key.link,
                to: (key.route?.endpoint ?? key.endpoint).host.text,
                as: key.route == nil ? .server : .proxy
            ),
            on: platform.loop,
            opener: platform.opener,
            resolver: resolver,
            client: self
        )
        self.dialer = dialer
        if case .name(let name, _) = target { note(.lookupStarted(host: name)) }
        dialer.start()
    }

    package func cancel() {
        if client != nil { note(.closed) }
        client = nil
        asker = nil
        stopLimit()
        if isLookingUp { resolver.cancel(self) }
        dialer?.cancel()
        passage?.cancel()
        handshake?.cancel()
    }

    package var phase: TransferPhase {
        if handshake != nil { return .securing }
        if isLookingUp { return .resolving }
        if key.route != nil { return .proxy }
        return dialer?.isResolving ?? false ? .resolving : .connecting
    }

    /// How the connection was made, or how far it has come.
    func report(with channel: (any ByteChannel)? = nil) -> ConnectionReport {
        ConnectionReport(
            number: number,
            dial: dialReport,
            handshake: handshake?.report,
            channel: channel,
            isProxied: key.route != nil,
            tunnelAnswer: tunnelAnswer
        )
    }

    private var dialReport: DialReport {
        var report = dialer?.presentReport ?? DialReport()
        if let started = lookup.resolveStarted {
            report.resolveStarted = started
            report.resolveEnded = lookup.resolveEnded
        }
        return report
    }

    /// The head with which an HTTP proxy answered `CONNECT`.
    private var tunnelAnswer: ResponseHead?

    // MARK: - Time

    private func startLimit(_ timeout: NamedTimeout, interval: LoopInterval?) {
        stopLimit()
        guard let interval else { return }
        let timer = platform.loop.startTimer(at: platform.loop.now + interval, in: .all, for: self)
        limit = (timeout, platform.loop.now, timer)
    }

    private func stopLimit() {
        if let limit { platform.loop.cancelTimer(limit.timer) }
        limit = nil
    }

    package func timerFired(_ timer: TimerID) {
        guard let limit, let client else { return }
        let late = TransferError.overdue(limit.timeout, phase, limit.started.duration(to: platform.loop.now))
        self.limit = nil
        // Before `cancel`, which would note these addresses as abandoned: they had their time, and did not answer.
        dialer?.giveUp()
        cancel()
        client.attemptFailed(self, error: late)
    }

    // MARK: - By a proxy

    private func start(by route: ProxyRoute) {
        let host = key.endpoint.host
        guard route.kind == .socks5, host.kind == .name else {
            // Without the zone, which no proxy is told.
            if host.kind != .name, let address = host.unzonedAddress, !mayReach(address) {
                return fail(forbidden([address]))
            }
            destinations = [SOCKS5Destination(host)]
            return dial()
        }
        isLookingUp = true
        lookup.resolveStarted = platform.loop.now
        note(.lookupStarted(host: host.connectName))
        resolver.resolve(host.connectName, port: key.endpoint.port, for: self)
    }

    package func resolved(_ result: Result<[SocketAddress], ResolutionFailure>) {
        guard client != nil else { return }
        isLookingUp = false
        lookup.resolveEnded = platform.loop.now
        switch result {
        case .failure(let failure): fail(.dial(.unresolved(failure), lookup))
        case .success(let addresses):
            note(.lookupEnded(addresses: addresses.count))
            let allowed = addresses.filter(mayReach)
            if allowed.isEmpty, !addresses.isEmpty { return fail(forbidden(addresses)) }
            destinations = Array(allowed.compactMap(SOCKS5Destination.init).prefix(Self.destinationLimit))
            guard !destinations.isEmpty else {
                let failure = ResolutionFailure(kind: .notFound, message: "the name has no address of the internet")
                return fail(.dial(.unresolved(failure), lookup))
            }
            dial()
        }
    }

    /// The filter also decides about the addresses that we tell a proxy to connect to.
    private func mayReach(_ address: SocketAddress) -> Bool {
        rules.filter?.allows(address.withPort(key.endpoint.port), of: key.endpoint.host.text, as: .server) ?? true
    }

    private func forbidden(_ addresses: [SocketAddress]) -> TransferError {
        lookup.attempts = addresses.map { DialAttempt(address: $0.withPort(key.endpoint.port), outcome: .forbidden) }
        return .dial(.forbidden, lookup)
    }

    package var serverMaySpeakFirst: Bool { client?.serverMaySpeakFirst ?? false }

    package func depart(_ passage: ProxyPassage) throws(Refusal) -> Permit {
        guard let client else { throw .ended }
        return try client.depart(self)
    }

    package func passageSucceeded(_ passage: ProxyPassage, channel: any ByteChannel) {
        note(.proxyEnded)
        tunnelAnswer = passage.answer
        secure(channel)
    }

    package func passageFailed(_ passage: ProxyPassage, cause: ProxyFailure.Cause) {
        guard let route = key.route else { return }
        tunnelAnswer = passage.answer
        self.passage = nil
        if case .tunnel(.reply(let reply)) = cause, reply.concernsAddress, destinations.count > 1 {
            // A proxy that refuses closes the connection (RFC 1928 §6), so the next address needs another. The time for
            // connecting goes on: it is that of all of them.
            destinations.removeFirst()
            return dial()
        }
        fail(.proxy(ProxyFailure(route: route, cause: cause)))
    }

    // MARK: - From the dialer

    package func dialResolved(_ dial: Dialer, to addresses: [SocketAddress]) {
        guard observer != nil else { return }
        if dial.report.resolveEnded != nil { note(.lookupEnded(addresses: addresses.count)) }
        note(.connectStarted(addresses: addresses.map(\.description)))
    }

    package func dialSucceeded(_ dial: Dialer, channel: any ByteChannel) {
        if observer != nil { note(.connectEnded(address: channel.remoteAddress.description)) }
        guard let route = key.route, let destination = destinations.first else { return secure(channel) }
        let passage = ProxyPassage(to: key, by: route, destination: destination, platform: platform, client: self)
        // Before it starts: it may fail within the call, and then makes room for the passage of the next dial.
        self.passage = passage
        note(.proxyStarted(proxy: route.endpoint.text))
        passage.start(channel)
    }

    package func dialFailed(_ dial: Dialer, failure: DialFailure) {
        if let route = key.route {
            fail(.proxy(ProxyFailure(route: route, cause: .dial(failure, dial.report))))
        } else {
            fail(.dial(failure, dial.report))
        }
    }

    // MARK: - From the handshake

    private func secure(_ channel: any ByteChannel) {
        guard let security = key.security else { return succeed(channel) }
        startLimit(.tls, interval: rules.handshake)
        let handshake = Handshake(on: channel, to: key, under: security, platform: platform, client: self, asker: asker)
        self.handshake = handshake
        note(.tlsStarted(host: key.endpoint.host.text))
        handshake.start()
    }

    /// A request waits for the connection now.
    package func claimed() { handshake?.claimed() }

    /// The handshake once had to judge the server while no request waited for the connection.
    var wasParked: Bool { handshake?.wasParked ?? false }

    package func handshakeSucceeded(_ handshake: Handshake, channel: TLSChannel) {
        note(.tlsEnded(handshake.report))
        succeed(channel)
    }

    package func handshakeFailed(_ handshake: Handshake, failure: HandshakeFailure) {
        if let route = key.route, failure.isBrokenOff {
            fail(.proxy(ProxyFailure(route: route, cause: .dropped)))
        } else {
            fail(.handshake(failure))
        }
    }

    private func note(_ event: @autoclosure () -> TransportEvent) { observer?.connection(number, reported: event()) }

    private func succeed(_ channel: any ByteChannel) {
        let client = client
        // The attempt is over before the client is told: a cancel from within the call, or later, must not report as
        // closed what the client has just got.
        self.client = nil
        // The asker is the pool's record of this attempt, which holds the attempt.
        asker = nil
        stopLimit()
        client?.attemptSucceeded(self, channel: channel)
    }

    private func fail(_ error: TransferError) {
        note(.failed(error, key.endpoint))
        let client = client
        self.client = nil
        asker = nil
        stopLimit()
        client?.attemptFailed(self, error: error)
    }
}

extension HandshakeFailure {
    /// The connection ended during the handshake, and the peer did not say why.
    fileprivate var isBrokenOff: Bool {
        switch cause {
        case .broken: true
        case .tls(let failure): failure.kind == .ended
        case .refused, .identityCancelled: false
        }
    }
}
