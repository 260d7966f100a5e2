import AFLoop
import AFTLS
import AFTransport
import AFWire
import Foundation

// Changes of the stream as a whole.

extension StreamConnector: HandshakeClient, HandshakeAsker {
    /// True if a change is done, and the operations after it may begin.
    func change(_ channel: any ByteChannel, for load: Load) -> Bool {
        guard let change = schedule.nextChange else { return false }
        schedule.changeDone()
        switch change {
        case .secured: return secure(channel, for: load)
        case .captured:
            capture(channel, for: load)
            return false
        }
    }

    // MARK: - TLS

    /// True if the connection has TLS.
    private func secure(_ channel: any ByteChannel, for load: Load) -> Bool {
        switch take(.secureDue) {
        case .skip: return true
        case .refuseTLS: load.fail(.stream(.halfClosed))
        case .startTLS: startTLS(channel, for: load)
        default: break
        }
        return false
    }

    private func startTLS(_ channel: any ByteChannel, for load: Load) {
        let early = channel as? EarlyChannel
        // What came in the clear may be from another sender than the peer: no reader may get it behind the handshake.
        guard let present = key, early?.isEmpty ?? true else { return load.fail(.stream(.unreadable)) }
        let session = load.session
        let security = session.currentSecurity()
        let key = present.secured(by: security).judged(by: load.trustJudge)
        self.key = key
        session.world.platform.trustStores.prefetch(security.configuration.anchors)
        let raw = early?.channel ?? channel
        let handshake = Handshake(
            on: raw,
            to: key,
            under: security,
            platform: session.world.platform,
            client: self,
            asker: self
        )
        self.handshake = handshake
        self.channel = nil
        startPatience(of: handshake, for: load)
        note(.tlsStarted(host: key.endpoint.host.text))
        handshake.start()
    }

    private func startPatience(of handshake: Handshake, for load: Load) {
        let session = load.session
        let own = session.pool.rules.handshake
        let usual = session.requestTimeout
        let isOwn = (own?.nanoseconds ?? .max) < usual.nanoseconds
        let interval = isOwn ? own ?? usual : usual
        startPatience(interval) { [weak load] in
            let time = Duration.nanoseconds(interval.nanoseconds)
            load?.fail(isOwn ? .transfer(.overdue(.tls, .securing, time)) : .transfer(.timedOut(.securing, time)))
        }
    }

    var isAwaited: Bool { true }

    var hasLeft: Bool { false }

    func chooseDelegate() -> (any HandshakeDelegate)? { load?.handshakeDelegate }

    func handshakeSucceeded(_ handshake: Handshake, channel: TLSChannel) {
        if let connection { load?.session.events?.connection(connection, reported: .tlsEnded(handshake.report)) }
        self.handshake = nil
        guard take(.handshakeDone) == .use else { return channel.close() }
        secured = channel
        use(channel)
        proceed()
    }

    func handshakeFailed(_ handshake: Handshake, failure: HandshakeFailure) {
        load?.fail(.transfer(.handshake(failure)))
    }

    private func note(_ kind: @autoclosure () -> SessionEvent.Kind) {
        guard let events = load?.session.events else { return }
        events.post(kind(), connection: connection)
    }

    // MARK: - Capturing

    private func capture(_ channel: any ByteChannel, for load: Load) {
        guard let (delegate, task) = streamDelegate, take(.captureDue) == .capture else {
            return load.fail(failure ?? .stream(.noStreamDelegate))
        }
        let link = link(to: channel, for: load)
        load.session.outbox.post(
            .block {
                delegate.urlSession(
                    task.session,
                    streamTask: task,
                    didBecome: CapturedInputStream(link),
                    outputStream: CapturedOutputStream(link)
                )
            }
        )
        load.finishReceiving()
    }

    private func link(to channel: any ByteChannel, for load: Load) -> CapturedLink {
        let (endpoint, secured, connection) = (load.endpoint, secured, connection)
        let (session, tolerates) = (load.session, toleratesMissingCloseNotify)
        let events = session.events
        let end = CapturedEnd(
            channel: channel,
            on: session.loop,
            spare: session.world.readBuffer.value,
            patience: session.requestTimeout
        ) { error in
            let cause = secured?.failure.map { LoadError.transfer(.secured($0, .receivingBody, .notAsked)) }
            return (cause ?? .transfer(.channel(error, .receivingBody))).urlError(for: nil, peer: endpoint)
        } cutShort: {
            guard let secured, secured.isTruncated, !tolerates else { return nil }
            return LoadError.transfer(.cutShort).urlError(for: nil, peer: endpoint)
        } closed: {
            if let connection { events?.post(.connectionClosed, connection: connection) }
        }
        switch machine.state.reading {
        // The channel has reported the end, and reports it once.
        case .ended: end.inputIsOver()
        case .dropping: end.inputIsClosed()
        case .open, .failed: break
        }
        if machine.state.writing == .closed { end.outputIsClosed() }
        self.channel = nil
        let link = CapturedLink(end: end, on: session.loop)
        // The channel does not report again that it is readable.
        end.move()
        return link
    }
}
