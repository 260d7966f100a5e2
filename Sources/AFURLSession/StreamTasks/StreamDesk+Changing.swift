import AFLoop
import AFTLS
import AFTransport
import AFWire
import Foundation

// Changes of the stream as a whole.

extension StreamDesk: HandshakeClient {
    /// True if a change is done, and the operations after it may begin.
    func change(_ channel: any ByteChannel, for core: Load) -> Bool {
        switch schedule.nextChange {
        case nil: return false
        case .captured?:
            schedule.changeDone()
            capture(for: core)
            return false
        case .secured? where secured != nil:
            schedule.changeDone()
            return true
        case .secured?:
            schedule.changeDone()
            secure(channel, for: core)
            return false
        }
    }

    // MARK: - TLS

    private func secure(_ channel: any ByteChannel, for core: Load) {
        guard incoming.isOpen, outgoing.isOpen, let present = key else { return core.fail(.stream(.halfClosed)) }
        let early = channel as? EarlyChannel
        guard early?.isEmpty ?? true else { return core.fail(.stream(.unreadable)) }
        let session = core.session
        let security = session.currentSecurity()
        let key = present.secured(by: security).judged(by: core.trustJudge)
        self.key = key
        session.world.platform.trustStores.prefetch(security.configuration.anchors)
        let raw = early?.channel ?? channel
        let handshake = Handshake(raw, to: key, under: security, platform: session.world.platform, client: self)
        self.handshake = handshake
        self.channel = nil
        startPatience(of: handshake, for: core)
        note(.tlsStarted(host: key.endpoint.host.text))
        handshake.start()
    }

    private func startPatience(of handshake: Handshake, for core: Load) {
        let session = core.session
        let own = session.pool.rules.handshake
        let usual = session.requestTimeout
        let isOwn = (own?.nanoseconds ?? .max) < usual.nanoseconds
        let interval = isOwn ? own ?? usual : usual
        startPatience(interval) { [weak core] in
            let time = Duration.nanoseconds(interval.nanoseconds)
            core?.fail(isOwn ? .transfer(.overdue(.tls, .securing, time)) : .transfer(.timedOut(.securing, time)))
        }
    }

    func isAwaited(_ handshake: Handshake) -> Bool { true }

    func hasAskerLeft(_ handshake: Handshake) -> Bool { false }

    func handshakeDelegate(for handshake: Handshake) -> (any HandshakeDelegate)? {
        core?.handshakeDelegate
    }

    func handshakeSucceeded(_ handshake: Handshake, _ channel: TLSChannel) {
        let report = handshake.report
        let version = report.version.map { "\($0)" } ?? ""
        note(.tlsEnded(version: version, cipherSuite: report.cipherSuite, isResumed: report.isResumed))
        self.handshake = nil
        stopPatience()
        self.channel = channel
        secured = channel
        channel.handler = self
        proceed()
    }

    func handshakeFailed(_ handshake: Handshake, _ failure: HandshakeFailure) {
        core?.fail(.transfer(.handshake(failure)))
    }

    private func note(_ kind: @autoclosure () -> SessionEvent.Kind) {
        guard let events = core?.session.events else { return }
        events.post(kind(), connection: connection)
    }

    // MARK: - Capturing

    private func capture(for core: Load) {
        guard let (delegate, task) = streamDelegate, let channel, !(channel is BodyChannel) else {
            return core.fail(.stream(.nobodyForStreams))
        }
        let link = link(to: channel, for: core)
        let (input, output) = (CapturedInputStream(link), CapturedOutputStream(link))
        let handed = HandedStreams(input: input, output: output)
        core.session.outbox.post(
            .block {
                delegate.urlSession(
                    task.session,
                    streamTask: task,
                    didBecome: handed.input,
                    outputStream: handed.output
                )
            }
        )
        core.finishReceiving()
    }

    private func link(to channel: any ByteChannel, for core: Load) -> CapturedLink {
        let (endpoint, secured, connection) = (core.endpoint, secured, connection)
        let (session, tolerates) = (core.session, toleratesMissingFarewell)
        let events = session.events
        let end = CapturedEnd(channel, on: session.loop, patience: session.requestTimeout) { error in
            let cause = secured?.failure.map { LoadError.transfer(.secured($0, .receivingBody, .notAsked)) }
            return (cause ?? .transfer(.channel(error, .receivingBody))).urlError(for: nil, peer: endpoint)
        } cutShort: {
            guard let secured, secured.isTruncated, !tolerates else { return nil }
            return LoadError.transfer(.cutShort).urlError(for: nil, peer: endpoint)
        } closed: {
            if let connection { events?.post(.connectionClosed, connection: connection) }
        }
        letGo()
        let link = CapturedLink(end, on: session.loop)
        // The channel does not report again that it is readable.
        end.move()
        return link
    }
}
