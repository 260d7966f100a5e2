import AFNetworkingTesting
import CAFOpenSSL
import Foundation
import Glibc
import Testing

@Suite struct TLSMisbehaviourTests {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    private let site: IssuedCertificate

    init() throws {
        site = try CertificateAuthority().issue(for: "localhost")
    }

    private func serve(
        _ steps: ScriptStep...,
        change: (inout ServerTLS) -> Void = { _ in }
    ) throws -> TestServer {
        var tls = ServerTLS(site)
        change(&tls)
        let server = try TestServer(tls: tls)
        if !steps.isEmpty { server.script(steps: steps) }
        return server
    }

    private func connect(_ server: TestServer, _ version: Int32 = 0x0304) throws -> TLSClient {
        let client = try TLSClient(server, .init(versions: version...version))
        try client.handshake()
        return client
    }

    // MARK: - The handshake

    @Test(arguments: [0, 1, 5, 100, 700])
    func `a handshake is cut after exactly this many bytes`(count: Int) throws {
        for fault in [ServerTLS.HandshakeFault.close(after: count), .stall(after: count)] {
            let server = try serve { $0.handshakeFault = fault }
            defer { server.stop() }
            let hello = try firstMessage()
            let client = try RawClient(server)

            try client.send(bytes: hello)
            #expect(try client.read(count).utf8.isEmpty == (count == 0))
            if case .stall = fault { #expect(client.isSilent) }
            client.close()

            let end = try server.waitForEnd(ofConnection: 1)
            #expect([.serverClosed, .clientClosed, .clientReset].contains(end))
            #expect(server.connections[0].tls?.isComplete == false)
            #expect(server.connections[0].tls?.serverName == "localhost")
        }
    }

    @Test func `a handshake is reset`() throws {
        let server = try serve { $0.handshakeFault = .reset(after: 10) }
        defer { server.stop() }

        #expect(throws: (any Error).self) { try connect(server) }

        #expect(try server.waitForEnd(ofConnection: 1) == .serverReset)
    }

    @Test func `the ClientHello is answered with an alert`() throws {
        let server = try serve { $0.handshakeFault = .alert(80) }
        defer { server.stop() }

        #expect(throws: TLSClient.Failure(reason: "tlsv1 alert internal error")) { try connect(server) }

        guard case .handshakeFailed = try server.waitForEnd(ofConnection: 1) else {
            Issue.record("the handshake went on")
            return
        }
    }

    /// The ClientHello of a client.
    private func firstMessage() throws -> [UInt8] {
        let server = try serve()
        defer { server.stop() }
        _ = try connect(server)
        let wire = Array(server.connections[0].wire)
        return Array(wire.prefix(5 + Int(wire[3]) << 8 + Int(wire[4])))
    }

    // MARK: - The end

    @Test(arguments: [0x0303, 0x0304] as [Int32])
    func `close_notify is sent or not, as told`(version: Int32) throws {
        let polite = try serve(.send("a"), .close)
        defer { polite.stop() }
        let script = try serve(.send("a"), .closeUnannounced)
        defer { script.stop() }
        let rude = try serve(.send("a"), .close) { $0.announcesEnd = false }
        defer { rude.stop() }
        let reply = try serve()
        defer { reply.stop() }
        reply.enqueue(.text("a").closeDelimited().endingUnannounced())

        #expect(try connect(polite, version).readToEnd() == "a")
        for server in [script, rude] {
            let client = try connect(server, version)
            #expect(try client.read(1) == "a")
            #expect(throws: TLSClient.Failure(reason: "unannounced end")) { try client.read(1) }
            client.raw.close()
            #expect(try server.waitForEnd(ofConnection: 1) == .serverClosed)
        }
        let client = try connect(reply, version)
        try client.send(Self.request)
        #expect(throws: TLSClient.Failure(reason: "unannounced end")) { try client.readToEnd() }
    }

    @Test func `a reset goes through TLS`() throws {
        let server = try serve(.receive(1), .reset)
        defer { server.stop() }
        let client = try connect(server)

        try client.send("x")

        #expect(throws: RawClient.Failure(call: "recv", code: ECONNRESET)) { try client.readToEnd() }
    }

    @Test(arguments: [0x0303, 0x0304] as [Int32])
    func `data may follow close_notify`(version: Int32) throws {
        let server = try serve(.send("before"), .announceEnd, .send("after"), .closeUnannounced)
        defer { server.stop() }
        let client = try connect(server, version)

        #expect(try client.readToEnd() == "before")
        let rest = try client.raw.readToEnd()
        #expect(client.records.last?.type == 23 || !rest.isEmpty)
        client.raw.close()
        #expect(try server.waitForEnd(ofConnection: 1) == .serverClosed)
    }

    // MARK: - After the handshake

    @Test func `records have the size of the step`() throws {
        let server = try serve(.receive(1), .send("0123456789", recordsOf: 3), .close) { $0.ticketCount = 0 }
        defer { server.stop() }
        let client = try connect(server)

        let before = client.records.count
        try client.send("x")
        #expect(try client.readToEnd() == "0123456789")

        // One byte for the type and sixteen for the tag; the last record is close_notify.
        let sizes = client.records.dropFirst(before).map(\.count)
        #expect(sizes == [20, 20, 20, 18, 19])
    }

    @Test(arguments: [false, true])
    func `keys are updated any number of times`(asksBack: Bool) throws {
        let server = try serve(
            .updateKeys(50, asksBack: asksBack),
            .send("still here"),
            .receive(2),
            .send("!"),
            .close
        )
        defer { server.stop() }
        let client = try connect(server)

        #expect(try client.read(10) == "still here")
        try client.send("ok")
        #expect(try client.readToEnd() == "!")
        #expect(client.records.filter { $0.type == 23 }.count >= 50)
    }

    @Test func `any number of tickets is sent`() throws {
        let server = try serve(.receive(1), .sendTickets(40), .send("done"), .close) { $0.ticketCount = 0 }
        defer { server.stop() }
        let client = try connect(server)

        let before = client.records.count
        try client.send("x")

        #expect(try client.readToEnd() == "done")
        #expect(client.records.count - before == 42)
    }

    @Test func `a new handshake is asked for`() throws {
        let server = try serve(.send("a"), .renegotiate, .expectEnd)
        defer { server.stop() }
        let client = try connect(server, 0x0303)

        #expect(try client.read(1) == "a")
        _ = try? client.read(1)
        client.raw.close()

        try server.waitForEnd(ofConnection: 1)
        #expect(server.connections[0].tls?.receivedAlert == .init(number: 100))
    }

    @Test func `a certificate is asked for after the handshake`() throws {
        let server = try serve(.send("a"), .requestCertificate, .expectEnd)
        defer { server.stop() }
        let client = try connect(server)

        #expect(try client.read(1) == "a")
        #expect(throws: TLSClient.Failure.self) { try client.read(1) }
        client.raw.close()

        try server.waitForEnd(ofConnection: 1)
        // unexpected_message: the client has not offered post_handshake_auth.
        #expect(server.connections[0].tls?.receivedAlert == .init(number: 10))
    }

    @Test(
        arguments: [
            "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
            "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
        ]
    )
    func `alerts and other records are encrypted like OpenSSL's own`(suite: String) throws {
        let isNew = suite.hasPrefix("TLS_")
        let server = try serve(
            .send("one "),
            .sendRecord(type: 23, bytes: "two ".utf8),
            .sendRecord(type: 23, bytes: []),
            .send("three"),
            .sendAlert(80)
        ) {
            if isNew { $0.cipherSuites = suite } else { $0.cipherList = suite }
        }
        defer { server.stop() }
        let client = try connect(server, isNew ? 0x0304 : 0x0303)

        #expect(try client.read(13) == "one two three")
        #expect(throws: TLSClient.Failure(reason: "tlsv1 alert internal error")) { try client.read(1) }
    }

    @Test func `close_notify can be sent after records of the script`() throws {
        let server = try serve(.sendRecord(type: 23, bytes: "a".utf8), .close)
        defer { server.stop() }

        #expect(try connect(server).readToEnd() == "a")
    }

    @Test func `plain bytes on the wire break TLS`() throws {
        let server = try serve(.sendOnWire(bytes: "HTTP/1.1 200 OK\r\n\r\n".utf8), .expectEnd)
        defer { server.stop() }
        let client = try connect(server)

        #expect(throws: TLSClient.Failure.self) { try client.read(1) }
        client.raw.close()
        try server.waitForEnd(ofConnection: 1)
    }

    @Test func `an action that fails fails the script and says why`() throws {
        let cases: [(TestServer, Int32, String)] = [
            (try serve(.updateKeys()), 0x0303, "step 1: OpenSSL does not send KeyUpdate: wrong ssl version"),
            (
                try serve(.updateKeys(), .sendAlert(1)), 0x0304,
                "step 2: records of your own need TLS 1.3, or 1.2 with AES-GCM, and come before KeyUpdate"
            ), (try serve(.renegotiate), 0x0304, "step 1: OpenSSL does not send HelloRequest: wrong ssl version"),
            (
                try serve(.sendAlert(1, isFatal: false), .sendTickets(1)), 0x0304,
                "step 2: a ticket cannot follow records of your own"
            ), (try serve(.handshake, .handshake), 0x0304, "step 2: there was a TLS handshake before"),
        ]
        for (server, version, reason) in cases {
            defer { server.stop() }
            // If the client closed early, the connection would end otherwise.
            let client = try connect(server, version)
            #expect(try server.waitForEnd(ofConnection: 1) == .scriptFailed(reason))
            client.raw.close()
        }
        let plain = try TestServer()
        plain.script(.announceEnd)
        plain.script(.handshake)
        let clients = [try RawClient(plain), try RawClient(plain)]
        #expect(try plain.waitForEnd(ofConnection: 1) == .scriptFailed("step 1: there was no TLS handshake"))
        let missing = RecordedConnection.End.scriptFailed("step 1: the server has no certificate; say which")
        #expect(try plain.waitForEnd(ofConnection: 2) == missing)
        for client in clients { client.close() }
    }

    // MARK: - Where TLS begins

    @Test func `a proxy speaks plain HTTP, then TLS`() throws {
        let proxy = try TestServer()
        proxy.enqueue(.text("inside").keepAlive(false))
        proxy.script(.expectHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .handshake(ServerTLS(site)), .serve)
        let raw = try RawClient(proxy)

        try raw.send("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
        #expect(try raw.readHead() == "HTTP/1.1 200 OK\r\n\r\n")
        let client = try TLSClient(proxy, over: raw)
        try client.handshake()
        try client.send(Self.request)

        #expect(try client.readToEnd().hasSuffix("\r\n\r\ninside"))
        #expect(proxy.requests.map(\.method) == ["CONNECT", "GET"])
        let connection = proxy.connections[0]
        #expect(connection.received.starts(with: Data("CONNECT a.test".utf8)))
        #expect(connection.received.suffix(Self.request.utf8.count) == Data(Self.request.utf8))
        #expect(connection.wire.starts(with: Data("CONNECT a.test".utf8)))
    }

    @Test func `a ClientHello that arrives before its step is read`() throws {
        let server = try serve(.expect("STARTTLS"), .handshake, .expect("secret"), .send("ok"))
        defer { server.stop() }
        let hello = try firstMessage()
        let raw = try RawClient(server)

        try raw.send(bytes: Array("STARTTLS".utf8) + hello)
        raw.shutDownWriting()
        try server.waitForEnd(ofConnection: 1)

        let connection = server.connections[0]
        #expect(connection.received == Data("STARTTLS".utf8))
        #expect(connection.bytesReceived == 8)
        #expect(connection.wire == Data("STARTTLS".utf8) + Data(hello))
        #expect(connection.tls?.serverName == "localhost")
        #expect(connection.end == .handshakeFailed("the client closed the connection"))
    }
}
