import AFNetworking
import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

extension NginxTests {
    /// The same server over TLS.
    struct Secured {
        private let authority: CertificateAuthority

        init() throws {
            authority = try CertificateAuthority()
        }

        private func session(_ configure: (inout TLSConfiguration) -> Void = { _ in }) -> URLSession {
            var tls = TLSConfiguration()
            tls.anchors = .certificates([authority.certificate])
            configure(&tls)
            return .fresh {
                $0.tls = tls
                $0.httpMaximumConnectionsPerHost = 1
            }
        }

        private static let kinds: [(String, CertificateKey.Kind)] = [
            ("TLSv1.2", .p256), ("TLSv1.3", .p256), ("TLSv1.2", .rsa(bits: 2048)), ("TLSv1.3", .rsa(bits: 2048)),
        ]

        @Test(arguments: kinds)
        func `requests share a connection, and connections a session`(
            version: String,
            kind: CertificateKey.Kind
        ) async throws {
            let site = try authority.makeIntermediate().issue(for: "127.0.0.1", kind: kind)
            let server = try await ServerProcess.nginx(
                site,
                "ssl_protocols \(version); location = /bye { keepalive_timeout 0; return 200 $ssl_session_reused; }"
            )
            let session = session()

            let first = try Answer(await session.data(from: server.url("/handshake")))
            let numbers = try await [1, 2].asyncMap { _ in
                try Answer(await session.data(from: server.url("/connection"))).connection
            }
            let reused = try await [1, 2, 3].asyncMap { _ in
                try Answer(await session.data(from: server.url("/bye"))).text
            }

            #expect(first.text == "\(version) . NONE")
            #expect(Set(numbers).count == 1)
            // The first goodbye is said on the connection that is there.
            #expect(reused == [".", "r", "r"])
        }

        @Test func `an identity is verified by the server`() async throws {
            let site = try authority.issue(for: "127.0.0.1")
            let roots = authority.pem
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
            try Data(roots.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let server = try await ServerProcess.nginx(
                site,
                "ssl_verify_client optional; ssl_client_certificate \(file.path);"
            )
            let client = try authority.issueClient("somebody")
            let identity = try ClientIdentity(
                certificates: [client.certificate],
                privateKeyPEM: Array(client.privateKeyPEM.utf8)
            )

            let shown = try Answer(await session { $0.identity = identity }.data(from: server.url("/handshake")))
            let withheld = try Answer(await session().data(from: server.url("/handshake")))

            #expect(shown.text.hasSuffix("SUCCESS") && withheld.text.hasSuffix("NONE"))
        }

        @Test func `large bodies arrive whole`() async throws {
            let server = try await ServerProcess.nginx(try authority.issue(for: "127.0.0.1"), "")
            let file = Data((0..<33_000_000).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ $0 >> 11) })
            try server.put(file, at: "large")

            let answer = try Answer(await session().data(from: server.url("/large")))

            #expect(answer.body == file)
        }

        @Test func `a pinned intermediate is enough, in both modes`() async throws {
            let intermediate = try authority.makeIntermediate()
            let server = try await ServerProcess.nginx(try intermediate.issue(for: "127.0.0.1"), "")

            for mode in [SSLPinningMode.publicKey, .certificate] {
                let policy = SecurityPolicy(pinningMode: mode, certificates: [intermediate.certificate])
                let answer = try Answer(await session { $0.evaluator = policy }.data(from: server.url("/handshake")))
                #expect(answer.status == 200)
            }
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
