package import AFLoop
import AFNetworkingTesting
package import AFTLS
package import AFTestSupport
package import AFTransport
import AFWire

/// A channel whose every read and write the test has laid down.
package final class ScriptedChannel: ByteChannel {
    package enum Read {
        case bytes([UInt8])
        case blocked
        case end
        case failed(Int32)
    }

    package var handler: (any ChannelHandler)?
    /// What the reads to come will find.
    package var reads: [Read] = []
    /// How many bytes the writes to come will take before they block.
    package var room = Int.max
    /// What the writes to come fail with.
    package var writeError: Int32?
    package private(set) var written: [UInt8] = []
    package private(set) var isClosed = false
    package private(set) var turnsAskedFor = 0
    package private(set) var isReadable = true
    /// Whether a read that leaves room says that there is no more, as a socket's does.
    package var noticesShortReads = false

    package var isWritable: Bool { room > 0 }
    package let turnShare = TurnShare()
    package let remoteAddress: SocketAddress
    package let localAddress: SocketAddress? = nil

    package init() throws {
        remoteAddress = try need(SocketAddress(ipv4: "192.0.2.1", port: 443))
    }

    package func finishConnecting() throws(SystemCallError) {}

    package func probePeer() {}

    package func endWriting() {}

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelRead {
        guard let next = reads.first else {
            isReadable = false
            return .wouldBlock
        }
        switch next {
        case .bytes(let bytes):
            reads.removeFirst()
            let count = min(bytes.count, buffer.count)
            buffer.copyBytes(from: bytes[..<count])
            if count < bytes.count { reads.insert(.bytes(Array(bytes[count...])), at: 0) }
            turnShare.take(bytes: count)
            if noticesShortReads, count < buffer.count { isReadable = false }
            return .bytes(count)
        case .blocked:
            reads.removeFirst()
            isReadable = false
            return .wouldBlock
        case .end: return .end
        case .failed(let code): return .failed(SystemCallError(.recv, code: code))
        }
    }

    package func write(_ first: UnsafeRawBufferPointer, second: UnsafeRawBufferPointer) -> ChannelWrite {
        if let writeError { return .failed(SystemCallError(.send, code: writeError)) }
        let bytes = Array(first) + Array(second)
        guard room > 0 else { return .wouldBlock }
        let count = min(room, bytes.count)
        written += bytes[..<count]
        room -= room == .max ? 0 : count
        return .bytes(count)
    }

    package func continueNextTurn() { turnsAskedFor += 1 }

    package func close() {
        isClosed = true
        handler = nil
    }

    package func takeWritten() -> [UInt8] {
        defer { written = [] }
        return written
    }

    /// More is there to be read, or there is room again.
    package func becomeReady() {
        isReadable = true
        turnShare.renew()
        handler?.channelReady()
    }
}

/// A secured channel and its server, with nothing but memory between them.
package final class MemoryLink {
    package let channel: TLSChannel
    package let wire: ScriptedChannel
    package let server: MemoryServer
    /// Runs before each call into the channel.
    package var beforeCall: () -> Void = {}

    /// What all links of a test share: it takes longer to make than a handshake.
    package final class Site {
        package let version: TLSVersion
        fileprivate let key: ConnectionKey
        fileprivate let security: SecurityContext
        fileprivate let server: MemoryServer.Context
        fileprivate let platform: Platform
        fileprivate let buffers = TLSBuffers()

        package init(_ version: TLSVersion, tickets: Int32 = 0) throws {
            self.version = version
            let loop = EventLoop(poller: EpollPoller())
            platform = Platform(
                loop: loop,
                opener: SocketOpener(),
                resolver: LoopBound(GetaddrinfoResolver(loop: loop), on: loop)
            )
            let authority = try CertificateAuthority()
            var configuration = TLSConfiguration()
            configuration.anchors = .certificates([authority.certificate])
            security = SecurityContext(
                id: 1,
                configuration: configuration,
                evaluator: nil,
                fingerprint: [],
                sessionsPerPeer: 2
            )
            let endpoint = try Endpoint(scheme: .https, host: "api.test")
            key = ConnectionKey(endpoint: endpoint, unixPath: nil, security: security)
            server = try MemoryServer.Context(try authority.issue(for: "api.test"), version, tickets: tickets)
        }

        fileprivate func engine(_ client: (any TLSEngineClient)? = nil) throws -> TLSEngine {
            let client: any TLSEngineClient = client ?? HandshakeJudge(key: key, security: security, platform: platform)
            return try TLSEngine(context: security.context(), serverName: "api.test", resuming: nil, client: client)
        }

        deinit {
            platform.loop.retire()
        }
    }

    private let site: Site

    /// - Parameter client: Decides in place of the judge of a session.
    package init(_ site: Site, client: (any TLSEngineClient)? = nil) throws {
        self.site = site
        wire = try ScriptedChannel()
        channel = TLSChannel(channel: wire, engine: try site.engine(client), buffers: site.buffers)
        server = try MemoryServer(site.server)
    }

    deinit {
        // Channel and wire hold each other until they are closed.
        wire.close()
    }

    /// A channel secured within this one, as through a proxy that is secured itself. The caller closes it.
    package func channelWithin() throws -> TLSChannel {
        TLSChannel(channel: channel, engine: try site.engine(), buffers: TLSBuffers())
    }

    // MARK: - The handshake

    /// Carries it through. What the server sends passes through `deliver`, which says in which pieces it arrives.
    ///
    /// - Returns: How it ended, or `waiting` if nothing more happens.
    /// - Parameter endsTurn: Whether nothing is sent in the turn in which the handshake ends.
    package func handshake(
        endsTurn: Bool = true,
        _ deliver: ([UInt8]) -> [ScriptedChannel.Read] = { [.bytes($0)] }
    ) -> TLSChannel.HandshakeStep {
        while true {
            beforeCall()
            let step = channel.handshake()
            guard case .waiting = step else {
                if endsTurn { channel.turnEnded() }
                return step
            }
            if !wire.reads.isEmpty {
                wire.becomeReady()
                continue
            }
            server.feed(wire.takeWritten())
            server.handshake()
            let answer = server.take()
            guard !answer.isEmpty else { return step }
            wire.reads += deliver(answer)
            wire.becomeReady()
        }
    }

    package func establish() throws {
        guard case .finished = handshake() else {
            throw Missing(description: "no handshake")
        }
        server.feed(wire.takeWritten())
        server.handshake()
        arrive(server.take())
        // What the server said on its own account, tickets for instance.
        try need(read() == .wouldBlock)
    }

    // MARK: - Data

    /// Lets the server's bytes arrive in one piece.
    package func arrive(_ bytes: [UInt8]) {
        if !bytes.isEmpty { wire.reads.append(.bytes(bytes)) }
        wire.becomeReady()
    }

    package func arriveFromServer() { arrive(server.take()) }

    /// One read of so many bytes at most, with what it brought.
    package private(set) var received: [UInt8] = []

    @discardableResult
    package func read(_ size: Int = 1 << 16) -> ChannelRead {
        beforeCall()
        var buffer = [UInt8](repeating: 0, count: size)
        let result = buffer.withUnsafeMutableBytes { channel.read(into: $0) }
        if case .bytes(let count) = result { received += buffer[..<count] }
        return result
    }

    /// Reads as a connection does: as long as the channel says that there is something.
    @discardableResult
    package func readAll(_ size: Int = 1 << 16) -> ChannelRead {
        var last = ChannelRead.wouldBlock
        while channel.isReadable {
            last = read(size)
            guard case .bytes = last else { return last }
        }
        return last
    }

    package func write(_ bytes: [UInt8]) -> ChannelWrite {
        beforeCall()
        return bytes.withUnsafeBytes { channel.write($0, second: .empty) }
    }
}
