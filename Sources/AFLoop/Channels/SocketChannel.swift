import CAFLinux
import Glibc

/// A non-blocking stream socket: TCP over IPv4 or IPv6, or a Unix-domain socket.
package final class SocketChannel: ByteChannel, ChannelTarget, DeferredClosing {
    /// A half-open peer is noticed after about two minutes even on a connection that only waits.
    private static let keepAlive = (idle: Int32(60), interval: Int32(10), probes: Int32(6))

    @exclusivity(unchecked) package var handler: (any ChannelHandler)?
    package let remoteAddress: SocketAddress
    /// Known from the moment the connection is made.
    @exclusivity(unchecked) package private(set) var localAddress: SocketAddress?
    @exclusivity(unchecked) package private(set) var isReadable = false
    @exclusivity(unchecked) package private(set) var isWritable = false

    package let turnShare = TurnShare()
    private let loop: EventLoop
    private let probeSeconds: Int32
    @exclusivity(unchecked) private var descriptor: Int32
    @exclusivity(unchecked) private var token: PollToken = 0
    @exclusivity(unchecked) private var isOpen = true
    @exclusivity(unchecked) private var hasHungUp = false
    @exclusivity(unchecked) private var isProbing = false

    /// Starts connecting to `address`.
    package init(
        connectingTo address: SocketAddress,
        options: SocketOptions = SocketOptions(),
        on loop: EventLoop
    ) throws(SystemCallError) {
        if options.link.avoidsCellular, address.isReachedByCellular {
            throw SystemCallError(.route, code: ENETUNREACH)
        }
        let created = caf_socket_stream(address.family)
        guard created >= 0 else { throw SystemCallError(.socket, code: -created) }
        self.loop = loop
        probeSeconds = options.probeSeconds
        descriptor = created
        remoteAddress = address
        do {
            try start(options)
        } catch {
            isOpen = false
            _ = caf_close(created)
            throw error
        }
    }

    deinit {
        assert(!isOpen, "a channel is closed on its loop before it is released")
    }

    private func start(_ options: SocketOptions) throws(SystemCallError) {
        if remoteAddress.isInternet {
            // Without them the connection works, only less well.
            _ = caf_no_delay(descriptor)
            let link = options.link
            if link.trafficClass != 0 || link.priority != 0 {
                let family = remoteAddress.family
                _ = caf_mark_traffic(descriptor, family, Int32(link.trafficClass), Int32(link.priority))
            }
            if let source = options.source {
                let result = caf_bind_source(descriptor, remoteAddress.family, source)
                guard result == 0 else { throw SystemCallError(.bind, code: -result) }
            }
            if probeSeconds > 0 { probe(idle: probeSeconds, interval: probeSeconds) }
        }
        let result = remoteAddress.withPointer { caf_connect(descriptor, $0, $1) }
        guard result == 0 || result == -EINPROGRESS else { throw SystemCallError(.connect, code: -result) }
        token = try loop.register(descriptor, for: self)
    }

    package func finishConnecting() throws(SystemCallError) {
        let result = caf_take_socket_error(descriptor)
        guard result == 0 else { throw SystemCallError(.connect, code: -result) }
        localAddress = SocketAddress { caf_local_address(descriptor, $0, $1) }
        // A connect to a free port of this host in the ephemeral range can meet
        // itself; whatever is sent would come back as the answer.
        guard !remoteAddress.isInternet || localAddress != remoteAddress else {
            throw SystemCallError(.connect, code: ECONNREFUSED)
        }
    }

    package func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: .readable) { isReadable = true }
        if !readiness.isDisjoint(with: .writable) { isWritable = true }
        if !readiness.isDisjoint(with: .hangup) { hasHungUp = true }
        turnShare.renew()
        handler?.channelReady()
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelRead {
        guard isOpen else { return .failed(SystemCallError(.recv, code: EBADF)) }
        let count = caf_recv(descriptor, buffer.baseAddress, buffer.count)
        turnShare.take(bytes: max(count, 0))
        if count > 0 {
            // A short read has emptied the socket. Only a hang-up may still be
            // hidden behind it, and that comes without an edge of its own.
            if count < buffer.count && !hasHungUp { isReadable = false }
            return .bytes(count)
        }
        if count == 0 {
            isReadable = false
            return .end
        }
        guard -count == Int(EAGAIN) else { return .failed(SystemCallError(.recv, code: Int32(-count))) }
        isReadable = false
        return .wouldBlock
    }

    package func write(_ first: UnsafeRawBufferPointer, second: UnsafeRawBufferPointer) -> ChannelWrite {
        guard isOpen else { return .failed(SystemCallError(.send, code: EBADF)) }
        let wanted = first.count + second.count
        let count = caf_send(descriptor, first.baseAddress, first.count, second.baseAddress, second.count)
        turnShare.take(bytes: max(count, 0))
        if count >= 0 {
            if count < wanted { isWritable = false }
            return .bytes(count)
        }
        // ENOBUFS passes like EAGAIN, but no edge announces it: look again.
        if -count == Int(ENOBUFS) { loop.deliverAgain(.writable, to: token) }
        guard -count == Int(EAGAIN) || -count == Int(ENOBUFS) else {
            return .failed(SystemCallError(.send, code: Int32(-count)))
        }
        isWritable = false
        return .wouldBlock
    }

    package func endWriting() {
        guard isOpen else { return }
        // A peer that is gone already need not be told.
        _ = caf_shutdown_write(descriptor)
    }

    package func probePeer() {
        guard isOpen, remoteAddress.isInternet, !isProbing, probeSeconds == 0 else { return }
        probe(idle: SocketChannel.keepAlive.idle, interval: SocketChannel.keepAlive.interval)
    }

    private func probe(idle: Int32, interval: Int32) {
        isProbing = true
        let probes = SocketChannel.keepAlive.probes
        _ = caf_keep_alive(descriptor, idle, interval, probes, (idle + interval * probes) * 1000)
    }

    package func continueNextTurn() {
        guard isOpen else { return }
        var readiness: Readiness = []
        if isReadable { readiness.insert(.readable) }
        if isWritable { readiness.insert(.writable) }
        loop.deliverAgain(readiness, to: token)
    }

    package func close() {
        guard isOpen else { return }
        isOpen = false
        isReadable = false
        isWritable = false
        handler = nil
        loop.deregister(token, descriptor: descriptor)
        loop.deferClose(self)
    }

    package func closeNow() {
        _ = caf_close(descriptor)
        descriptor = -1
    }
}

/// Opens sockets of this host.
package struct SocketOpener: ChannelOpener {
    package init() {}

    package func open(
        _ address: SocketAddress,
        options: SocketOptions,
        on loop: EventLoop
    ) throws(SystemCallError) -> any ByteChannel {
        try SocketChannel(connectingTo: address, options: options, on: loop)
    }
}
