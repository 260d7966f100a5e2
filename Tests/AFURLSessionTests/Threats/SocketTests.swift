import AFFaults
import CAFLinux
import Glibc

extension LoopbackTests.Alone {
    @Test func `T-RES-29 a connection to itself is none`() async {
        await #expect(processExitsWith: .success) {
            ConnectHook.port.store(ConnectHook.unusedPort())
            caf_set_hook { call in
                if call?.pointee.call == CAF_CALL_CONNECT { ConnectHook.bindToTarget(call?.pointee.descriptor ?? -1) }
                return false
            }
            let url = try #require(URL(string: "http://127.0.0.1:\(ConnectHook.port.load())/"))

            let outcome = try await URLSession.loopback().outcome(of: url)

            #expect(ConnectHook.bound.load() == 1)
            #expect(outcome.code == -1004)
            #expect(outcome.error?.loadFailure?.errno == ECONNREFUSED)
        }
    }

    @Test func `T-RES-29 a connect that only claims to have worked fails its task`() async {
        await #expect(processExitsWith: .success) {
            caf_set_hook { call in
                guard call?.pointee.call == CAF_CALL_CONNECT else { return false }
                call?.pointee.result = 0
                return true
            }
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            // Its end is not that of the timeout, which would come after an hour.
            let session = URLSession.loopback { $0.timeoutIntervalForRequest = 3600 }

            let outcome = try await session.outcome(of: url)

            #expect([-1004, -1005].contains(outcome.code), "\(outcome)")
        }
    }

    @Test func `T-RES-29 a connect that is said to be under way already fails its task`() async {
        await #expect(processExitsWith: .success) {
            FaultInjector.failNext(CAF_CALL_CONNECT, with: EALREADY)
            defer { FaultInjector.stop() }
            let url = try #require(URL(string: "http://127.0.0.1:9/"))

            let outcome = try await URLSession.loopback().outcome(of: url)

            #expect(outcome.code == -1004 && outcome.error?.loadFailure?.errno == EALREADY)
            #expect(FaultInjector.badCloses == 0)
        }
    }

    @Test func `T-RES-29 a connect that is through at once is a connection`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            ConnectHook.port.store(Int32(server.port))
            caf_set_hook { call in
                guard let call, call.pointee.call == CAF_CALL_CONNECT else { return false }
                call.pointee.result = ConnectHook.connect(call.pointee.descriptor) ? 0 : -1
                return true
            }
            server.route("GET", "/hello", .text("hello"))

            #expect(try await URLSession.loopback().outcome(of: server.url("/hello")).text == "hello")
        }
    }

    @Test func `T-RES-29 how a connect ended is asked once, since the answer is gone then`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            FaultInjector.watch()
            defer { FaultInjector.stop() }
            let session = URLSession.loopback()

            for _ in 1...2 { #expect(try await session.outcome(of: server.url("/hello")).text == "hello") }

            #expect(FaultInjector.calls(CAF_CALL_CONNECT) == 1 && FaultInjector.calls(CAF_CALL_GETSOCKOPT) == 1)
        }
    }

    @Test func `T-RES-31 the kernel is told to give up a peer that is gone without a word after two minutes`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            caf_set_hook { call in
                if let call, call.pointee.call == CAF_CALL_CONNECT {
                    ConnectHook.descriptor.store(call.pointee.descriptor)
                }
                return false
            }
            let session = URLSession.loopback()
            _ = try await session.outcome(of: server.url())

            #expect(ConnectHook.option(SOL_SOCKET, SO_KEEPALIVE) == 1)
            #expect(ConnectHook.option(Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 60)
            #expect(ConnectHook.option(Int32(IPPROTO_TCP), TCP_KEEPINTVL) == 10)
            #expect(ConnectHook.option(Int32(IPPROTO_TCP), TCP_KEEPCNT) == 6)
            #expect(ConnectHook.option(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT) == 120_000)
            #expect(ConnectHook.option(Int32(IPPROTO_TCP), TCP_NODELAY) == 1)
        }
    }

    @Test func `T-RES-31 a session says when the kernel asks a silent peer, or that it does not`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            caf_set_hook { call in
                if let call, call.pointee.call == CAF_CALL_CONNECT {
                    ConnectHook.descriptor.store(call.pointee.descriptor)
                }
                return false
            }
            let often = URLSession.loopback { $0.peerProbeInterval = 2.5 }
            _ = try await often.outcome(of: server.url())
            #expect(ConnectHook.option(SOL_SOCKET, SO_KEEPALIVE) == 1)
            #expect(ConnectHook.option(Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 3)
            #expect(ConnectHook.option(Int32(IPPROTO_TCP), TCP_KEEPINTVL) == 3)
            #expect(ConnectHook.option(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT) == 21_000)

            let never = URLSession.loopback { $0.peerProbeInterval = 0 }
            _ = try await never.outcome(of: server.url())
            #expect(ConnectHook.option(SOL_SOCKET, SO_KEEPALIVE) == 0)
        }
    }

    @Test func `a session makes its connections from an address or an interface, or not at all`() async throws {
        let server = try TestServer()
        for (source, address) in [("127.0.0.7", "127.0.0.7"), ("lo", "127.0.0.1")] {
            let session = URLSession.loopback { $0.connectionSource = source }
            let task = session.dataTask(with: server.url())
            let metrics = Metrics()
            task.delegate = metrics
            task.resume()
            try await eventually { metrics.localAddress != nil }
            #expect(metrics.localAddress == address, "\(source)")
        }
        for (source, errno) in [("192.0.2.1", EADDRNOTAVAIL), ("::1", EAFNOSUPPORT), ("no-such-link", ENODEV)] {
            let outcome = try await URLSession.loopback { $0.connectionSource = source }.outcome(of: server.url())
            #expect(outcome.code == -1004 && outcome.error?.loadFailure?.errno == errno, "\(source)")
        }
    }

    /// The two minutes are made two seconds.
    @Test func `T-RES-31 a peer that is gone without a word ends the task when the kernel gives it up`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.script(.expectRequest, .stall)
            caf_set_hook { call in
                if let call, call.pointee.call == CAF_CALL_CONNECT {
                    ConnectHook.descriptor.store(call.pointee.descriptor)
                }
                return false
            }
            // Long enough for the kernel to be asked about the peer.
            let session = URLSession.loopback { $0.timeoutIntervalForRequest = 600 }
            let outcomes = Outcomes()
            session.dataTask(with: server.url(), completionHandler: outcomes.handler).resume()
            try await eventually { server.connections.first?.bytesReceived ?? 0 > 0 }
            await session.settled()

            for name in [TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT] { ConnectHook.set(name, to: 1) }
            ConnectHook.set(TCP_USER_TIMEOUT, to: 1000)
            #expect(ConnectHook.option(SOL_SOCKET, SO_KEEPALIVE) == 1)
            #expect(Silence.fall(onOtherEndOf: ConnectHook.descriptor.load()))

            let outcome = try await outcomes.first()
            #expect(outcome.code == -1005 && outcome.error?.loadFailure?.errno == ETIMEDOUT, "\(outcome)")
        }
    }
}

/// Where a task's connection was made from.
private final class Metrics: URLSessionTaskDelegate {
    private let address = Lock<String?>(nil)

    var localAddress: String? { address.withLock { $0 } }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        address.withLock { $0 = metrics.transactionMetrics.last?.localAddress ?? "" }
    }
}

/// What a hook around `connect`, which can capture nothing, is told and finds out.
private enum ConnectHook {
    struct Box: Sendable {
        private let value = Lock(Int32(0))

        func store(_ new: Int32) { value.withLock { $0 = new } }
        func load() -> Int32 { value.withLock { $0 } }
    }

    static let port = Box()
    static let bound = Box()
    static let descriptor = Box()

    private static func loopback(_ port: Int32) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return address
    }

    private static func bind(_ descriptor: Int32, to port: Int32) -> Bool {
        withUnsafePointer(to: loopback(port)) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// Connecting from an address to that same address succeeds.
    static func bindToTarget(_ descriptor: Int32) {
        bound.store(bind(descriptor, to: port.load()) ? 1 : -1)
    }

    /// Connects, and waits for it.
    static func connect(_ descriptor: Int32) -> Bool {
        let flags = fcntl(descriptor, F_GETFL)
        guard fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) == 0 else { return false }
        defer { _ = fcntl(descriptor, F_SETFL, flags) }
        return withUnsafePointer(to: loopback(port.load())) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    static func unusedPort() -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard bind(socket, to: 0) else { return -1 }
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        return Int32(in_port_t(bigEndian: address.sin_port))
    }

    static func set(_ name: Int32, to value: Int32) {
        var value = value
        let size = socklen_t(MemoryLayout<Int32>.size)
        #expect(setsockopt(descriptor.load(), Int32(IPPROTO_TCP), name, &value, size) == 0)
    }

    static func option(_ level: Int32, _ name: Int32) -> Int32 {
        var value: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor.load(), level, name, &value, &length) == 0 ? value : -1
    }
}
