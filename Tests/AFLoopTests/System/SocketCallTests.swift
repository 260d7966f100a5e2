import AFBase
import AFFaults
import AFTestSupport
import CAFLinux
import Foundation
import Glibc
import Testing

@testable import AFLoop

@Suite("System calls for sockets")
struct SocketCallTests {
    private static func pair() -> (Int32, Int32) {
        var ends: [Int32] = [0, 0]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        return (ends[0], ends[1])
    }

    private static func option(_ socket: Int32, _ level: Int32, _ name: Int32) -> Int32 {
        var (value, length) = (Int32(-1), socklen_t(4))
        return getsockopt(socket, level, name, &value, &length) == 0 ? value : -errno
    }

    private static func connect(_ socket: Int32, to address: SocketAddress) -> Int32 {
        address.withPointer { caf_connect(socket, $0, $1) }
    }

    /// A socket that blocks.
    private static func system(_ family: Int32) -> Int32 { socket(family, Int32(SOCK_STREAM.rawValue), 0) }

    private static func local(_ socket: Int32) -> SocketAddress? { .init { caf_local_address(socket, $0, $1) } }

    @Test func `descriptors never block and are not inherited`() {
        for made in [caf_socket_stream(AF_INET), caf_socket_stream(AF_UNIX), caf_netlink_open(), caf_eventfd()] {
            #expect(fcntl(made, F_GETFD) == FD_CLOEXEC && fcntl(made, F_GETFL) & O_NONBLOCK != 0)
            #expect(caf_close(made) == 0)
        }
    }

    // MARK: - Connecting

    @Test func `a connect is there, refused, or goes on`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            let address = try #require(SocketAddress(unixPath: scratch.file("s").path))
            let missing = try #require(SocketAddress(unixPath: "/nowhere/at/all"))
            let (listener, socket) = (Self.system(AF_UNIX), caf_socket_stream(AF_UNIX))
            #expect(address.withPointer { bind(listener, $0, $1) } == 0 && listen(listener, 0) == 0)
            func connect(_ code: Int32) -> Int32 {
                PlayedKernel.refuse(CAF_CALL_CONNECT, code) { Self.connect(socket, to: address) }
            }
            #expect(connect(ECONNREFUSED) == -ECONNREFUSED && Self.connect(socket, to: missing) == -ENOENT)
            // What was interrupted goes on.
            var peer = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            #expect(poll(&peer, 1, 0) == 0 && connect(EINTR) == 0 && poll(&peer, 1, 0) == 1)

            // Sockets that block wait when there is no more room, until a signal comes.
            var (action, signal) = (sigaction(), sigset_t())
            action.__sigaction_handler.sa_handler = { _ in }
            sigaction(SIGUSR1, &action, nil)
            sigaddset(&signal, SIGUSR1)
            pthread_sigmask(SIG_UNBLOCK, &signal, nil)
            let waiting = pthread_self()
            let isOver = Lock(false)
            Thread.detachNewThread {
                while !isOver.withLock({ isOver in isOver || pthread_kill(waiting, SIGUSR1) != 0 }) { usleep(10_000) }
            }
            let results = (1...3).map { _ in Self.connect(Self.system(AF_UNIX), to: address) }
            isOver.withLock { $0 = true }
            #expect(results.last == -EINPROGRESS)
        }
    }

    @Test func `a refused connection has its error, once`() async throws {
        let (closed, other) = (caf_socket_stream(AF_INET), Self.system(AF_INET))
        defer { [closed, other].forEach { _ = caf_close($0) } }
        #expect(try #require(SocketAddress(ipv4: "127.0.0.1", port: 0)).withPointer { bind(other, $0, $1) } == 0)
        #expect([-EINPROGRESS, -ECONNREFUSED].contains(Self.connect(closed, to: try #require(Self.local(other)))))
        var event = pollfd(fd: closed, events: Int16(POLLOUT), revents: 0)
        poll(&event, 1, 5_000)
        #expect(caf_take_socket_error(closed) == -ECONNREFUSED && caf_take_socket_error(closed) == 0)
    }

    @Test func `a connection leaves from the address or the interface that is asked for`() {
        let sockets = [AF_INET, AF_INET, AF_INET6].map(caf_socket_stream)
        defer { for socket in sockets where socket >= 0 { _ = caf_close(socket) } }
        #expect(caf_bind_source(sockets[0], AF_INET6, "127.0.0.1") == -EAFNOSUPPORT)
        #expect(caf_bind_source(sockets[0], AF_INET, "::1") == -EAFNOSUPPORT)
        #expect([-ENODEV, -EPERM].contains(caf_bind_source(sockets[0], AF_INET, "nosuch0")))
        #expect(caf_bind_source(sockets[0], AF_INET, "127.0.0.1") == 0)
        // The port is chosen later: IP_BIND_ADDRESS_NO_PORT.
        #expect(Self.option(sockets[0], Int32(IPPROTO_IP), 24) == 1)
        #expect(Self.local(sockets[0]) == SocketAddress(ipv4: "127.0.0.1", port: 0))
        // Not everywhere is there IPv6, and old kernels let only the administrator choose an interface.
        if sockets[2] >= 0, caf_bind_source(sockets[2], AF_INET6, "::1") != -EADDRNOTAVAIL {
            #expect(Self.local(sockets[2]) == SocketAddress(ipv6: "::1", port: 0))
        }
        let result = caf_bind_source(sockets[1], AF_INET, "lo")
        var (name, length) = ([CChar](repeating: 0, count: 16), socklen_t(16))
        #expect(getsockopt(sockets[1], SOL_SOCKET, SO_BINDTODEVICE, &name, &length) == 0)
        #expect(result == 0 && strcmp(name, "lo") == 0 || result == -EPERM)
    }

    // MARK: - Options

    @Test func `a connection has the options that it is given, and what is refused is said`() async {
        await #expect(processExitsWith: .success) {
            let (socket, six) = (caf_socket_stream(AF_INET), caf_socket_stream(AF_INET6))
            #expect(caf_no_delay(socket) == 0 && caf_keep_alive(socket, 11, 12, 13, 14_000) == 0)
            #expect(caf_mark_traffic(socket, AF_INET, 0x28, 5) == 0)
            let (tcp, ip) = (Int32(IPPROTO_TCP), Int32(IPPROTO_IP))
            for (level, name, value) in [
                (tcp, TCP_NODELAY, 1), (tcp, TCP_KEEPIDLE, 11), (tcp, TCP_KEEPINTVL, 12), (tcp, TCP_KEEPCNT, 13),
                (tcp, TCP_USER_TIMEOUT, 14_000), (SOL_SOCKET, SO_KEEPALIVE, 1), (ip, IP_TOS, 0x28),
                (SOL_SOCKET, SO_PRIORITY, 5),
            ] { #expect(Self.option(socket, level, name) == value, "\(level) \(name)") }
            if six >= 0 {
                #expect(caf_mark_traffic(six, AF_INET6, 0x48, 3) == 0)
                #expect(Self.option(six, Int32(IPPROTO_IPV6), IPV6_TCLASS) == 0x48)
            }
            func codes(_ codes: [Int32]) -> [(caf_call, Int32)] { codes.map { (CAF_CALL_SETSOCKOPT, $0) } }
            for refused in 1...5 {
                let answers = codes([Int32](repeating: 0, count: refused - 1) + [EPERM])
                let (result, calls) = PlayedKernel.play(answers) { caf_keep_alive(socket, 1, 1, 1, 1) }
                #expect(result == -EPERM && calls.count == refused)
            }
            // The second one is set all the same.
            for (first, second, result) in [(EPERM, 0, -EPERM), (0, EPERM, -EPERM), (EIO, EPERM, -EIO), (0, 0, 0)] {
                let (failed, calls) = PlayedKernel.play(codes([first, second])) {
                    caf_mark_traffic(socket, AF_INET, 0, 0)
                }
                #expect(failed == result && calls.count == 2)
            }
        }
    }

    // MARK: - Bytes

    @Test func `two slices are sent as one, as far as the kernel takes them`() async {
        await #expect(processExitsWith: .success) {
            for (first, second) in [("abc", "defg"), ("abc", ""), ("", "defg"), ("a", "b"), ("abc", "d"), ("a", "bcd")]
            {
                for longest in [Int.max, 7, 5, 4, 3, 2, 1] {
                    let (here, there) = Self.pair()
                    let (sent, calls) = PlayedKernel.play(longest: longest) {
                        caf_send(here, first, first.count, second, second.count)
                    }
                    let whole = Array((first + second).utf8)
                    var heard = [UInt8](repeating: 0, count: 20)
                    #expect(sent == min(whole.count, longest) && calls.map(\.length) == [whole.count])
                    #expect(caf_shutdown_write(here) == 0 && caf_recv(there, &heard, 20) == sent)
                    #expect(heard.prefix(sent) == whole.prefix(sent) && caf_recv(there, &heard, 20) == 0)
                    #expect(caf_close(there) == 0)
                    // Without a signal.
                    #expect(caf_send(here, first, first.count, second, second.count) == -Int(EPIPE))
                    #expect(caf_close(here) == 0)
                }
            }
        }
    }

    // MARK: - Waiting

    @Test func `events are told as far as there is room, and nothing is written beyond`() {
        let (epoll, near, far) = (caf_epoll_create(), Self.pair(), Self.pair())
        defer { [epoll, near.0, near.1, far.0, far.1].forEach { _ = caf_close($0) } }
        /// The tokens that one call writes; 99 where it writes none, and what stands in front must stay.
        func wait(room: Int32) -> [UInt64] {
            var events = [caf_event](repeating: caf_event(token: 99, readiness: 99), count: 5)
            let count = events.withUnsafeMutableBufferPointer { caf_epoll_wait(epoll, $0.baseAddress! + 1, room, 0) }
            for event in events.dropFirst().prefix(Int(max(0, count))) {
                #expect(event.readiness & UInt32(CAF_WRITABLE) != 0 && event.readiness & UInt32(CAF_HANGUP) == 0)
            }
            return [UInt64(bitPattern: Int64(count)), events[0].token] + events[1...].map(\.token).sorted()
        }
        #expect(fcntl(epoll, F_GETFD) == FD_CLOEXEC)
        var event = caf_event()
        #expect(caf_epoll_wait(-1, &event, 1, 0) == -EBADF && wait(room: 3) == [0, 99, 99, 99, 99, 99])
        #expect(caf_epoll_add(epoll, near.0, 7) == 0 && caf_epoll_add(epoll, far.0, 8) == 0)
        #expect(caf_epoll_add(epoll, near.0, 7) == -EEXIST)
        #expect(wait(room: 1) == [1, 99, 7, 99, 99, 99] && wait(room: 3) == [1, 99, 8, 99, 99, 99])
        #expect(write(near.1, "x", 1) == 1 && write(far.1, "x", 1) == 1)
        // Told once.
        #expect(wait(room: 3) == [2, 99, 7, 8, 99, 99] && wait(room: 3)[0] == 0)
        #expect(caf_epoll_remove(epoll, far.0) == 0 && caf_epoll_remove(epoll, far.0) == -ENOENT)
        #expect(write(far.1, "x", 1) == 1 && wait(room: 3)[0] == 0)
    }

    @Test func `no more than 256 events are asked for at a time`() async {
        await #expect(processExitsWith: .success) {
            var events = [caf_event](repeating: caf_event(), count: 300)
            for (room, asked) in [(1, 1), (255, 255), (256, 256), (257, 256), (300, 256)] {
                let (count, calls) = PlayedKernel.play([(CAF_CALL_EPOLL_WAIT, 0)]) {
                    caf_epoll_wait(9, &events, Int32(room), -1)
                }
                #expect(count == 0 && calls.map(\.length) == [asked])
            }
        }
    }

    @Test func `a wake-up counts one, and a full counter is emptied`() async {
        await #expect(processExitsWith: .success) {
            let port = caf_eventfd()
            var count = UInt64.max - 1
            func taken() -> UInt64? { read(port, &count, 8) == 8 ? count : nil }
            func signal(_ port: Int32, _ codes: Int32...) -> Int32 {
                PlayedKernel.play(codes.map { (CAF_CALL_SEND, $0) }) { caf_eventfd_signal(port) }.result
            }
            #expect(write(port, &count, 8) == 8 && signal(port) == 0 && taken() == 1 && taken() == nil)
            #expect(signal(port) == 0 && signal(port) == 0 && taken() == 2)
            // The counter was emptied just now, or was not; what failed before does not matter.
            #expect(signal(port, EAGAIN) == 0 && signal(port) == 0 && caf_close(-1) == -EBADF)
            #expect(signal(port, EAGAIN) == 0 && taken() == 1)
            #expect(signal(port, EAGAIN, EAGAIN) == -EAGAIN && signal(-1, EAGAIN, -8) == -EBADF)
        }
    }
}
