import AFNetworking
import AFNetworkingTesting
import Foundation

/// An API client that knows its server by its key: `swift run PinnedClient`.
///
/// The client is `BookShop`. What is here gives it a server to talk to, and then an impostor.
@main struct PinnedClient {
    static func main() async throws {
        let authority = try CertificateAuthority()
        let site = try authority.issue(for: "localhost")
        let server = try TestServer(tls: ServerTLS(site))
        addRoutes(to: server)

        // In use, and kept elsewhere for the day on which the first one is lost.
        let spare = try CertificateKey()
        let pins = PinSet(
            [.publicKey(site.certificate.pin)],
            backups: [.publicKey(PublicKeyPin(publicKeyBytes: spare.publicKeyBytes))]
        )
        let configuration = URLSessionConfiguration.ephemeral
        // A server with a certificate of a public authority needs no line like this.
        configuration.tls.anchors = .certificates([authority.certificate])

        let shop = try BookShop(at: server.url("/v1/", host: "localhost"), pins: pins, configuration: configuration)
        defer { shop.close() }
        print("a book: ", try await shop.book(7))
        print("ordered:", try await shop.order(.init(book: 7, copies: 2)))
        await report("a book that is not there") { () async throws(BookShop.Failure) in _ = try await shop.book(8) }
        await report("too many copies") { () async throws(BookShop.Failure) in
            _ = try await shop.order(.init(book: 7, copies: 99))
        }

        // Certified by the same authority, for the same name, and yet not our server.
        let impostor = try TestServer(tls: ServerTLS(authority.issue(for: "localhost")))
        addRoutes(to: impostor)
        let misled = try BookShop(at: impostor.url("/v1/", host: "localhost"), pins: pins, configuration: configuration)
        defer { misled.close() }
        await report("an impostor") { () async throws(BookShop.Failure) in _ = try await misled.book(7) }
        print("requests that the impostor has received:", impostor.requests.count)
    }

    private static func report(_ what: String, _ call: @Sendable () async throws(BookShop.Failure) -> Void) async {
        do throws(BookShop.Failure) {
            try await call()
            print("\(what): no failure")
        } catch {
            print("\(what): \(error)")
        }
    }

    static func addRoutes(to server: TestServer) {
        server.route("GET", "/v1/books/7") { _ in try .json(encoding: BookShop.Book(id: 7, title: "Moby-Dick")) }
        server.route("POST", "/v1/orders") { request in
            let order: BookShop.Order = try request.json()
            guard order.copies <= 10 else { return .json(#"{"error": "only 10 are left"}"#).status(409) }
            return try .json(encoding: BookShop.Receipt(number: 1)).status(201)
        }
    }
}
