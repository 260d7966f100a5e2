import AFNetworkingTesting
import CAFOpenSSL
import Foundation
import Testing

@Suite struct TLSServerTests {
    private static let request = "GET /hi HTTP/1.1\r\nHost: x\r\n\r\n"

    private let authority: CertificateAuthority
    private let site: IssuedCertificate

    init() throws {
        authority = try CertificateAuthority()
        site = try authority.issue(for: "localhost", "127.0.0.1", "::1")
    }

    @Test(arguments: [0x0303, 0x0304] as [Int32])
    func `routes answer through TLS`(version: Int32) throws {
        let server = try TestServer(tls: ServerTLS(site))
        defer { server.stop() }
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
        #expect(server.requests.map(\.target) == ["/hi"])
    }
}
