import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// Policies in sessions, against a server.
@Suite struct PinnedSessionTests {
    private let root: CertificateAuthority
    private let site: IssuedCertificate

    init() throws {
        root = try CertificateAuthority()
        site = try root.issue(for: "127.0.0.1")
    }

    private func session(_ policy: SecurityPolicy) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([root.certificate])
        configuration.tls.evaluator = policy
        return URLSession(configuration: configuration)
    }

    private func failure(_ session: URLSession, _ url: URL) async throws -> URLError {
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        return try #require(error)
    }

    @Test("a session refuses plain http to hosts that its policy pins, and does not connect, T-TLS-20")
    func plainText() async throws {
        let server = try TestServer()
        defer { server.stop() }
        server.route("GET", "/hello", .text("hello"))
        let rule = SecurityPolicy()
        rule.hostRules = [try .pins("127.0.0.1", PinSet([.certificate(site.certificate)]))]
        let pinning = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])
        let exempt = pinning.copy()
        exempt.hostRules = [try .noPins("127.0.0.1")]

        for policy in [rule, pinning] {
            let error = try await failure(session(policy), server.url("/hello"))
            #expect(error.code == .unsupportedURL)
            #expect(error.loadFailure?.reason == .request && error.loadFailure?.detail == .scheme)
            #expect(error.loadFailure?.message.contains("Use https") == true)
        }
        #expect(server.connections.isEmpty)
        for policy in [exempt, SecurityPolicy()] {
            #expect(try await session(policy).data(from: server.url("/hello")).0 == Data("hello".utf8))
        }
    }

    @Test("a server with a pin is loaded from, one without receives nothing, T-TLS-15, T-TLS-22")
    func pinned() async throws {
        let server = try TestServer(tls: ServerTLS(site))
        defer { server.stop() }
        server.route("GET", "/hello", .text("hello"))
        let policy = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])
        let session = session(policy)

        #expect(try await session.data(from: server.url("/hello")).0 == Data("hello".utf8))
        policy.pinnedCertificates = [Data(try CertificateAuthority().certificate.derBytes)]
        let error = try await failure(session, server.url("/secret"))

        #expect(error.code == .serverCertificateUntrusted)
        #expect(error.loadFailure?.security?.rule == "pinned public keys")
        #expect(error.loadFailure?.message.contains(site.certificate.pin.description) == true)
        #expect(server.requests.map(\.path) == ["/hello"])
    }
}
