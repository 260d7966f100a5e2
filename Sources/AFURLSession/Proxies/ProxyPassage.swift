import AFLoop
import AFWire

protocol ProxyPassageClient: AnyObject {
    /// What is sent on the channel from now on is for the server, or is a request that names it.
    func passageSucceeded(_ passage: ProxyPassage, _ channel: any ByteChannel)
    func passageFailed(_ passage: ProxyPassage, _ cause: ProxyFailure.Cause)
}

/// Leads one channel through the proxy it is connected to: secures it if the proxy speaks TLS, then has the proxy
/// make a tunnel if there is to be one.
final class ProxyPassage: HandshakeClient, ProxyTunnelClient {
    private let key: ConnectionKey
    private let route: ProxyRoute
    private let destination: SOCKS5Destination
    private let world: World
    private var client: (any ProxyPassageClient)?
    private var handshake: Handshake?
    private var tunnel: ProxyTunnel?

    /// - Parameter destination: Whom a SOCKS proxy is asked for.
    init(
        to key: ConnectionKey,
        by route: ProxyRoute,
        _ destination: SOCKS5Destination,
        world: World,
        client: any ProxyPassageClient
    ) {
        self.key = key
        self.route = route
        self.destination = destination
        self.world = world
        self.client = client
    }

    /// What an HTTP proxy said when it was asked for a tunnel.
    var answer: ResponseHead? { tunnel?.answer }

    func start(_ channel: any ByteChannel) {
        guard let proxyKey = key.proxyKey, let security = proxyKey.security else { return ask(over: channel) }
        let handshake = Handshake(
            channel,
            to: proxyKey,
            under: security,
            world: world,
            buffers: world.tlsBuffers.value.ofProxies,
            client: self
        )
        self.handshake = handshake
        handshake.start()
    }

    func cancel() {
        client = nil
        handshake?.cancel()
        tunnel?.cancel()
    }

    private func ask(over channel: any ByteChannel) {
        guard route.tunnels(to: key.endpoint) else { return succeed(channel) }
        let tunnel = ProxyTunnel(channel, exchange, buffer: world.readBuffer.value, client: self)
        self.tunnel = tunnel
        tunnel.start()
    }

    private var exchange: any TunnelExchange {
        guard route.kind.isSOCKS else { return ConnectExchange(to: key.endpoint, by: route) }
        return SOCKS5Exchange(to: destination, port: key.endpoint.port, login: route.login)
    }

    // MARK: - From the handshake

    /// Whoever it is for, it is judged alike.
    func isAwaited(_ handshake: Handshake) -> Bool { true }

    /// What a delegate says would be taken for an answer about the server.
    func handshakeDelegate(for handshake: Handshake) -> (any HandshakeDelegate)? { nil }

    func hasAskerLeft(_ handshake: Handshake) -> Bool { false }

    func handshakeSucceeded(_ handshake: Handshake, _ channel: TLSChannel) {
        ask(over: channel)
    }

    func handshakeFailed(_ handshake: Handshake, _ failure: HandshakeFailure) {
        fail(.handshake(failure))
    }

    // MARK: - From the tunnel

    func tunnelEstablished(_ tunnel: ProxyTunnel, _ channel: any ByteChannel) {
        succeed(channel)
    }

    func tunnelFailed(_ tunnel: ProxyTunnel, _ failure: TunnelFailure) {
        fail(.tunnel(failure))
    }

    private func succeed(_ channel: any ByteChannel) {
        let client = client
        self.client = nil
        client?.passageSucceeded(self, channel)
    }

    private func fail(_ cause: ProxyFailure.Cause) {
        let client = client
        self.client = nil
        client?.passageFailed(self, cause)
    }
}
