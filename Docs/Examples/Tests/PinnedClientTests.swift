import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

@testable import PinnedClient

@Suite struct PinnedClientTests {
    private let authority: CertificateAuthority
    private let certificate: IssuedCertificate
    private let pins: PinSet
    private let server: TestServer

    init() throws {
        authority = try CertificateAuthority()
        certificate = try authority.issue(for: "localhost")
        let spare = try CertificateKey()
        pins = PinSet(
            [.publicKey(certificate.certificate.pin)],
            backups: [.publicKey(PublicKeyPin(publicKeyBytes: spare.publicKeyBytes))]
        )
        server = try TestServer(tls: ServerTLS(certificate))
        PinnedClient.addRoutes(to: server)
    }

    private func withShop(at url: URL, _ body: (BookShop) async throws -> Void) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([authority.certificate])
        let shop = try BookShop(at: url, pins: pins, configuration: configuration)
        defer { shop.close() }
        try await body(shop)
    }

    private var base: URL { server.url("/v1/", host: "localhost") }

    @Test func `values go there and come back`() async throws {
        try await withShop(at: base) { shop in
            let book = try await shop.book(7)
            let receipt = try await shop.order(.init(book: 7, copies: 2))
            #expect(book == BookShop.Book(id: 7, title: "Moby-Dick"))
            #expect(receipt == BookShop.Receipt(number: 1))
        }
        #expect(server.requests.map { "\($0.method) \($0.target)" } == ["GET /v1/books/7", "POST /v1/orders"])
        #expect(server.requests.last?.headers["Content-Type"] == "application/json")
    }

    @Test func `what the server says no to is an error of a type`() async throws {
        server.route("GET", "/v1/books/9", .text("<html>", type: "text/html"))
        try await withShop(at: base) { shop in
            await #expect(throws: BookShop.Failure.noSuchBook) { try await shop.book(8) }
            await #expect(throws: BookShop.Failure.refused(status: 409, reason: "only 10 are left")) {
                try await shop.order(.init(book: 7, copies: 11))
            }
            let failure = await #expect(throws: BookShop.Failure.self) { try await shop.book(9) }
            guard case .misunderstanding = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }

    @Test func `an impostor receives nothing, and is told by its name`() async throws {
        let impostor = try TestServer(tls: ServerTLS(authority.issue(for: "localhost")))
        PinnedClient.addRoutes(to: impostor)

        try await withShop(at: impostor.url("/v1/", host: "localhost")) { shop in
            let failure = await #expect(throws: BookShop.Failure.self) {
                try await shop.order(.init(book: 7, copies: 1))
            }
            guard case .impostor(let explanation) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(explanation.contains("no member of the verified chain has a pin for localhost"))
        }
        try await impostor.waitForEnd(ofConnection: 1)
        #expect(impostor.requests.isEmpty)
        #expect(impostor.connections.map(\.bytesReceived) == [0])
        #expect(impostor.connections.first?.tls?.isComplete == false)
    }

    @Test func `a redirect leads to no other host`() async throws {
        let elsewhere = try TestServer(tls: ServerTLS(authority.issue(for: "127.0.0.1")))
        server.route("GET", "/v1/books/6", .status(302).header("Location", elsewhere.url("/v1/books/7").absoluteString))

        try await withShop(at: base) { shop in
            let failure = await #expect(throws: BookShop.Failure.self) { try await shop.book(6) }
            guard case .impostor = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
        #expect(elsewhere.requests.isEmpty)
    }

    @Test func `a server that is not there is something else than an impostor`() async throws {
        let url = base
        server.stop()
        try await withShop(at: url) { shop in
            let failure = await #expect(throws: BookShop.Failure.self) { try await shop.book(7) }
            guard case .unreachable = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }
}
