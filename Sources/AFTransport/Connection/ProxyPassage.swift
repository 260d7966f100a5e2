package import AFLoop
package import AFWire

package protocol ProxyPassageClient: AnyObject {
    /// Whether the server may speak before we do.
    var serverMaySpeakFirst: Bool { get }
    /// The passage is about to ask the proxy for a tunnel. A client that refuses wants the passage no more.
    func depart(_ passage: ProxyPassage) throws(Refusal) -> Permit
    /// What is sent on the channel from now on is for the server, or is a request that names it.
    func passageSucceeded(_ passage: ProxyPassage, channel: any ByteChannel)
    func passageFailed(_ passage: ProxyPassage, cause: ProxyFailure.Cause)
}

/// Leads one channel through the proxy it is connected to: secures it if the proxy speaks TLS, then has the proxy
/// make a tunnel if there is to be one.
package final class ProxyPassage: HandshakeClient, ProxyTunnelClient {
    private let key: ConnectionKey
    private let route: ProxyRoute
    private let destination: SOCKS5Destination
    private let platform: Platform
    private var client: (any ProxyPassageClient)?
    private var handshake: Handshake?
    private var tunnel: ProxyTunnel?

    /// - Parameter destination: Where a SOCKS proxy is to connect.
    package init(
        to key: ConnectionKey,
        by route: ProxyRoute,
        destination: SOCKS5Destination,
        platform: Platform,
        client: any ProxyPassageClient
    ) {
        self.key = key
        self.route = route
        self.destination = destination
        self.platform = platform
        self.client = client
    }

    /// The head with which an HTTP proxy answered `CONNECT`.
    package var answer: ResponseHead? { tunnel?.answer }

    package func start(_ channel: any ByteChannel) {
        guard let proxyKey = key.proxyKey, let security = proxyKey.security else { return ask(over: channel) }
        let handshake = Handshake(
            on: channel,
            to: proxyKey,
            under: security,
            platform: platform,
            buffers: platform.tlsBuffers.value.ofProxies,
            client: self,
            // The answer of a delegate would count as one about the server.
            asker: nil
        )
        self.handshake = handshake
        handshake.start()
    }

    package func cancel() {
        client = nil
        handshake?.cancel()
        tunnel?.cancel()
    }

    private func ask(over channel: any ByteChannel) {
        guard route.tunnels(to: key.endpoint) else { return succeed(channel) }
        guard let client, let permit = try? client.depart(self) else { return channel.close() }
        let tunnel = ProxyTunnel(channel: channel, exchange: exchange, buffer: platform.readBuffer.value, client: self)
        // Before it starts: it may fail within the call, and the client asks for its answer then.
        self.tunnel = tunnel
        tunnel.start(permit)
    }

    private var exchange: any TunnelExchange {
        guard route.kind.isSOCKS else { return ConnectExchange(to: key.endpoint, by: route) }
        return SOCKS5Exchange(to: destination, port: key.endpoint.port, login: route.proxy.login)
    }

    // MARK: - From the handshake

    package func handshakeSucceeded(_ handshake: Handshake, channel: TLSChannel) {
        ask(over: channel)
    }

    package func handshakeFailed(_ handshake: Handshake, failure: HandshakeFailure) {
        fail(.handshake(failure))
    }

    // MARK: - From the tunnel

    package var serverMaySpeakFirst: Bool { client?.serverMaySpeakFirst ?? false }

    package func tunnelEstablished(_ tunnel: ProxyTunnel, channel: any ByteChannel) {
        succeed(channel)
    }

    package func tunnelFailed(_ tunnel: ProxyTunnel, failure: TunnelFailure) {
        fail(.tunnel(failure))
    }

    private func succeed(_ channel: any ByteChannel) {
        let client = client
        self.client = nil
        client?.passageSucceeded(self, channel: channel)
    }

    private func fail(_ cause: ProxyFailure.Cause) {
        let client = client
        self.client = nil
        client?.passageFailed(self, cause: cause)
    }
}
