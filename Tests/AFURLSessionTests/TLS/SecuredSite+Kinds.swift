import AFTLS

extension SecuredSite {
    /// A site that ends every connection after `/bye`, so that the next request needs another handshake.
    static func parting(
        _ change: (inout ServerTLS, CertificateAuthority) throws -> Void = { _, _ in }
    ) throws -> SecuredSite {
        let site = try SecuredSite(change)
        site.server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
        return site
    }

    /// A site whose certificate was issued in another way.
    init(authority: CertificateAuthority, _ leaf: IssuedCertificate) throws {
        self.authority = authority
        server = try TestServer(tls: ServerTLS(leaf))
        server.route("GET", "/hello", .text("hello"))
    }

    /// Loads `/bye`, once or more often.
    func bye(_ session: URLSession, _ count: Int = 1) async throws -> [Outcome] {
        var outcomes: [Outcome] = []
        for _ in 0..<count { outcomes.append(try await session.outcome(of: server.url("/bye"))) }
        return outcomes
    }

    /// A configuration that trusts the authority of the site.
    var tls: TLSConfiguration {
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        return tls
    }

    /// A session with one connection at a time.
    func narrowSession(_ configure: (inout TLSConfiguration) -> Void = { _ in }) -> URLSession {
        var tls = tls
        configure(&tls)
        return .loopback { configuration in
            configuration.tls = tls
            configuration.httpMaximumConnectionsPerHost = 1
        }
    }

    /// An identity that the site's authority vouches for.
    func identity(_ name: String, hosts: [String]? = nil) throws -> ClientIdentity {
        try ClientIdentity(try authority.issueClient(name), hosts: hosts)
    }

    /// An https URL also while the server does not speak TLS.
    func secureURL(_ path: String) throws -> URL {
        try #require(URL(string: "https://127.0.0.1:\(server.port)\(path)"))
    }

    /// All handshakes, in order, once every connection has ended.
    func handshakes() async throws -> [RecordedHandshake] {
        try await server.waitUntilIdle().compactMap(\.tls)
    }
}

extension TLSConfiguration {
    mutating func speak(_ version: TLSVersion) {
        minimumVersion = version
        maximumVersion = version
    }
}

extension RecordedHandshake {
    /// Nothing in it points back to an earlier handshake. In TLS 1.3 the session id is made up.
    var isFresh: Bool { !offeredTicket && !isResumed && (offeredVersions.contains(0x0304) || sessionID.isEmpty) }
}

extension Outcome {
    var detail: LoadFailure.Detail? { error?.loadFailure?.detail }
}

/// A server behind a Unix-domain socket: there, every host is at home.
struct NamedSite {
    let authority: CertificateAuthority
    let server: TestServer
    private let folder: URL
    private let path: String

    /// - Parameter hosts: The names its certificate is for.
    init(
        _ hosts: [String],
        _ change: (inout ServerTLS, CertificateAuthority) throws -> Void = { _, _ in }
    ) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "af-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        path = folder.appending(path: "s").path
        authority = try CertificateAuthority()
        var tls = ServerTLS(try authority.issue(.server(for: hosts)))
        try change(&tls, authority)
        server = try TestServer(on: .unix(path), tls: tls)
        server.route("GET", "/hello", .text("hello"))
        server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
    }

    func session(
        delegate: (any URLSessionDelegate)? = nil,
        _ configure: (inout TLSConfiguration) -> Void = { _ in }
    ) -> URLSession {
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        configure(&tls)
        return .loopback(delegate: delegate) { configuration in
            configuration.tls = tls
            configuration.unixDomainSocketPath = path
        }
    }

    /// Ends the server and removes its socket.
    func close() {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}
