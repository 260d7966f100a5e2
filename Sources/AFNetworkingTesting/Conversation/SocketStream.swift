import CAFTestServer
import Glibc

/// One accepted connection as a blocking byte stream, plain or through TLS. Records the bytes in the server's state.
///
/// Every wait ends when the client goes away or the server stops: `stop()` shuts the socket down, which wakes
/// any call that blocks on it. Belongs to one connection thread.
final class SocketStream: TLSTransport, SwitchedStream {
    let descriptor: Int32
    /// Set once the TLS handshake is complete.
    private(set) var tls: TLSConnection?
    let connection: Int
    let core: ServerCore

    init(descriptor: Int32, connection: Int, core: ServerCore) {
        self.descriptor = descriptor
        self.connection = connection
        self.core = core
        // Two writes of a script become two segments. Unix sockets refuse the option, which does no harm.
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: - TLS

    /// Makes the handshake.
    ///
    /// - Parameter early: Bytes of the handshake that were received before.
    func startTLS(_ context: ServerTLSContext, early: [UInt8] = []) throws(ConnectionEnd) {
        guard let tls = TLSConnection(context: context, on: self) else { throw .handshakeFailed(OpenSSLErrors.take()) }
        core.noteStartOfTLS(early: early, on: connection)
        try tls.accept(early)
        self.tls = tls
    }

    /// Breaks the reference cycle between the stream and its TLS connection.
    func forgetTLS() {
        tls = nil
    }

    func note(_ handshake: RecordedHandshake) {
        core.note(handshake, on: connection)
    }

    // MARK: - Data

    /// Waits for at least one byte and reads what has arrived. Zero means that the client closed its side.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(ConnectionEnd) -> Int {
        let count = if let tls { try tls.receive(into: buffer) } else { try receivePlain(into: buffer) }
        if count > 0 { core.noteReceived(UnsafeRawBufferPointer(rebasing: buffer[..<count]), on: connection) }
        return count
    }

    /// Writes all of `bytes`.
    func send(_ bytes: UnsafeRawBufferPointer) throws(ConnectionEnd) {
        guard let tls else {
            try sendPlain(bytes) { count in core.noteSent(count, on: connection) }
            return
        }
        try tls.send(bytes)
        core.noteSent(bytes.count, on: connection)
    }

    // MARK: - Bytes as they are on the wire

    func receiveFromWire(into buffer: UnsafeMutableRawBufferPointer) throws(ConnectionEnd) -> Int {
        let count = try receivePlain(into: buffer)
        if count > 0 { core.noteReceivedOnWire(UnsafeRawBufferPointer(rebasing: buffer[..<count]), on: connection) }
        return count
    }

    func sendToWire(_ bytes: UnsafeRawBufferPointer) throws(ConnectionEnd) {
        try sendPlain(bytes) { _ in }
    }

    private func receivePlain(into buffer: UnsafeMutableRawBufferPointer) throws(ConnectionEnd) -> Int {
        while true {
            // A TCP socket that was shut down still delivers bytes that arrive: without this check, a client
            // that never pauses would keep the thread busy after stop().
            try core.checkRunning()
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return count }
            if count == 0 {
                try core.checkRunning()
                return 0
            }
            if errno != EINTR { throw try lost() }
        }
    }

    private func sendPlain(_ bytes: UnsafeRawBufferPointer, onProgress: (Int) -> Void) throws(ConnectionEnd) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.send(descriptor, piece.baseAddress, piece.count, Int32(MSG_NOSIGNAL))
            if count >= 0 {
                rest = rest.dropFirst(count)
                onProgress(count)
            } else if errno != EINTR {
                throw try lost()
            }
        }
    }

    // MARK: - Waiting and ending

    /// Waits. Ends early when the connection breaks or the server stops.
    func pause(for duration: Duration) throws(ConnectionEnd) {
        let deadline = MonotonicDeadline(after: duration)
        // Without requested events, poll(2) reports only a reset or a socket that is shut down both ways.
        if try waitForEvents(0, until: deadline) != 0 { throw try lost() }
    }

    func waitForHangUp() throws(ConnectionEnd) -> Never {
        let events = try waitForEvents(CAF_TEST_POLLRDHUP, until: nil)
        try core.checkRunning()
        throw events & Int16(POLLERR) != 0 ? .clientReset : .clientClosed
    }

    /// Discards everything that arrives until the client ends its side.
    func drain() throws(ConnectionEnd) {
        try withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer throws(ConnectionEnd) in
            while try receive(into: buffer) > 0 {}
        }
    }

    /// Discards everything that arrives until the client closes, bytes outside of TLS included.
    func drainAll() {
        try? drain()
        // A client may go on sending after its close_notify, or after its handshake failed.
        try? drainWire()
    }

    private func drainWire() throws(ConnectionEnd) {
        try withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer throws(ConnectionEnd) in
            while try receiveFromWire(into: buffer) > 0 {}
        }
    }

    /// Ends the server's sending side; the client may go on sending.
    ///
    /// - Parameter announced: Whether TLS sends close_notify first.
    func shutDownWriting(announced: Bool = true) {
        if announced, let tls, tls.context.settings.announcesEnd { try? tls.announceEnd() }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes the next close of the socket a reset.
    func armReset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    private func waitForEvents(_ events: Int16, until deadline: MonotonicDeadline?) throws(ConnectionEnd) -> Int16 {
        while true {
            try core.checkRunning()
            var interest = pollfd(fd: descriptor, events: events, revents: 0)
            let timeout = deadline?.pollTimeout ?? -1
            let count = poll(&interest, 1, timeout)
            if count > 0 { return interest.revents }
            if count == 0, deadline?.pollTimeout == 0 { return 0 }
            if count < 0, errno != EINTR { throw .clientReset }
        }
    }

    private func lost() throws(ConnectionEnd) -> ConnectionEnd {
        try core.checkRunning()
        return .clientReset
    }

    // MARK: - After a reply with 101

    func waitForSignal(_ name: String) throws(ConnectionEnd) {
        try core.waitForSignal(name)
    }

    func note(_ frame: ServerFrame) {
        core.note(frame, on: connection)
    }

    func noteRefusal(_ reason: String) {
        core.noteRefusal(reason, on: connection)
    }

    // MARK: - For a tunnel, which reads and writes the socket itself

    func noteReceived(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        bytes.withUnsafeBytes { core.noteReceived($0, on: connection) }
    }

    func noteReceivedOnWire(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        bytes.withUnsafeBytes { core.noteReceivedOnWire($0, on: connection) }
    }

    func noteSent(_ count: Int) {
        if count > 0 { core.noteSent(count, on: connection) }
    }

    func checkRunning() throws(ConnectionEnd) {
        try core.checkRunning()
    }

    /// Has `stop()` shut down the socket to the proxy's target along with this one.
    func register(upstream descriptor: Int32) {
        core.lock.change { state in
            state.descriptors[-connection] = descriptor
            if state.phase != .running { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Closes that socket under the lock, so that `stop()` cannot shut down a descriptor that the kernel has given
    /// out again.
    func unregister(upstream descriptor: Int32) {
        core.lock.change { state in
            if state.descriptors[-connection] == descriptor { state.descriptors[-connection] = nil }
            close(descriptor)
        }
    }
}
