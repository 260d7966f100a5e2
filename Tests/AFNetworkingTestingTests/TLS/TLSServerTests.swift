import AFNetworkingTesting
import AFTLS
import CAFOpenSSL
import Foundation
import Testing

@Suite struct TLSServerTests {
    private static let request = "GET /hi HTTP/1.1\r\nHost: x\r\n\r\n"
    static let versions: [Int32] = [0x0303, 0x0304]

    private let authority: CertificateAuthority
    private let site: IssuedCertificate

    init() throws {
        authority = try CertificateAuthority()
        site = try authority.issue(for: "localhost", "127.0.0.1", "::1")
    }

    private func serve(
        _ change: (inout ServerTLS) throws -> Void = { _ in }
    ) throws -> TestServer {
        var tls = ServerTLS(site)
        try change(&tls)
        let server = try TestServer(tls: tls)
        server.route("GET", "/hi", .text("hello"))
        return server
    }

    // MARK: - Serving

    @Test(arguments: versions)
    func `routes answer through TLS`(version: Int32) throws {
        let server = try TestServer(tls: ServerTLS(site))
        server.route("GET", "/hi", .text("hello").keepAlive(false))
        let client = try TLSClient(server, .init(anchors: [authority.certificate], versions: version...version))

        try client.verifyingHandshake()
        try client.send(Self.request)

        #expect(try client.readToEnd().hasSuffix("\r\n\r\nhello"))
        #expect(client.verifyResult == Int(X509_V_OK))
        #expect(client.version == version)
        try client.close()
        #expect(try server.waitForEnd(ofConnection: 1) == .serverClosed)
        #expect(server.connections[0].received == Data(Self.request.utf8))
        #expect(server.connections[0].bytesReceived == Self.request.utf8.count)
        #expect(server.requests.map(\.target) == ["/hi"])
    }

    @Test func `large bodies pass in both directions`() throws {
        let server = try serve()
        defer { server.stop() }
        server.route("POST", "/echo") { .data($0.body).keepAlive(false) }
        let client = try TLSClient(server)
        let body = String(repeating: "0123456789", count: 50_000)

        try client.handshake()
        try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")

        #expect(try client.readToEnd().hasSuffix("\r\n\r\n\(body)"))
        #expect(server.connections[0].bytesReceived > body.utf8.count)
    }

    @Test func `the URL has https and the requested host`() throws {
        let server = try serve()
        defer { server.stop() }
        let port = server.port

        #expect(server.url("/x?a").absoluteString == "https://127.0.0.1:\(port)/x?a")
        #expect(server.url("/x", host: "api.example.test").absoluteString == "https://api.example.test:\(port)/x")
        try server.use(tls: nil)
        #expect(server.url("/", host: "[::1]").absoluteString == "http://[::1]:\(port)/")
    }

    @Test func `settings that OpenSSL refuses are an error of the initializer`() throws {
        let other = ServerTLS.Credential(certificates: site.chain, key: try CertificateKey())
        let wrong = #expect(throws: TestServerError.self) { try TestServer(tls: ServerTLS(credentials: [other])) }
        #expect(wrong?.description.contains("refuses credential 1: private key mismatch") == true)

        #expect(throws: TestServerError.self) { try serve { $0.cipherSuites = "NONSENSE" } }
        #expect(throws: TestServerError.self) { try serve { $0.groups = "P-1" } }
    }

    // MARK: - Certificates

    @Test func `the server sends the chain as given`() throws {
        let deep = try authority.makeIntermediate().makeIntermediate().issue(for: "localhost")
        let extra = try CertificateAuthority().certificate
        let chains = [[], deep.issuers, deep.issuers.reversed(), deep.issuers + deep.issuers, [extra] + deep.issuers]

        for chain in chains {
            let server = try TestServer(tls: ServerTLS(credentials: [.init(deep, followedBy: chain)]))
            let client = try TLSClient(server)
            try client.handshake()
            #expect(client.servedChain == ([deep.certificate] + chain).map(\.derBytes))
        }
    }

    @Test func `the certificate is chosen by the name the client asks for`() throws {
        let wild = try authority.issue(for: "*.wild.test")
        let second = try authority.issue(for: "second.test")
        let server = try TestServer(tls: ServerTLS(site, wild, second))

        let names = ["second.test", "SECOND.test", "a.wild.test", "a.b.wild.test", "unknown.test", nil]
        let served = try names.map { name in
            let client = try TLSClient(server, .init(serverName: name))
            try client.handshake()
            return client.servedChain[0]
        }

        #expect(served == [second, second, wild, site, site, site].map(\.der))
        #expect(server.connections.map { $0.tls?.serverName } == names)
    }

    @Test func `certificates change while the server runs`() throws {
        let server = try serve()
        defer { server.stop() }
        let renewed = try authority.issue(for: "localhost", key: site.key)
        let before = try TLSClient(server)
        try before.handshake()

        try server.use(tls: ServerTLS(renewed))
        let after = try TLSClient(server)
        try after.handshake()
        try before.send(Self.request)

        #expect(try before.read(15) == "HTTP/1.1 200 OK")
        #expect(before.servedChain == [site.der])
        #expect(after.servedChain == [renewed.der])
    }

    @Test func `every defect reaches the client`() throws {
        let weak = try authority.issue(for: "localhost", kind: .rsa(bits: 1024)) { $0.digest = .sha1 }
        let server = try TestServer(tls: ServerTLS(weak))
        let careless = try TLSClient(server)
        let careful = try TLSClient(server, .init(anchors: [authority.certificate], level: 2))

        try careless.handshake()
        #expect(throws: TLSClient.Failure.self) { try careful.verifyingHandshake() }

        #expect(careless.servedChain == [weak.der])
    }

    // MARK: - Versions, suites, protocols

    @Test func `versions and suites are those of the settings`() throws {
        let old = try serve { ($0.minimumVersion, $0.maximumVersion) = (.tls10, .tls10) }
        defer { old.stop() }
        let suite = try serve {
            $0.maximumVersion = .tls12
            $0.cipherList = "ECDHE-ECDSA-CHACHA20-POLY1305"
        }
        defer { suite.stop() }

        let first = try TLSClient(old, .init(versions: 0x0301...0x0303, ciphers: "ALL:@SECLEVEL=0"))
        let second = try TLSClient(old)
        let third = try TLSClient(suite)
        try first.handshake()
        #expect(throws: TLSClient.Failure.self) { try second.handshake() }
        try third.handshake()

        #expect(try old.waitForEnd(ofConnection: 2) == .handshakeFailed("unsupported protocol"))
        #expect(old.connections[0].tls?.version == .tls10)
        #expect(suite.connections[0].tls?.cipherSuite == "ECDHE-ECDSA-CHACHA20-POLY1305")
    }

    @Test func `a server without certificates has only suites without authentication`() throws {
        var tls = ServerTLS(credentials: [])
        (tls.maximumVersion, tls.cipherList) = (.tls12, "aNULL")
        let server = try TestServer(tls: tls)
        let client = try TLSClient(server, .init(versions: 0x0303...0x0303, ciphers: "aNULL"))

        try client.handshake()

        #expect(client.servedChain.isEmpty)
    }

    @Test(
        arguments: [
            (.choose(["http/1.1"]), ["h2", "http/1.1"], "http/1.1"), (.choose(["x"]), ["http/1.1"], nil),
            (.nothing, ["h2"], nil), (.always("h2"), ["h2", "http/1.1"], "h2"),
        ] as [(ServerTLS.ALPN, [String], String?)]
    )
    func `the server chooses the protocol as told`(alpn: ServerTLS.ALPN, offered: [String], chosen: String?) throws {
        let server = try serve { $0.alpn = alpn }
        defer { server.stop() }
        let client = try TLSClient(server, .init(protocols: offered))

        try client.handshake()
        try client.send(Self.request)
        try server.waitForRequests(1)

        #expect(client.chosenProtocol == chosen)
        #expect(server.connections[0].tls?.offeredProtocols == offered)
        #expect(server.connections[0].tls?.chosenProtocol == chosen)
    }

    @Test func `a protocol that the client did not offer, and a refusal, reach the client`() throws {
        let hostile = try serve {
            $0.alpn = .always([0, 0xFF, 10])
            $0.maximumVersion = .tls12
        }
        defer { hostile.stop() }
        let refusing = try serve { $0.alpn = .refuse }
        defer { refusing.stop() }

        let client = try TLSClient(hostile)
        _ = try? client.handshake()
        let refused = try TLSClient(refusing)
        #expect(throws: TLSClient.Failure(reason: "tlsv1 alert no application protocol")) { try refused.handshake() }
        #expect(try refusing.waitForEnd(ofConnection: 1) == .handshakeFailed("no application protocol"))
        #expect(hostile.connections[0].tls?.offeredProtocols == ["http/1.1"])
    }

    // MARK: - Client certificates

    @Test(arguments: versions)
    func `a client's certificate is recorded`(version: Int32) throws {
        let clients = try CertificateAuthority("Clients")
        let me = try clients.makeIntermediate().issueClient("me")
        let server = try serve { $0.clientCertificates = .required(by: [clients.certificate]) }
        defer { server.stop() }
        let client = try TLSClient(server, .init(versions: version...version, identity: me))

        try client.handshake()
        try client.send(Self.request)
        try server.waitForRequests(1)

        #expect(server.connections[0].tls?.clientCertificates == me.chain)
    }

    @Test func `RSA keys on both sides fit on the stack of a connection`() throws {
        let root = try CertificateAuthority(kind: .rsa(bits: 1024))
        let long = try root.makeIntermediate().issue(for: "localhost", kind: .rsa) {
            $0.extendedKeyUsage = [.serverAuthentication, .clientAuthentication]
        }
        var tls = ServerTLS(long)
        tls.clientCertificates = .required(by: [root.certificate])
        let server = try TestServer(tls: tls)
        let client = try TLSClient(server, .init(anchors: [root.certificate], identity: long))

        try client.verifyingHandshake()
        try client.send(Self.request)
        try server.waitForRequests(1)

        #expect(server.connections[0].tls?.isComplete == true)
    }

    @Test func `a missing certificate that is required, and a wrong one, are refused`() throws {
        let clients = try CertificateAuthority("Clients")
        let stranger = try CertificateAuthority("Strangers").issueClient("them")
        let server = try serve { $0.clientCertificates = .required(by: [clients.certificate]) }
        defer { server.stop() }

        let anonymous = try TLSClient(server)
        try anonymous.handshake()
        #expect(throws: TLSClient.Failure.self) { try anonymous.readToEnd() }
        let them = try TLSClient(server, .init(identity: stranger))
        try them.handshake()
        #expect(throws: TLSClient.Failure(reason: "tlsv1 alert unknown ca")) { try them.readToEnd() }

        let end = try server.waitForEnd(ofConnection: 1)
        #expect(end == .handshakeFailed("peer did not return a certificate"))
        #expect(try server.waitForEnd(ofConnection: 2) == .handshakeFailed("certificate verify failed"))
        #expect(server.connections[1].tls?.clientCertificates == [stranger.certificate])
        #expect(server.connections.allSatisfy { $0.bytesReceived == 0 })
    }

    @Test func `a client may send any certificate or none if it is only requested`() throws {
        let stranger = try CertificateAuthority("Strangers").issueClient("them")
        let server = try serve { $0.clientCertificates = .requested }
        defer { server.stop() }
        for identity in [nil, stranger] {
            let client = try TLSClient(server, .init(identity: identity))
            try client.handshake()
            try client.send(Self.request)
            #expect(try client.read(15) == "HTTP/1.1 200 OK")
        }

        #expect(server.connections.map { $0.tls?.clientCertificates.count } == [0, 1])
    }
}
