import AFNetworkingTesting
import CAFOpenSSL
import Foundation
import Testing

@Suite struct HandshakeRecordTests {
    private static let request = "GET /hi HTTP/1.1\r\nHost: x\r\n\r\n"

    private let authority: CertificateAuthority
    private let site: IssuedCertificate

    init() throws {
        authority = try CertificateAuthority()
        site = try authority.issue(for: "localhost", "127.0.0.1", "::1")
    }

    private func serve(_ change: (inout ServerTLS) -> Void = { _ in }) throws -> TestServer {
        var tls = ServerTLS(site)
        change(&tls)
        let server = try TestServer(tls: tls)
        server.route("GET", "/hi", .text("hello"))
        return server
    }

    @Test func `the offer of the client is recorded`() throws {
        let server = try serve()
        defer { server.stop() }
        let client = try TLSClient(server, .init(ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256", protocols: ["a", "bc"]))

        try client.handshake()
        try client.send(Self.request)
        try server.waitForRequests(1)

        let tls = try #require(server.connections[0].tls)
        #expect(tls.serverName == "localhost")
        #expect(tls.offeredProtocols == ["a", "bc"])
        #expect(tls.offeredVersions == [0x0304, 0x0303])
        #expect(Set(tls.offeredCipherSuites).isSuperset(of: [0x1301, 0x1302, 0x1303, 0xC02B]))
        #expect(!tls.offeredCipherSuites.contains(0xC02C))
        #expect(tls.sessionID.count == 32)
        #expect(!tls.offeredTicket && !tls.offeredEarlyData && !tls.isResumed)
        #expect(tls.isComplete && tls.failure == nil && tls.receivedAlert == nil)
        #expect(tls.version == .tls13)
        #expect(tls.cipherSuite == "TLS_AES_256_GCM_SHA384")
        #expect(tls.clientCertificates.isEmpty)
    }

    @Test func `a TLS 1.2 client has no list of versions`() throws {
        let server = try serve()
        defer { server.stop() }
        let client = try TLSClient(server, .init(serverName: nil, versions: 0x0303...0x0303))

        try client.handshake()

        let tls = try #require(server.connections[0].tls)
        #expect(tls.offeredVersions == [0x0303])
        #expect(tls.serverName == nil && tls.sessionID.isEmpty)
    }

    @Test func `the bytes on the wire are recorded apart from the decrypted ones`() throws {
        let server = try serve()
        defer { server.stop() }
        let client = try TLSClient(server)

        try client.handshake()
        try client.send(Self.request)
        // Closing before the answer is read would reset the connection.
        #expect(try client.read(15) == "HTTP/1.1 200 OK")
        try client.close()
        #expect(try server.waitForEnd(ofConnection: 1) == .clientClosed)

        let connection = server.connections[0]
        #expect(connection.received == Data(Self.request.utf8))
        #expect(connection.wire.prefix(2) == Data([22, 3]))
        #expect(connection.wire.count > connection.received.count + 200)
        #expect(!connection.wire.contains(Data("GET /hi".utf8)))
        #expect(connection.wire.contains(Data("localhost".utf8)))
        #expect(connection.tls?.receivedEnd == true)
    }

    @Test func `without TLS both records are the same`() throws {
        let server = try TestServer()
        let client = try RawClient(server)

        try client.send(Self.request)
        client.close()
        try server.waitForEnd(ofConnection: 1)

        #expect(server.connections[0].wire == server.connections[0].received)
        #expect(server.connections[0].tls == nil)
    }

    @Test func `a client that refuses the certificate sends an alert and no data`() throws {
        let server = try serve()
        defer { server.stop() }
        let neighbour = try TLSClient(server)
        try neighbour.handshake()
        let client = try TLSClient(server, .init(anchors: []))

        #expect(throws: TLSClient.Failure(reason: "certificate verify failed")) { try client.verifyingHandshake() }

        #expect(try server.waitForEnd(ofConnection: 2) == .handshakeFailed("the client sent the alert unknown CA (48)"))
        let connection = server.connections[1]
        #expect(connection.tls?.receivedAlert == .init(number: 48))
        #expect(connection.tls?.failure == "the client sent the alert unknown CA (48)")
        #expect(connection.tls?.isComplete == false)
        #expect(connection.bytesReceived == 0 && connection.requestCount == 0)
        try neighbour.send(Self.request)
        #expect(try neighbour.read(15) == "HTTP/1.1 200 OK")
    }

    @Test func `a client that closes, or does not speak TLS, fails its handshake`() throws {
        let server = try serve()
        defer { server.stop() }

        let silent = try RawClient(server)
        silent.close()
        let plain = try RawClient(server)
        try plain.send(Self.request)

        #expect(try server.waitForEnd(ofConnection: 1) == .handshakeFailed("the client closed the connection"))
        #expect(try server.waitForEnd(ofConnection: 2) == .handshakeFailed("http request"))
        #expect(server.connections[1].wire == Data(Self.request.utf8))
        #expect(server.connections[1].received.isEmpty)
        #expect(server.requests.isEmpty)
    }

    @Test func `stop does not wait for a handshake`() throws {
        let server = try serve()
        let silent = try RawClient(server)
        try server.waitForConnections(1)

        server.stop()

        #expect(server.connections[0].end == .serverStopped)
        #expect(try silent.readToEnd() == "")
    }

    // MARK: - Resumption

    private func visit(_ server: TestServer, _ wishes: TLSClient.Wishes) throws -> TLSClient {
        let client = try TLSClient(server, wishes)
        try client.handshake()
        try client.send(Self.request)
        // Messages before the answer, such as tickets, are read now.
        #expect(try client.read(15) == "HTTP/1.1 200 OK")
        return client
    }

    @Test(arguments: [0x0303, 0x0304] as [Int32])
    func `a ticket resumes, also after a change of certificates`(version: Int32) throws {
        var tls = ServerTLS(site)
        let server = try TestServer(tls: tls)
        server.route("GET", "/hi", .text("hello"))
        let first = try visit(server, .init(versions: version...version))

        tls.credentials = [.init(try CertificateAuthority().issue(for: "localhost"))]
        try server.use(tls: tls)
        let second = try visit(server, .init(versions: version...version, session: first.session))

        #expect(second.isResumed)
        #expect(server.connections.map { $0.tls?.offeredTicket } == [false, true])
        #expect(server.connections.map { $0.tls?.isResumed } == [false, true])
    }

    @Test func `a session id resumes without tickets`() throws {
        let server = try serve { $0.ticketCount = 0 }
        defer { server.stop() }
        let first = try visit(server, .init(versions: 0x0303...0x0303))
        let session = first.session
        try first.close()
        try server.waitForEnd(ofConnection: 1)

        let second = try visit(server, .init(versions: 0x0303...0x0303, session: session))

        #expect(second.isResumed)
        #expect(server.connections[1].tls?.offeredTicket == false)
        #expect(server.connections[1].tls?.sessionID.count == 32)
        #expect(server.connections[1].tls?.isResumed == true)
    }

    @Test func `a resumed session has the client's certificate`() throws {
        let me = try authority.issueClient("me")
        let server = try serve { $0.clientCertificates = .required(by: [authority.certificate]) }
        defer { server.stop() }
        let first = try visit(server, .init(identity: me))

        let second = try visit(server, .init(session: first.session))

        #expect(second.isResumed)
        #expect(server.connections.map { $0.tls?.clientCertificates } == [[me.certificate], [me.certificate]])
    }

    @Test func `without tickets and ids there is no resumption`() throws {
        let server = try serve { ($0.ticketCount, $0.keepsSessions) = (0, false) }
        defer { server.stop() }
        for version in [0x0303, 0x0304] as [Int32] {
            let first = try visit(server, .init(versions: version...version))
            let second = try visit(server, .init(versions: version...version, session: first.session))
            #expect(!second.isResumed)
        }
    }

    @Test(arguments: [0, 1, 5])
    func `the server sends as many tickets as told`(count: Int) throws {
        let server = try serve { $0.ticketCount = count }
        defer { server.stop() }

        let client = try visit(server, .init(versions: 0x0304...0x0304))

        // ServerHello, ChangeCipherSpec, and one record each for EncryptedExtensions, Certificate, CertificateVerify
        // and Finished; then the tickets and the answer.
        let encrypted = client.records.filter { $0.type == 23 }.count
        let none = try serve { $0.ticketCount = 0 }
        defer { none.stop() }
        let plain = try visit(none, .init(versions: 0x0304...0x0304)).records.filter { $0.type == 23 }.count
        #expect(encrypted - plain == count)
    }

    @Test(arguments: [false, true])
    func `the ticket allows early data or not, as told`(invites: Bool) throws {
        let server = try serve { $0.invitesEarlyData = invites }
        defer { server.stop() }

        let session = try #require(try visit(server, .init(versions: 0x0304...0x0304)).session)

        #expect((SSL_SESSION_get_max_early_data(session.handle) > 0) == invites)
    }

    @Test func `an offer of early data is recorded`() throws {
        let server = try serve()
        defer { server.stop() }
        let client = try TLSClient(server)
        try client.handshake()
        var hello = Array(server.connections[0].wire)
        hello = Array(hello.prefix(5 + Int(hello[3]) << 8 + Int(hello[4])))

        let other = try RawClient(server)
        try other.send(bytes: Self.announcingEarlyData(hello))
        other.shutDownWriting()
        try server.waitForEnd(ofConnection: 2)

        #expect(server.connections[1].tls?.offeredEarlyData == true)
        #expect(server.connections[1].tls?.serverName == "localhost")
    }

    /// The same message with one more extension at its end.
    private static func announcingEarlyData(_ hello: [UInt8]) -> [UInt8] {
        var bytes = hello + [0, 42, 0, 0]
        // The headers of record and message, version and random number; then fields with their lengths.
        var offset = 5 + 4 + 2 + 32
        offset += 1 + Int(bytes[offset])
        offset += 2 + Int(bytes[offset]) << 8 + Int(bytes[offset + 1])
        offset += 1 + Int(bytes[offset])
        for length in [3, 7, offset] {
            let value = Int(bytes[length]) << 8 + Int(bytes[length + 1]) + 4
            (bytes[length], bytes[length + 1]) = (UInt8(value >> 8), UInt8(value & 0xFF))
        }
        return bytes
    }
}
