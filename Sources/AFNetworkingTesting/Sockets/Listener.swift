import CAFTestServer
import Glibc

/// The listening socket. `stop()` closes it, never the thread that accepts.
struct Listener: Sendable {
    let descriptor: Int32
    let port: UInt16
    private let path: String?

    init(on address: ListenAddress, backlog: Int) throws(SocketFailure) {
        let endpoint = try SocketEndpoint(address)
        // Non-blocking: the client may have gone away between poll(2) and accept4(2).
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(endpoint.family, kind, 0)
        guard descriptor >= 0 else { throw SocketFailure(call: "socket") }
        do throws(SocketFailure) {
            port = try Self.listen(descriptor, at: endpoint, backlog: backlog)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        path = endpoint.path
    }

    private static func listen(
        _ descriptor: Int32,
        at endpoint: SocketEndpoint,
        backlog: Int
    ) throws(SocketFailure) -> UInt16 {
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard endpoint.withAddress({ bind(descriptor, $0, $1) }) == 0 else {
            throw SocketFailure(call: "bind")
        }
        guard Glibc.listen(descriptor, Int32(clamping: backlog)) == 0 else {
            let failure = SocketFailure(call: "listen")
            endpoint.path.map { _ = unlink($0) }
            throw failure
        }
        return SocketEndpoint.localPort(of: descriptor)
    }

    /// Waits for a client, without accepting it. False if the listener was shut down.
    func hasClient() -> Bool {
        while true {
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&interest, 1, -1) >= 0 else {
                if errno == EINTR { continue }
                return false
            }
            return interest.revents & Int16(POLLHUP | POLLERR | POLLNVAL) == 0
        }
    }

    /// Accepts the next client; nil if it has gone away.
    func accept() throws(SocketFailure) -> Int32? {
        let accepted = caf_test_accept(descriptor)
        if accepted >= 0 { return accepted }
        // EINVAL: the listener was shut down; the next `hasClient()` says so.
        if [EINTR, EAGAIN, ECONNABORTED, EPROTO, EINVAL].contains(errno) { return nil }
        throw SocketFailure(call: "accept4")
    }

    /// Refuses new clients and wakes the accept thread.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Closes the descriptor and removes the path of a Unix socket.
    func close() {
        Glibc.close(descriptor)
        path.map { _ = unlink($0) }
    }
}
