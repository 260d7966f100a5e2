import AFLoop
import AFTLS

protocol ConnectionAttemptClient: AnyObject {
    func attemptSucceeded(_ attempt: ConnectionAttempt, _ channel: any ByteChannel)
    func attemptFailed(_ attempt: ConnectionAttempt, _ error: TransferError)
    /// Who may be asked about the server, if anybody.
    func handshakeDelegate(for attempt: ConnectionAttempt) -> (any HandshakeDelegate)?
}

/// A connection in the making: dialled, and for https then secured. Its client hears
/// from it once, unless it is cancelled before.
final class ConnectionAttempt: DialClient, HandshakeClient {
    private let key: ConnectionKey
    private let world: World
    private var client: (any ConnectionAttemptClient)?
    private var dialer: Dialer?
    private var handshake: Handshake?

    init(to key: ConnectionKey, world: World, client: any ConnectionAttemptClient) {
        self.key = key
        self.world = world
        self.client = client
    }

    func start(_ target: DialTarget) {
        if let security = key.security { world.trustStores.prefetch(security.configuration.anchors) }
        let dialer = Dialer(target, on: world.loop, opener: world.opener, resolver: world.resolver.value, client: self)
        self.dialer = dialer
        dialer.start()
    }

    func cancel() {
        client = nil
        dialer?.cancel()
        handshake?.cancel()
    }

    var phase: TransferPhase {
        if handshake != nil { return .securing }
        return dialer?.isResolving ?? false ? .resolving : .connecting
    }

    /// How it went so far.
    var dialReport: DialReport { dialer?.report ?? DialReport() }
    var handshakeReport: HandshakeReport? { handshake?.report }

    // MARK: - From the dialer

    func dialSucceeded(_ dial: Dialer, _ channel: any ByteChannel) {
        guard let security = key.security else { return succeed(channel) }
        let handshake = Handshake(channel, to: key, under: security, world: world, client: self)
        self.handshake = handshake
        handshake.start()
    }

    func dialFailed(_ dial: Dialer, _ failure: DialFailure) {
        fail(.dial(failure, dial.report))
    }

    // MARK: - From the handshake

    var handshakeDelegate: (any HandshakeDelegate)? { client?.handshakeDelegate(for: self) }

    func handshakeSucceeded(_ handshake: Handshake, _ channel: TLSChannel) {
        succeed(channel)
    }

    func handshakeFailed(_ handshake: Handshake, _ failure: HandshakeFailure) {
        fail(.handshake(failure))
    }

    private func succeed(_ channel: any ByteChannel) {
        let client = client
        self.client = nil
        client?.attemptSucceeded(self, channel)
    }

    private func fail(_ error: TransferError) {
        let client = client
        self.client = nil
        client?.attemptFailed(self, error)
    }
}
