import AFNetworkingTesting
import Glibc

/// A blocking client for plain bytes. Reads time out after ten seconds, so that a broken server fails
/// a test and does not hang it.
final class RawClient {
    struct Failure: Error, Equatable {
        let call: String
        let code: Int32
    }

    private var descriptor: Int32

    convenience init(_ server: TestServer, timeout: Int = 10_000) throws {
        try self.init(server.address, timeout: timeout)
    }

    init(_ address: ListenAddress, timeout: Int = 10_000) throws {
        let (family, address) = Self.socketAddress(of: address)
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        var limit = timeval(tv_sec: timeout / 1_000, tv_usec: timeout % 1_000 * 1_000)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = address.withUnsafeBytes { bytes in
            var storage = sockaddr_storage()
            withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
            return withUnsafePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(bytes.count))
                }
            }
        }
        guard result == 0 else {
            let failure = Failure(call: "connect", code: errno)
            close()
            throw failure
        }
    }

    deinit {
        close()
    }

    func send(_ text: String) throws {
        try send(bytes: Array(text.utf8))
    }

    func send(bytes: [UInt8]) throws {
        var offset = 0
        while offset < bytes.count {
            let count = bytes[offset...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw Failure(call: "send", code: errno)
            }
            offset += count
        }
    }

    /// The bytes of one read; empty at the end of the stream.
    func read(atMost count: Int = 64 * 1024) throws -> [UInt8] {
        while true {
            var failed = false
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
                let got = recv(descriptor, buffer.baseAddress, count, 0)
                failed = got < 0
                used = max(got, 0)
            }
            if !failed { return bytes }
            if errno != EINTR { throw Failure(call: "recv", code: errno) }
        }
    }

    /// Exactly `count` bytes as text, fewer only at the end of the stream.
    func read(_ count: Int) throws -> String {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try read(atMost: count - bytes.count)
            if more.isEmpty { break }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A head with its empty line.
    func readHead() throws -> String {
        var bytes: [UInt8] = []
        while bytes.suffix(4) != [13, 10, 13, 10] {
            let more = try read(atMost: 1)
            if more.isEmpty { break }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Everything up to the end of the stream.
    func readToEnd() throws -> String {
        var bytes: [UInt8] = []
        while true {
            let more = try read()
            if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
            bytes += more
        }
    }

    /// Counts the bytes up to the end of the stream, and drops them.
    func countToEnd() throws -> Int {
        var count = 0
        while true {
            let more = try read(atMost: 256 * 1024)
            if more.isEmpty { return count }
            count += more.count
        }
    }

    /// True while nothing has arrived and the connection is intact.
    var isSilent: Bool {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&interest, 1, 0) == 0
    }

    func shutDownWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    private static func socketAddress(of address: ListenAddress) -> (Int32, [UInt8]) {
        switch address {
        case .ipv4Loopback(let port):
            var value = sockaddr_in()
            value.sin_family = sa_family_t(AF_INET)
            value.sin_port = port.bigEndian
            value.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return (AF_INET, withUnsafeBytes(of: value) { Array($0) })
        case .ipv6Loopback(let port):
            var value = sockaddr_in6()
            value.sin6_family = sa_family_t(AF_INET6)
            value.sin6_port = port.bigEndian
            value.sin6_addr = in6addr_loopback
            return (AF_INET6, withUnsafeBytes(of: value) { Array($0) })
        case .unix(let path):
            var value = sockaddr_un()
            value.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &value.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            return (AF_UNIX, withUnsafeBytes(of: value) { Array($0) })
        }
    }
}
