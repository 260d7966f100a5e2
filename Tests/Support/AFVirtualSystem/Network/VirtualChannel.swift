package import AFLoop
import Glibc

/// Our end of a virtual connection. Answers as a non-blocking socket watched by an
/// edge-triggered poller does.
package final class VirtualChannel: ByteChannel, ChannelTarget, DeferredClosing {
    package var handler: (any ChannelHandler)?
    package private(set) var isReadable = false
    package private(set) var isWritable = false

    package let turnShare = TurnShare()
    private let connection: VirtualConnection
    private let loop: EventLoop
    private let descriptor: Int32
    private var token: PollToken = 0
    private var isOpen = true
    private var hasHungUp = false
    private var service = ServiceWatch()

    init(_ connection: VirtualConnection, _ descriptor: Int32, on loop: EventLoop) throws(SystemCallError) {
        self.connection = connection
        self.descriptor = descriptor
        self.loop = loop
        token = try loop.register(descriptor, for: self)
    }

    package var remoteAddress: SocketAddress { connection.address }
    package var localAddress: SocketAddress? { connection.localAddress }

    package func finishConnecting() throws(SystemCallError) {
        if let code = connection.takeError() { throw SystemCallError(.connect, code: code) }
    }

    package func channelReady(_ readiness: Readiness) {
        if readiness.contains(.readable) { isReadable = true }
        if readiness.contains(.writable) { isWritable = true }
        if readiness.contains(.hangup) { hasHungUp = true }
        turnShare.renew()
        service.begins(in: loop.turn)
        handler?.channelReady()
        service.ends(beyondShare: turnShare.overdraft)
        for violation in service.takeViolations() { connection.report(violation) }
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelRead {
        guard isOpen else { return .failed(SystemCallError(.recv, code: EBADF)) }
        switch connection.clientReads(into: buffer) {
        case .bytes(let count):
            turnShare.take(bytes: count)
            // As with a socket: a short read says that there is no more, unless a
            // hang-up may be hidden behind it.
            if count < buffer.count, !hasHungUp, !connection.hasMoreForClient { isReadable = false }
            return .bytes(count)
        case .wouldBlock:
            isReadable = false
            return .wouldBlock
        case .end:
            isReadable = false
            return .end
        case .failed(let error):
            return .failed(error)
        }
    }

    package func write(_ first: UnsafeRawBufferPointer, second: UnsafeRawBufferPointer) -> ChannelWrite {
        guard isOpen else { return .failed(SystemCallError(.send, code: EBADF)) }
        switch connection.clientWrites(first, second) {
        case .bytes(let count):
            turnShare.take(bytes: count)
            if count < first.count + second.count { isWritable = false }
            return .bytes(count)
        case .wouldBlock:
            isWritable = false
            return .wouldBlock
        case .failed(let error) where error.code == ENOBUFS:
            loop.deliverAgain(.writable, to: token)
            isWritable = false
            return .wouldBlock
        case .failed(let error):
            return .failed(error)
        }
    }

    package func endWriting() {
        if isOpen { connection.clientEndsWriting() }
    }

    package func probePeer() {}

    package func continueNextTurn() {
        guard isOpen else { return }
        service.isAsked(in: loop.turn)
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
        connection.clientCloses()
    }
}
