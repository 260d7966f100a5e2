import AFNetworkingTesting
import FoundationEssentials
import Testing

@Suite struct SOCKSProxyTests {
    private static let granted: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    private static let loopback6: [UInt8] = [UInt8](repeating: 0, count: 15) + [1]

    private let origin: TestServer
    private let proxy: TestProxy

    init() throws {
        origin = try TestServer()
        origin.route("GET", "/", .text("hi"))
        proxy = try TestProxy(.socks5)
    }

    private func get(_ client: SOCKSClient) throws -> String {
        try client.raw.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return try client.raw.readToEnd()
    }

    @Test func `the proxy connects to an address or a name`() throws {
        let other = try TestServer(on: .ipv6Loopback)
        other.route("GET", "/", .text("hi"))
        proxy.rules.names["Origin.test"] = .ipv4Loopback
        let targets: [SOCKSClient.Target] = [
            .ipv4([127, 0, 0, 1], origin.port), .name("origin.TEST", origin.port), .name("localhost", origin.port),
            .ipv6(Self.loopback6, other.port),
        ]
        for target in targets {
            let client = try SOCKSClient(proxy)
            #expect(try client.greet() == [5, 0])
            #expect(try client.ask(target) == Self.granted)
            #expect(try get(client).hasSuffix("\r\n\r\nhi"))
            client.raw.close()
        }

        let forwardings = try proxy.waitForForwardings(4)
        #expect(forwardings.map(\.host) == ["127.0.0.1", "origin.TEST", "localhost", "::1"])
        #expect(forwardings.map(\.isName) == [false, true, true, false])
        #expect(forwardings.map(\.port) == [origin.port, origin.port, origin.port, other.port])
        #expect(forwardings.allSatisfy { $0.means == .socks5 && $0.outcome == .ended && $0.bytesToTarget == 46 })
        #expect(forwardings.map(\.connection) == [1, 2, 3, 4])
        #expect(proxy.url.absoluteString == "socks5://127.0.0.1:\(proxy.port)")
    }

    @Test func `the proxy asks for user and password and compares them`() throws {
        proxy.rules.authentication = .password(user: "ann", password: "secret")
        #expect(try SOCKSClient(proxy).greet([0]) == [5, 255])
        let stranger = try SOCKSClient(proxy)
        #expect(try stranger.greet([0, 2]) == [5, 2])
        #expect(try stranger.logIn("ann", "Secret") == [1, 1])
        #expect(try stranger.raw.read().isEmpty)

        let ann = try SOCKSClient(proxy)
        #expect(try ann.greet([2]) == [5, 2])
        #expect(try ann.logIn("ann", "secret") == [1, 0])
        #expect(try ann.ask(.ipv4([127, 0, 0, 1], origin.port)) == Self.granted)
        #expect(try get(ann).hasSuffix("hi"))
        #expect(proxy.forwardings.map(\.user) == ["ann"])

        proxy.rules.authentication = .digest(DigestRules(user: "a", password: "b"))
        #expect(try SOCKSClient(proxy).greet([0, 2]) == [5, 255])
    }

    private func answer(to target: SOCKSClient.Target, command: UInt8 = 1) throws -> UInt8? {
        let client = try SOCKSClient(proxy)
        _ = try client.greet()
        return try client.ask(target, command: command).dropFirst().first
    }

    @Test func `every refusal has its reply code`() throws {
        let gone = try TestServer()
        gone.stop()
        proxy.rules.refusedHosts = ["evil.test"]
        #expect(try answer(to: .name("evil.test", 80)) == 2)
        #expect(try answer(to: .ipv4([192, 0, 2, 1], 80)) == 2)
        #expect(try answer(to: .name("unknown.test", 80)) == 4)
        #expect(try answer(to: .ipv4([127, 0, 0, 1], gone.port)) == 5)
        #expect(try answer(to: .ipv4([127, 0, 0, 1], origin.port), command: 2) == 7)
        let client = try SOCKSClient(proxy)
        _ = try client.greet()
        try client.raw.send(bytes: [5, 1, 0, 9])
        #expect(try client.read(10).dropFirst().first == 8)
        proxy.enqueue(.refusing(6))
        #expect(try answer(to: .ipv4([127, 0, 0, 1], origin.port)) == 6)
        let reasons = proxy.forwardings.map(\.outcome)
        #expect(reasons.count == 6)
        #expect(!reasons.contains(.ended))
        #expect(origin.acceptedConnections == 0)
    }

    @Test func `a SOCKS proxy misbehaves as told`() throws {
        let target = SOCKSClient.Target.ipv4([127, 0, 0, 1], origin.port)
        proxy.enqueue(.forwarding.choosing(method: 2), .sending(bytes: [5, 0]), .answering(.status(500)))
        #expect(try SOCKSClient(proxy).greet([0]) == [5, 2])
        let short = try SOCKSClient(proxy)
        _ = try short.greet()
        #expect(try short.ask(target) == [5, 0])
        #expect(try answer(to: target) == 1)

        proxy.enqueue(.forwarding.surplus("junk").closing(after: 10))
        let cut = try SOCKSClient(proxy)
        _ = try cut.greet()
        #expect(try cut.ask(target) == Self.granted)
        #expect(try get(cut) == "junkHTTP/1.1 2")
    }

    @Test func `a client of another protocol is refused`() throws {
        let client = try RawClient(proxy.server)
        try client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(throws: RawClient.Failure.self) { try client.readToEnd() }
        let end = try proxy.server.waitForEnd(ofConnection: 1)
        #expect(end == .scriptFailed("version 71 in place of SOCKS 5"))
    }
}
