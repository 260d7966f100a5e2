import AFTLS

@testable import AFURLSession

/// A stream through a proxy to a server that speaks first.
@Suite("Streams through a proxy")
final class ProxiedStreamTests: WorldSuite {
    private static let greeting = "220 hello\r\n"

    enum Kind: CaseIterable, Sendable {
        case http
        case socks

        var url: String { self == .http ? "http://proxy.test:3128" : "socks5h://proxy.test:3128" }
        /// What the proxy grants the tunnel with.
        var grant: String { self == .http ? "HTTP/1.1 200 OK\r\n\r\n" : "\u{5}\0\0\u{1}\0\0\0\0\0\0" }

        /// What comes before the last question to the proxy, and that question.
        fileprivate var asked: [ServerStep] {
            switch self {
            case .http: [.expectRequest]
            case .socks: [.expectBytes(3), .reply("\u{5}\0"), .expectBytes(4 + 1 + 8 + 2)]
            }
        }

        fileprivate var stages: [LayeredServer.Stage] {
            switch self {
            case .http: [.head(grant + greeting)]
            case .socks: [.bytes(3, [5, 0]), .bytes(4 + 1 + 8 + 2, Array((grant + greeting).utf8))]
            }
        }
    }

    private let log = StreamLog()

    private func task(
        in world: VirtualWorld,
        by kind: Kind,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> URLSessionStreamTask {
        let proxies = ProxyConfiguration(try ProxyServer(kind.url))
        let (session, _) = world.makeSession(delegate: log) {
            $0.proxies = proxies
            configure($0)
        }
        return session.streamTask(withHostName: "api.test", port: 25)
    }

    private func task(
        by kind: Kind,
        _ steps: [ServerStep],
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> URLSessionStreamTask {
        world.serve("proxy.test", port: 3128) { ScriptedServer(kind.asked + steps) }
        return try task(in: world, by: kind, configure)
    }

    private var events: [StreamLog.Event] { log.events.value }

    private var read: String {
        events.reduce(into: "") { text, event in
            if case .read(let more, _) = event { text += more }
        }
    }

    @Test(arguments: Kind.allCases)
    func `what the server says first is read first, wherever the network cuts it`(kind: Kind) throws {
        let all = Array((kind.grant + ProxiedStreamTests.greeting).utf8)
        for cut in 1...all.count {
            for delay in [Duration.zero, .milliseconds(1)] {
                let world = VirtualWorld()
                let pieces = [all[..<cut], all[cut...]].map { String(decoding: $0, as: UTF8.self) }
                let steps: [ServerStep] = [
                    .reply(pieces[0]), .delay(delay), .reply(pieces[1]), .expect("QUIT\r\n"), .reply("221 bye\r\n"),
                    .close,
                ]
                world.serve("proxy.test", port: 3128) { ScriptedServer(kind.asked + steps) }
                let task = try task(in: world, by: kind)
                let before = events.count
                log.read(task, 11, 11)
                log.write(task, "QUIT\r\n")
                log.read(task, 9, 9)
                log.read(task, 1, 1)
                task.resume()
                world.run { events.count == before + 5 }
                task.closeWrite()
                world.run()

                let own = events[before...]
                let said = own.filter { if case .read = $0 { true } else { false } }
                #expect(
                    said == [
                        .read("220 hello\r\n", isAtEnd: false), .read("221 bye\r\n", isAtEnd: false),
                        .read("", isAtEnd: true),
                    ],
                    "cut at \(cut)"
                )
                #expect(own.last == .completed(nil))
                #expect(task.countOfBytesReceived == 20)
                #expect(world.finish() == [])
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `a server that closes at once is read to its end first`(kind: Kind) throws {
        let task = try task(by: kind, [.reply(kind.grant + ProxiedStreamTests.greeting), .close])
        task.resume()
        world.advance(by: .seconds(1))
        log.read(task, 4, 4)
        log.read(task, 100, 100)
        task.closeWrite()
        world.run()

        #expect(events.contains(.read("220 ", isAtEnd: false)) && events.contains(.read("hello\r\n", isAtEnd: true)))
        #expect(events.last == .completed(nil))
    }

    @Test(arguments: Kind.allCases)
    func `a suspended stream keeps what came, and reads it byte by byte later`(kind: Kind) throws {
        let task = try task(by: kind, [.delay(.seconds(1)), .reply(kind.grant + ProxiedStreamTests.greeting), .stall])
        task.resume()
        world.advance(by: .milliseconds(500))
        task.suspend()
        world.advance(by: .seconds(100))
        for _ in 0..<11 { log.read(task, 1, 1) }
        world.advance(by: .seconds(1))
        #expect(events == [])
        task.resume()
        world.advance(by: .seconds(1))

        #expect(events.count == 11 && read == "220 hello\r\n")
        task.cancel()
        world.run()
        #expect(events.last == .completed(-999))
    }

    @Test(arguments: Kind.allCases, [1_000, 262_144, 3_000_000])
    func `a long greeting comes whole, and is held for its reader within bounds`(kind: Kind, count: Int) throws {
        let task = try task(by: kind, [.reply(kind.grant), .fill(count), .reply("."), .close])
        task.resume()
        world.advance(by: .seconds(10))
        // What no code has asked for stays where it is: with the server, the kernel and one read of the tunnel.
        #expect(task.countOfBytesReceived == 0)
        log.read(task, count, count)
        log.read(task, 1, 10)
        task.closeWrite()
        world.run()

        #expect(events.contains(.read(String(repeating: "v", count: count), isAtEnd: false)))
        #expect(events.contains { $0 == .read(".", isAtEnd: false) || $0 == .read(".", isAtEnd: true) })
    }

    @Test(arguments: 0..<20)
    func `greetings come through any link`(seed: UInt64) throws {
        for kind in Kind.allCases {
            let world = VirtualWorld(seed: seed)
            var conditions = SeededGenerator(seed: seed)
            world.network.link = .random(using: &conditions)
            let steps: [ServerStep] = [
                .reply(kind.grant + ProxiedStreamTests.greeting), .expect("QUIT\r\n"), .reply("221 bye\r\n"), .close,
            ]
            world.serve("proxy.test", port: 3128) { ScriptedServer(kind.asked + steps) }
            let task = try task(in: world, by: kind)
            let before = events.count
            log.read(task, 11, 11)
            log.write(task, "QUIT\r\n")
            log.read(task, 9, 9)
            task.resume()
            world.run { events.count == before + 3 }
            task.closeWrite()
            log.read(task, 1, 1)
            world.run()

            #expect(events[before...].contains(.read("220 hello\r\n", isAtEnd: false)), "seed \(seed)")
            #expect(events[before...].contains { $0 == .read("221 bye\r\n", isAtEnd: false) })
            #expect(world.finish() == [])
        }
    }

    // MARK: - TLS

    @Test(arguments: Kind.allCases, [false, true])
    func `T-PRX-04 T-SOX-04 a stream to be secured at once takes nothing from before the handshake`(
        kind: Kind,
        isAskedLate: Bool
    ) throws {
        let site = try MemorySite("api.test")
        let log = log
        world.serve("proxy.test", port: 3128) {
            LayeredServer(kind.stages + [.tls(site.context), .send(Array("secret".utf8))], LayeredServer.Log())
        }
        let task = try task(in: world, by: kind) { $0.tls = site.tls }
        if isAskedLate { task.resume() }
        task.startSecureConnection()
        log.read(task, 1, 100)
        task.resume()
        world.run()

        #expect(events == [.readFailed(-1004, nil), .completed(-1004)])
        let failure = log.error.withLock { $0?.loadFailure }
        #expect(failure?.reason == .proxy && failure?.detail == .malformed)
    }

    @Test(arguments: Kind.allCases)
    func `STARTTLS goes on behind a greeting that was read`(kind: Kind) throws {
        let site = try MemorySite("api.test")
        world.serve("proxy.test", port: 3128) {
            LayeredServer(
                kind.stages + [
                    .bytes(10, Array("220 go\r\n".utf8)), .tls(site.context), .send(Array("secret".utf8)),
                ],
                LayeredServer.Log()
            )
        }
        let task = try task(in: world, by: kind) { $0.tls = site.tls }
        log.read(task, 11, 11)
        log.write(task, "STARTTLS\r\n")
        log.read(task, 8, 8)
        task.startSecureConnection()
        log.read(task, 6, 6)
        task.resume()
        world.run { self.events.count == 4 }

        #expect(read == "220 hello\r\n220 go\r\nsecret", "\(events)")
        task.cancel()
        world.run()
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `T-STR-01 what was injected behind a greeting never gets into the handshake, or behind it`(
        kind: Kind,
        isFlooded: Bool
    ) throws {
        let site = try MemorySite("api.test")
        world.serve("proxy.test", port: 3128) {
            LayeredServer(
                kind.stages + [
                    .send(isFlooded ? [UInt8](repeating: 86, count: 600_000) : []), .tls(site.context),
                    .send(Array("secret".utf8)),
                ],
                LayeredServer.Log()
            )
        }
        let task = try task(in: world, by: kind) { $0.tls = site.tls }
        log.read(task, 4, 4)
        task.startSecureConnection()
        log.read(task, 1, 100)
        task.resume()
        world.run()

        #expect(events.first == .read("220 ", isAtEnd: false))
        #expect(events.dropFirst().map { "\($0)" }.allSatisfy { !$0.contains("secret") && !$0.contains("hello") })
        #expect(log.error.withLock { $0?.loadFailure?.detail } == .notTLS)
    }
}

extension ProxyTests.Loopback {
    /// The same behind real sockets.
    struct Greeted {
        private let log = StreamLog()

        @Test(arguments: [TestProxy.Kind.http, .socks5], [false, true])
        func `a server speaks first through a real proxy`(kind: TestProxy.Kind, isSurplus: Bool) async throws {
            let server = try TestServer()
            let proxy = try TestProxy(kind)
            if isSurplus {
                proxy.enqueue(.forwarding.surplus("220 hello\r\n"))
                server.script(.expect("QUIT\r\n"), .send("221 bye\r\n"), .close)
            } else {
                server.script(.send("220 hello\r\n"), .expect("QUIT\r\n"), .send("221 bye\r\n"), .close)
            }
            var proxies = ProxyConfiguration(try ProxyServer(proxy.url.absoluteString))
            proxies.includesLoopback = true
            let session = URLSession.loopback(delegate: log) { [proxies] in $0.proxies = proxies }
            let task = session.streamTask(withHostName: "127.0.0.1", port: Int(server.port))
            log.read(task, 11, 11)
            log.write(task, "QUIT\r\n")
            log.read(task, 9, 9)
            task.closeWrite()
            log.read(task, 1, 1)
            task.resume()

            let events = try await log.finished()

            #expect(events.contains(.read("220 hello\r\n", isAtEnd: false)), "\(events)")
            let bye = events.filter {
                $0 == .read("221 bye\r\n", isAtEnd: false) || $0 == .read("221 bye\r\n", isAtEnd: true)
            }
            #expect(bye.count == 1)
            #expect(events.last == .completed(nil))
            #expect(proxy.forwardings.count == 1)
        }

        @Test func `a greeting goes on to the streams that were captured`() async throws {
            let server = try TestServer()
            server.script(.expect("hi"), .send("HI"), .close)
            let proxy = try TestProxy()
            proxy.enqueue(.forwarding.surplus("220 hello\r\n"))
            var proxies = ProxyConfiguration(try ProxyServer(proxy.url.absoluteString))
            proxies.includesLoopback = true
            let told = Watched<String?>(nil)
            let log = StreamLog { input, output in
                input.open()
                output.open()
                _ = output.write(Array("hi".utf8), maxLength: 2)
                var (text, buffer) = ("", [UInt8](repeating: 0, count: 3))
                while case let count = input.read(&buffer, maxLength: 3), count > 0 {
                    text += String(decoding: buffer[..<count], as: UTF8.self)
                }
                told.change { [text] in $0 = text }
            }
            let session = URLSession.loopback(delegate: log) { [proxies] in $0.proxies = proxies }
            let task = session.streamTask(withHostName: "127.0.0.1", port: Int(server.port))
            task.captureStreams()
            task.resume()

            #expect(try await told.wait("the streams") { $0 != nil } == "220 hello\r\nHI")
        }
    }
}
