import AFNetworking
import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

/// Against `openssl s_server`.
@Suite(.enabled(if: Nginx.isServing), .timeLimit(.minutes(1)))
struct OpenSSLServerTests {
    private let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority()
    }

    private func session(_ configure: (inout TLSConfiguration) -> Void = { _ in }) -> URLSession {
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        configure(&tls)
        return .fresh { $0.tls = tls }
    }

    private func code(_ session: URLSession, _ url: URL) async -> Int? {
        do {
            _ = try await session.data(from: url)
            return nil
        } catch {
            return (error as? URLError)?.code.rawValue
        }
    }

    @Test(
        arguments: [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")],
        [CertificateKey.Kind.p256, .rsa(bits: 2048)]
    )
    func `either version with either kind of key`(version: (String, String), kind: CertificateKey.Kind) async throws {
        let site = try authority.issue(for: "127.0.0.1", kind: kind)
        let server = try await ServerProcess.openSSL(site, ["-www", version.0])

        let answer = try Answer(await session().data(from: server.url()))

        #expect(answer.status == 200 && answer.text.contains("Protocol  : \(version.1)"))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a certificate of ours, required`(version: String) async throws {
        let site = try authority.issue(for: "127.0.0.1")
        let client = try authority.issueClient("somebody")
        let roots = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
        try Data(authority.pem.utf8).write(to: roots)
        defer { try? FileManager.default.removeItem(at: roots) }
        let server = try await ServerProcess.openSSL(
            site,
            ["-www", version, "-Verify", "1", "-verify_return_error", "-CAfile", roots.path]
        )
        let identity = try ClientIdentity(
            certificates: [client.certificate],
            privateKeyPEM: Array(client.privateKeyPEM.utf8)
        )

        #expect(await code(session(), server.url()) == -1206)
        #expect(await code(session { $0.identity = identity }, server.url()) == nil)
    }

    @Test(
        "a refused server gets neither certificate nor request byte",
        arguments: ["-tls1_2", "-tls1_3"],
        [true, false]
    )
    func promise(version: String, byPolicy: Bool) async throws {
        let site = try authority.issue(for: "127.0.0.1")
        let client = try authority.issueClient("somebody")
        let server = try await ServerProcess.openSSL(site, ["-Verify", "1", "-msg", version])
        let relay = try RecordingRelay(to: server.port)
        let stranger = try CertificateAuthority().certificate
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        tls.identity = try ClientIdentity(
            certificates: [client.certificate],
            privateKeyPEM: Array(client.privateKeyPEM.utf8)
        )
        if byPolicy { tls.evaluator = SecurityPolicy(pinningMode: .publicKey, certificates: [stranger]) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls = tls
        let delegate = SlowRefusal()
        let session = URLSession(configuration: configuration, delegate: byPolicy ? nil : delegate, delegateQueue: nil)
        var request = URLRequest(url: URL(string: "https://127.0.0.1:\(relay.port)/canary")!)
        request.setValue("Bearer canary", forHTTPHeaderField: "Authorization")

        let error = await #expect(throws: URLError.self) { _ = try await session.data(for: request) }

        #expect(error?.code.rawValue == (byPolicy ? -1202 : -999))
        try await until { server.output.contains("Alert") }
        // What the server itself says it received.
        let received = server.output.split(separator: "\n").filter { $0.hasPrefix("<<<") }
        #expect(received.contains { $0.contains("ClientHello") } && received.contains { $0.contains("Alert") })
        #expect(!received.contains { $0.contains("Handshake") && !$0.contains("ClientHello") }, "\(received)")
        // And every byte that was sent to it.
        let (connections, bytes) = relay.captured
        #expect(connections == 1)
        let records = records(of: bytes)
        #expect(records.first?.type == 22 && records.dropFirst().allSatisfy { $0.count <= 19 && $0.type != 22 })
        #expect(bytes.range(of: Data(client.certificate.derBytes)) == nil)
    }

    private func records(of bytes: Data) -> [(type: UInt8, count: Int)] {
        var rest = Array(bytes)[...]
        var found: [(type: UInt8, count: Int)] = []
        while rest.count >= 5 {
            let start = rest.startIndex
            let count = Int(rest[start + 3]) << 8 | Int(rest[start + 4])
            found.append((rest[start], count))
            rest = rest.dropFirst(5 + count)
        }
        return found
    }

    private func until(_ isSo: () -> Bool) async throws {
        for _ in 0..<300 where !isSo() { try await Task.sleep(for: .milliseconds(10)) }
        #expect(isSo())
    }

    @Test func `an intermediate that is not sent is missed, one that is sent is not`() async throws {
        let intermediate = try authority.makeIntermediate()
        let site = try intermediate.issue(for: "127.0.0.1")

        let without = try await ServerProcess.openSSL(site, ["-www"], sending: false)
        #expect(await code(session(), without.url()) == -1203)
        #expect(
            await code(session { $0.anchors = $0.anchors.adding([intermediate.certificate]) }, without.url()) == nil
        )

        let with = try await ServerProcess.openSSL(site, ["-www"])
        #expect(await code(session(), with.url()) == nil)
    }

    @Test func `expired, not yet valid, for another host, self-signed`() async throws {
        let day: TimeInterval = 86400
        let expired = try authority.issue(for: "127.0.0.1") { template in
            template.notBefore = Date(timeIntervalSinceNow: -9 * day)
            template.notAfter = Date(timeIntervalSinceNow: -day)
        }
        let early = try authority.issue(for: "127.0.0.1") { template in
            template.notBefore = Date(timeIntervalSinceNow: day)
            template.notAfter = Date(timeIntervalSinceNow: 9 * day)
        }
        let stranger = try authority.issue(for: "other.test")
        let own = try CertificateAuthority().issue(for: "127.0.0.1")

        for (site, expected) in [(expired, -1201), (early, -1204), (stranger, -1202), (own, -1203)] {
            let server = try await ServerProcess.openSSL(site, ["-www"])
            #expect(await code(session(), server.url()) == expected)
        }
    }

    @Test func `a pin taken back refuses the key it was for`() async throws {
        let site = try authority.issue(for: "127.0.0.1")
        let next = try authority.issue(for: "127.0.0.1")
        let server = try await ServerProcess.openSSL(site, ["-www"])
        let session = session()

        session.tls.evaluator = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])
        #expect(await code(session, server.url()) == nil)
        session.tls.evaluator = SecurityPolicy(pinningMode: .publicKey, certificates: [next.certificate])
        #expect(await code(session, server.url()) == -1202)
    }

    @Test(
        arguments: [
            ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], ["-tls1_2", "-cipher", "AES128-SHA"], ["-alpn", "h2"],
        ]
    )
    func `what is out of date, or was not offered, is refused`(arguments: [String]) async throws {
        let server = try await ServerProcess.openSSL(
            try authority.issue(for: "127.0.0.1", kind: .rsa(bits: 2048)),
            ["-www"] + arguments
        )

        #expect(await code(session(), server.url()) == -1200)
    }
}

/// Takes half a second to say no.
private final class SlowRefusal: URLSessionDelegate {
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // Not in a Swift task: those wait while other tests keep all threads busy, and the session waits less.
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) {
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}
