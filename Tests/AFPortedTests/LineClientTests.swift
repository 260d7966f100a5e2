import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

@Suite("Ported code: streams")
struct LineClientTests {
    private func line(of client: LineClient) async throws -> String? {
        try await withCheckedThrowingContinuation { done in
            client.readLine { line, error in
                if let error = error { done.resume(throwing: error) } else { done.resume(returning: line) }
            }
        }
    }

    private func send(_ text: String, by client: LineClient) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, Error>) in
            client.send(text) { error in
                if let error = error { done.resume(throwing: error) } else { done.resume() }
            }
        }
    }

    @Test func `a dialogue of lines, in the clear and then secured`() async throws {
        let authority = try CertificateAuthority()
        let tls = ServerTLS(try authority.issue(for: "localhost"))
        let server = try TestServer()
        server.script(
            .send("220 ready\r\n"),
            .expect("STARTTLS\r\n"),
            .send("220 go ahead\r\n"),
            .handshake(tls),
            .expect("HELLO\r\n"),
            .send("250 hello\r\n221 bye\r\n"),
            .expectEnd,
            .close
        )
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([authority.certificate])
        let client = LineClient(host: "localhost", port: Int(server.port), configuration: configuration)

        #expect(try await line(of: client) == "220 ready")
        try await send("STARTTLS", by: client)
        #expect(try await line(of: client) == "220 go ahead")
        client.secure()
        try await send("HELLO", by: client)
        #expect(try await line(of: client) == "250 hello")
        #expect(try await line(of: client) == "221 bye")
        client.hangUp()
        _ = try await server.waitForEnd(ofConnection: 1)

        #expect(server.connections.first?.tls != nil)
        client.cancel()
    }
}
