import Foundation

/// A blocking socket on the loopback interface.
final class PlainSocket: Sendable {
    struct Failure: Error {}

    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    init(connectedTo port: Int) throws {
        descriptor = try PlainSocket.make()
        guard PlainSocket.withAddress(port, { connect(descriptor, $0, $1) }) == 0 else {
            Foundation.close(descriptor)
            throw Failure()
        }
    }

    /// Listens on a port that the kernel picks.
    static func listening() throws -> (PlainSocket, port: Int) {
        let descriptor = try make()
        guard withAddress(0, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 16) == 0 else { throw Failure() }
        var address = sockaddr_in()
        var count = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &count) }
        }
        guard result == 0 else { throw Failure() }
        return (PlainSocket(descriptor), Int(UInt16(bigEndian: address.sin_port)))
    }

    func accepted() throws -> PlainSocket {
        let client = accept(descriptor, nil, nil)
        guard client >= 0 else { throw Failure() }
        return PlainSocket(client)
    }

    /// Empty at the end.
    func read() -> Data {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return Data(buffer[..<max(0, count)])
    }

    func write(_ data: Data) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func finishWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    func close() {
        Foundation.close(descriptor)
    }

    private static func make() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure() }
        return descriptor
    }

    private static func withAddress(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = in_addr_t(UInt32(0x7F00_0001).bigEndian)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

enum FreePort {
    /// One that was free a moment ago.
    static func any() throws -> Int {
        let (socket, port) = try PlainSocket.listening()
        socket.close()
        return port
    }
}

/// Passes connections on to a server, keeps every byte the client sent, and counts those of the server.
final class RecordingRelay: @unchecked Sendable {
    let port: Int
    private let listener: PlainSocket
    private let lock = NSLock()
    private var fromClient = Data()
    private var fromServer = 0
    private var connections = 0

    init(to server: Int) throws {
        (listener, port) = try PlainSocket.listening()
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while let client = try? listener.accepted(), let upstream = try? PlainSocket(connectedTo: server) {
                self?.relay(client, upstream)
            }
        }
    }

    deinit {
        listener.shutDown()
        listener.close()
    }

    private func relay(_ client: PlainSocket, _ upstream: PlainSocket) {
        lock.withLock { connections += 1 }
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while case let data = upstream.read(), !data.isEmpty {
                self.lock.withLock { self.fromServer += data.count }
                client.write(data)
            }
            client.finishWriting()
            done.signal()
        }
        while case let data = client.read(), !data.isEmpty {
            lock.withLock { fromClient.append(data) }
            upstream.write(data)
        }
        upstream.finishWriting()
        done.wait()
        client.close()
        upstream.close()
    }

    /// How many connections there were, and everything the client sent on them.
    var captured: (connections: Int, bytes: Data) { lock.withLock { (connections, fromClient) } }

    /// How many bytes the server has sent.
    var returned: Int { lock.withLock { fromServer } }
}
