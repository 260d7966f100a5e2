package import AFLoop
package import AFWire

package protocol ProxyTunnelClient: AnyObject {
    /// Whether the server may speak before we do. Then what follows the proxy's answer is the server's; otherwise nothing
    /// may follow.
    var serverMaySpeakFirst: Bool { get }
    /// - Parameter channel: Reads first what came with the proxy's answer.
    func tunnelEstablished(_ tunnel: ProxyTunnel, channel: any ByteChannel)
    func tunnelFailed(_ tunnel: ProxyTunnel, failure: TunnelFailure)
}

/// Has one exchange with a proxy over a connected channel. It calls nothing back once it has succeeded, failed or been
/// cancelled.
package final class ProxyTunnel: ChannelHandler {
    private var exchange: any TunnelExchange
    private let buffer: ReadBuffer
    private var channel: (any ByteChannel)?
    private var client: (any ProxyTunnelClient)?
    private var unsent: [UInt8] = []
    /// All is sent, and the proxy has to answer.
    private var isListening = false

    package init(
        channel: any ByteChannel,
        exchange: any TunnelExchange,
        buffer: ReadBuffer,
        client: any ProxyTunnelClient
    ) {
        self.channel = channel
        self.exchange = exchange
        self.buffer = buffer
        self.client = client
    }

    /// The head with which an HTTP proxy answered in the end.
    package var answer: ResponseHead? { exchange.answer }

    package func start(_ permit: consuming Permit) {
        channel?.handler = self
        // Bytes that are there already answer nothing: they fail the tunnel.
        _ = readOnce()
        guard channel != nil else { return }
        unsent = exchange.begin()
        advance()
    }

    package func cancel() {
        client = nil
        channel?.close()
        channel = nil
    }

    package func channelReady() {
        advance()
    }

    /// The loop ends: what a proxy may say before there is a tunnel is bounded.
    private func advance() {
        while channel != nil {
            guard flush(), readOnce() else { return }
        }
    }

    /// False if something is left to send.
    private func flush() -> Bool {
        while let channel, !unsent.isEmpty {
            guard channel.isWritable else { break }
            switch unsent.withUnsafeBytes({ channel.write($0, second: .empty) }) {
            case .wouldBlock, .bytes(0): return unsentIsAnswered()
            case .bytes(let count): unsent.removeFirst(count)
            case .failed(let error):
                fail(.broken(code: error.code))
                return false
            }
        }
        guard unsent.isEmpty else { return unsentIsAnswered() }
        isListening = true
        return true
    }

    /// True if the proxy has sent something before all was sent to it: read that at once.
    private func unsentIsAnswered() -> Bool {
        isListening = false
        return channel?.isReadable ?? false
    }

    /// False if there is nothing more to read now.
    private func readOnce() -> Bool {
        guard let channel, channel.isReadable else { return false }
        let room = buffer.forReading()
        switch channel.read(into: room) {
        case .wouldBlock: return false
        case .end: fail(.closed)
        case .failed(let error): fail(.broken(code: error.code))
        case .bytes(let count):
            guard isListening else {
                fail(.surplus)
                return false
            }
            let received = UnsafeRawBufferPointer(rebasing: room[..<count])
            take(exchange.receive(received), to: received)
        }
        return self.channel != nil
    }

    private func take(_ step: TunnelStep, to received: UnsafeRawBufferPointer) {
        switch step {
        case .needsMore: break
        case .send(let bytes):
            // What arrives before these have left is no answer to them.
            isListening = false
            unsent = bytes
        case .established(let surplus): establish(with: Array(received.suffix(surplus)))
        case .failed(let failure): fail(failure)
        }
    }

    /// - Parameter early: What followed the answer in the same read.
    private func establish(with early: [UInt8]) {
        guard let client, let channel else { return }
        if !client.serverMaySpeakFirst, let failure = failure(with: early, before: channel) { return fail(failure) }
        self.client = nil
        // The channel is the client's from here. The passage keeps this tunnel for its answer, and cancels it when the
        // attempt is cancelled: that must not close a connection which serves requests.
        self.channel = nil
        channel.handler = nil
        client.tunnelEstablished(self, channel: early.isEmpty ? channel : EarlyChannel(early, before: channel))
    }

    /// Why there is no tunnel in which we would speak first. A read that filled the buffer says nothing about what
    /// follows, and nothing may follow.
    private func failure(with early: [UInt8], before channel: any ByteChannel) -> TunnelFailure? {
        guard early.isEmpty else { return .surplus }
        guard channel.isReadable else { return nil }
        switch channel.read(into: buffer.forReading()) {
        case .wouldBlock where !channel.isReadable: return nil
        case .bytes, .wouldBlock: return .surplus
        case .end: return .closed
        case .failed(let error): return .broken(code: error.code)
        }
    }

    private func fail(_ failure: TunnelFailure) {
        let client = client
        // Before the client is told: it may dial the same proxy again from within the call.
        cancel()
        client?.tunnelFailed(self, failure: failure)
    }
}
