import CAFTestServer
import Glibc

/// The proxy's connection to a target for one forwarding.
///
/// Its waits end when the client goes away or the server stops, like those of `SocketStream`. Belongs to the thread
/// of the client's connection.
final class Upstream {
    let descriptor: Int32
    private let stream: SocketStream

    /// Nil if the target cannot be reached; `failure` says why.
    static func connect(
        to addresses: [SocketEndpoint],
        for stream: SocketStream,
        timeout: Duration,
        failure: inout Int32
    ) throws(ConnectionEnd) -> Upstream? {
        for address in addresses {
            failure = 0
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            let descriptor = socket(address.family, kind, 0)
            guard descriptor >= 0 else {
                failure = errno
                continue
            }
            let upstream = Upstream(descriptor: descriptor, for: stream)
            failure = address.withAddress { Glibc.connect(descriptor, $0, $1) } == 0 ? 0 : errno
            if failure == EINPROGRESS { failure = try upstream.awaitConnection(timeout) }
            if failure == 0 { return upstream }
        }
        return nil
    }

    private init(descriptor: Int32, for stream: SocketStream) {
        self.descriptor = descriptor
        self.stream = stream
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        stream.register(upstream: descriptor)
    }

    deinit {
        stream.unregister(upstream: descriptor)
    }

    private func awaitConnection(_ timeout: Duration) throws(ConnectionEnd) -> Int32 {
        guard try wait(Int16(POLLOUT), until: MonotonicDeadline(after: timeout)) else { return ETIMEDOUT }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code
    }

    // MARK: - Data

    /// Reads without waiting. Nil if nothing has arrived, empty at the end of the stream.
    func receiveNow() throws(Lost) -> [UInt8]? {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, used in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            code = count < 0 ? errno : 0
            used = max(count, 0)
        }
        if code == 0 { return bytes }
        if [EAGAIN, EINTR].contains(code) { return nil }
        throw Lost()
    }

    /// Sends without waiting. Returns how many of the bytes the socket took.
    func sendNow(_ bytes: ArraySlice<UInt8>) throws(Lost) -> Int {
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        if count >= 0 { return count }
        if [EAGAIN, EINTR].contains(errno) { return 0 }
        throw Lost()
    }

    /// The target broke the connection.
    struct Lost: Error {}

    /// Waits for at least one byte; empty at the end of the stream, nil if the target broke the connection.
    func receive() throws(ConnectionEnd) -> [UInt8]? {
        while true {
            _ = try wait(Int16(POLLIN), until: nil)
            do throws(Lost) {
                if let bytes = try receiveNow() { return bytes }
            } catch {
                return nil
            }
        }
    }

    /// False if the target broke the connection.
    func send(_ bytes: [UInt8]) throws(ConnectionEnd) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(Lost) {
                rest = rest.dropFirst(try sendNow(rest))
            } catch {
                return false
            }
            if !rest.isEmpty { _ = try wait(Int16(POLLOUT), until: nil) }
        }
        return true
    }

    func shutDownWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func armReset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// False if the time runs out.
    private func wait(_ events: Int16, until deadline: MonotonicDeadline?) throws(ConnectionEnd) -> Bool {
        while true {
            try stream.checkRunning()
            var both = [
                pollfd(fd: descriptor, events: events, revents: 0),
                pollfd(fd: stream.descriptor, events: 0, revents: 0),
            ]
            let count = poll(&both, 2, deadline?.pollTimeout ?? -1)
            if count > 0, both[0].revents != 0 { return true }
            try stream.checkRunning()
            if count > 0 { throw .clientReset }
            if count == 0, deadline?.pollTimeout == 0 { return false }
            if count < 0, errno != EINTR { throw .clientReset }
        }
    }
}
