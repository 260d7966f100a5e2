import AFNetworkingTesting
import Foundation
import Glibc
import Testing

@Suite struct LifecycleTests {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    /// The open sockets of this process: all that a server opens, without the files that the test runner
    /// and Foundation open and close.
    private static func openSockets() -> Set<String> {
        let manager = FileManager.default
        let numbers = (try? manager.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let targets = numbers.compactMap { try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        return Set(targets.filter { $0.hasPrefix("socket:") })
    }

    /// The names of this process's threads that belong to servers.
    private static func serverThreads() -> [String] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
            .filter { $0.hasPrefix("AFTest") }
    }

    /// Waits until the threads and sockets are gone: the kernel lists a joined thread for a moment longer.
    private static func settles(sockets: Set<String>, threads: Int) -> Bool {
        let deadline = ContinuousClock.now + .seconds(60)
        while openSockets() != sockets || serverThreads().count != threads {
            guard ContinuousClock.now < deadline else { return false }
            sched_yield()
        }
        return true
    }

    /// A server with a connection in every state, and the clients that keep them there.
    private static func crowd(on address: ListenAddress = .ipv4Loopback) throws -> (TestServer, [RawClient]) {
        let server = try TestServer(on: address)
        server.route("GET", "/delayed", .text("x").delayed(by: .seconds(600)))
        server.route("GET", "/held", .text("x").held(until: "never"))
        server.route("GET", "/stalled", .text("x").stalling(after: 0))
        server.route("GET", "/dribbled", .text("xyz").dribbling(1, every: .seconds(600)))
        server.route("GET", "/huge", .stream(.repeating("x", count: 1_000_000_000)))
        server.route("GET", "/half", .text("x").halfClosing())
        server.route("GET", "/closing", .text("x").keepAlive(false))
        server.route("POST", "/up", .status(413).withoutReadingBody().keepAlive(true))
        server.route("CONNECT", "a:1", .status(200))
        server.script(on: .connection(1), .expect("more than comes"))
        server.script(on: .connection(2), .expectHead, .stall)
        server.script(on: .connection(3), .pause(.seconds(600)))
        server.script(on: .connection(4), .pause(until: "never"))
        server.script(on: .connection(5), .close)

        var clients = try (0..<6).map { _ in try RawClient(server) }
        try clients[1].send(request)
        let gets = ["/delayed", "/held", "/stalled", "/dribbled", "/huge", "/half", "/closing", "/nowhere"]
        let texts =
            ["GET / HT", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"]
            + [
                "POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
                "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
            ]
            + gets.map { "GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n" }
        for text in texts {
            let client = try RawClient(server)
            try client.send(text)
            clients.append(client)
        }
        try server.waitForConnections(clients.count)
        try server.waitForRequests(gets.count + 3)
        return (server, clients)
    }

    @Test func `stop leaves nothing behind in any state of the connections`() async {
        await #expect(processExitsWith: .success) {
            let sockets = LifecycleTests.openSockets()

            for _ in 0..<5 {
                let (server, clients) = try LifecycleTests.crowd()
                #expect(LifecycleTests.serverThreads().count == clients.count + 1)
                server.stop()
                server.stop()
                #expect(server.openConnections == 0)
                #expect(server.connections.allSatisfy { $0.end != nil })
                clients.forEach { $0.close() }
                #expect(LifecycleTests.settles(sockets: sockets, threads: 0))
            }
        }
    }

    @Test func `a server stops when its last reference goes away`() async {
        await #expect(processExitsWith: .success) {
            let sockets = LifecycleTests.openSockets()

            do {
                let (server, clients) = try LifecycleTests.crowd()
                withExtendedLifetime((server, clients)) {}
            }

            #expect(LifecycleTests.settles(sockets: sockets, threads: 0))
        }
    }

    @Test func `an abandoned connection leaves nothing behind while the server runs`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("GET", "/") { _ in .text("x") }
            let sockets = LifecycleTests.openSockets()

            for round in 0..<300 {
                let client = try RawClient(server)
                if round % 2 == 0 { try client.send(LifecycleTests.request) }
                if round % 3 == 0 { client.reset() }
            }
            try server.waitForConnections(300)
            try server.waitUntilIdle()

            #expect(LifecycleTests.settles(sockets: sockets, threads: 1))
        }
    }

    @Test func `stop ends the connections of clients`() throws {
        let server = try TestServer()
        let client = try RawClient(server)
        try server.waitForConnections(1)

        server.stop()

        #expect(try client.readToEnd() == "")
        #expect(throws: RawClient.Failure(call: "connect", code: ECONNREFUSED)) { try RawClient(server) }
    }

    @Test func `a client that never stops sending does not keep the server alive`() throws {
        let server = try TestServer()
        server.script(.receive(1_000_000), .close)
        let flood = Thread {
            guard let client = try? RawClient(server) else { return }
            let block = Array(repeating: UInt8(0), count: 65_536)
            while (try? client.send(bytes: block)) != nil {}
        }
        flood.start()
        #expect(try server.waitForEnd(ofConnection: 1) == .serverClosed)

        server.stop()

        #expect(server.openConnections == 0)
    }

    @Test func `a handler may stop the server`() throws {
        let server = try TestServer()
        server.route("GET", "/") { [server] _ in
            server.stop()
            return .text("too late")
        }
        let client = try RawClient(server)

        try client.send(Self.request)

        #expect(try client.readToEnd() == "")
        #expect(try server.waitForEnd(ofConnection: 1) == .serverStopped)
        server.stop()
    }

    @Test func `many threads may stop the server at once`() throws {
        let server = try TestServer()
        let clients = try (0..<10).map { _ in try RawClient(server) }
        try server.waitForConnections(10)

        DispatchQueue.concurrentPerform(iterations: 8) { _ in server.stop() }

        #expect(try clients.allSatisfy { try $0.readToEnd() == "" })
    }

    @Test func `a stopped server's port can be taken again`() throws {
        let first = try TestServer()
        let client = try RawClient(first)
        try first.waitForConnections(1)
        first.stop()

        let second = try TestServer(on: first.address)
        defer { second.stop() }

        #expect(second.port == first.port)
        withExtendedLifetime(client) {}
    }

    @Test func `a port in use is an error with the reason`() throws {
        let server = try TestServer()
        defer { server.stop() }

        let error = #expect(throws: TestServerError.self) { try TestServer(on: server.address) }

        #expect(error?.description.hasSuffix("bind: Address already in use") == true)
    }

    // MARK: - Addresses

    @Test func `a URL names the server and encodes what must be encoded`() throws {
        let server = try TestServer()
        defer { server.stop() }

        #expect(server.url("/a?b=c").absoluteString == "http://127.0.0.1:\(server.port)/a?b=c")
        #expect(server.url("a b").absoluteString == "http://127.0.0.1:\(server.port)/a%20b")
        #expect(server.url().absoluteString == "http://127.0.0.1:\(server.port)/")
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/net/if_inet6")))
    func `the server listens on IPv6`() throws {
        let server = try TestServer(on: .ipv6Loopback)
        defer { server.stop() }
        server.route("GET", "/") { _ in .text("six").keepAlive(false) }
        let client = try RawClient(server)

        try client.send(Self.request)

        #expect(try client.readToEnd().hasSuffix("six"))
        #expect(server.url("/").absoluteString == "http://[::1]:\(server.port)/")
    }

    @Test func `the server listens on a Unix socket and removes it`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sock").path
        let (server, clients) = try Self.crowd(on: .unix(path))
        server.route("GET", "/") { _ in .text("unix").keepAlive(false) }
        let client = try RawClient(server)
        try client.send(Self.request)
        #expect(try client.readToEnd().hasSuffix("unix"))
        #expect(server.port == 0)
        #expect(server.url("/x").absoluteString == "http://localhost/x")

        server.stop()

        #expect(!FileManager.default.fileExists(atPath: path))
        withExtendedLifetime(clients) {}
    }

    @Test(arguments: ["", "/nowhere/at/all.sock", "/tmp/" + String(repeating: "x", count: 200)])
    func `an invalid Unix path is an error`(path: String) {
        #expect(throws: TestServerError.self) { try TestServer(on: .unix(path)) }
    }

    // MARK: - Many connections

    @Test func `two hundred connections are served at the same time`() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.route("GET", "/:n") { .text($0.parameters["n"] ?? "").held(until: "all here").keepAlive(false) }
        let clients = try (0..<200).map { _ in try RawClient(server) }
        for (number, client) in clients.enumerated() {
            try client.send("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        try server.waitForRequests(200)
        #expect(server.openConnections == 200)

        server.signal("all here")

        for (number, client) in clients.enumerated() {
            #expect(try client.readToEnd().hasSuffix("\r\n\r\n\(number)"))
        }
    }

    @Test func `connections past the limit wait for their turn`() throws {
        var options = TestServer.Options()
        options.connectionLimit = 1
        let server = try TestServer(options: options)
        defer { server.stop() }
        server.route("GET", "/") { _ in .text("x") }
        let first = try RawClient(server)
        try first.send(Self.request)
        _ = try first.readHead()
        let second = try RawClient(server)
        try second.send(Self.request)
        #expect(server.acceptedConnections == 1)

        first.close()

        #expect(try second.readHead().hasPrefix("HTTP/1.1 200"))
        #expect(server.acceptedConnections == 2)
    }

    @Test func `the server goes on after it ran out of descriptors`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("GET", "/") { _ in .text("x") }
            var limit = rlimit(rlim_cur: 40, rlim_max: 40)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            var clients: [RawClient] = []
            #expect(throws: RawClient.Failure(call: "socket", code: EMFILE)) {
                while true { clients.append(try RawClient(server)) }
            }
            clients = []

            let client = try RawClient(server)
            try client.send(LifecycleTests.request)

            #expect(try client.readHead().hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `the threads of a server carry its name`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            let client = try RawClient(server)
            try client.send(LifecycleTests.request)
            try server.waitForRequests(1)

            #expect(Set(LifecycleTests.serverThreads()) == ["AFTest accept\n", "AFTest 1\n"])
        }
    }
}
