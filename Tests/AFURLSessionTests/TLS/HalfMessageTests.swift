import AFTLS

@testable import AFURLSession
@testable import AFURLTypes

extension SecuredTests {
    /// Servers that begin a message of the protocol's own and leave it at that: nothing can be sealed meanwhile.
    struct HalfMessages {
        /// A ticket that a client takes: it lives for 100 seconds.
        private static let ticket: [UInt8] = [4, 0, 0, 16, 0, 0, 0, 100, 1, 2, 3, 4, 1, 0, 0, 2, 7, 7, 0, 0]
        private static let upload = Data(repeating: 7, count: 16 << 20)

        @Test func `T-TLS-63 half a message holds up one upload, whose time runs, and nothing else`() async throws {
            let (site, other) = (try SecuredSite(), try TestServer())
            other.route("GET", "/hello", .text("hello"))
            // The upload is more than the kernel takes: it goes on when the server reads, after half a message.
            site.server.script(
                .expectHead,
                .sendRecord(type: 22, bytes: Self.ticket.prefix(5)),
                .receive(Self.upload.count),
                .stall
            )
            var tls = site.tls
            tls.speak(.v1_3)
            let session = URLSession.loopback { configuration in
                configuration.tls = tls
                configuration.timeoutIntervalForRequest = 5
            }
            let outcomes = Outcomes()
            let request = URLRequest("POST", site.server.url("/x"), body: Self.upload)
            session.dataTask(with: request, completionHandler: outcomes.handler).resume()
            try await site.server.waitForConnections(1)

            #expect(try await session.outcome(of: other.url("/hello")).text == "hello")

            #expect(try await outcomes.first().code == -1001)
        }

        @Test func `T-TLS-63 an upload goes on when the rest of a message arrives`() async throws {
            let site = try SecuredSite()
            site.server.script(
                .expectHead,
                .sendRecord(type: 22, bytes: Self.ticket.prefix(5)),
                .pause(.milliseconds(200)),
                .sendRecord(type: 22, bytes: Self.ticket.dropFirst(5)),
                .receive(Self.upload.count),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                .stall
            )
            let request = URLRequest("POST", site.server.url("/x"), body: Self.upload)

            let outcome = try await site.session { $0.speak(.v1_3) }.outcome(of: request)

            #expect(outcome.text == "ok", "\(outcome)")
        }
    }
}
