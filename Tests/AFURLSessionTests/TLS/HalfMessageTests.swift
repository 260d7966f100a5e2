import AFLoop
import AFNetworkingTesting
import AFTLS
import AFTestFixtures
import Foundation
import Glibc
import Testing

@testable import AFURLSession
@testable import AFURLTypes

extension SecuredTests {
    /// Servers that begin a message of the protocol's own and leave it at that: nothing can be sealed meanwhile.
    struct HalfMessages {
        private static let bytes = (0..<100).map { UInt8($0) }
        /// A ticket that a client takes: it lives for 100 seconds.
        private static let ticket: [UInt8] = [4, 0, 0, 16, 0, 0, 0, 100, 1, 2, 3, 4, 1, 0, 0, 2, 7, 7, 0, 0]
        private static let upload = Data(repeating: 7, count: 16 << 20)

        // MARK: - On a wire of the test

        /// A link of which the client has read the first record of a ticket; and the others.
        private func interrupted() throws -> (link: MemoryLink, rest: [UInt8]) {
            let link = try MemoryLink(MemoryLink.Site(.v1_3, tickets: 2))
            try link.establish()
            let ticket = link.server.takeLargeTicket()
            try #require(ticket.count > 1)
            link.arrive(ticket[0])
            #expect(link.readAll() == .wouldBlock)
            return (link, ticket.dropFirst().flatMap { $0 })
        }

        @Test func `T-TLS-63 half a message stops the writer, and the rest of it lets him go on`() throws {
            let (link, rest) = try interrupted()
            #expect(link.write(Self.bytes) == .wouldBlock && !link.channel.isWritable)
            #expect(link.write(Self.bytes) == .wouldBlock && link.wire.written.isEmpty)
            #expect(link.wire.turnsAskedFor == 0)

            link.arrive(rest)
            #expect(link.readAll() == .wouldBlock)

            // The writer was refused earlier in this turn, so the channel asks for another.
            #expect(link.wire.turnsAskedFor == 1 && link.channel.isWritable)
            #expect(link.write(Self.bytes) == .bytes(100))
            link.server.feed(link.wire.takeWritten())
            #expect(link.server.receive() == Self.bytes)
        }

        @Test func `T-TLS-63 half a message and an end are an error for the writer`() throws {
            let (link, _) = try interrupted()
            #expect(link.write([1]) == .wouldBlock)

            link.wire.reads = [.end]
            link.wire.becomeReady()
            #expect(link.readAll() == .end)

            #expect(link.wire.turnsAskedFor == 1)
            #expect(link.write([1]) == .failed(SystemCallError(.send, code: EPROTO)))
        }

        @Test func `T-TLS-63 half a message of a proxy holds up what is secured within, and no thread`() throws {
            let (link, rest) = try interrupted()
            let within = try link.channelWithin()
            defer { within.close() }
            guard case .waiting = within.handshake() else {
                Issue.record("no greeting was sent")
                return
            }
            #expect(link.wire.written.isEmpty && !within.isWritable)

            link.arrive(rest)
            guard case .waiting = within.handshake() else {
                Issue.record("there is no answer yet")
                return
            }
            #expect(link.wire.turnsAskedFor == 1)
            link.wire.becomeReady()

            link.server.feed(link.wire.takeWritten())
            // A record of a handshake.
            #expect(link.server.receive().first == 22)
        }

        /// OpenSSL up to 3.0.13 freed what it then read into.
        @Test(arguments: TLSVersion.allCases)
        func `T-TLS-66 the buffers of a record that is half read or half taken out are kept`(
            version: TLSVersion
        ) throws {
            let link = try MemoryLink(MemoryLink.Site(version))
            try link.establish()
            let engine = link.channel.engine
            #expect(engine.freeBuffers())
            link.server.send(Array("first".utf8))
            let first = link.server.take()
            link.server.send(Array("second".utf8))
            let second = link.server.take()

            link.arrive(first + second.prefix(5))
            #expect(link.readAll() == .wouldBlock && link.received == Array("first".utf8))
            #expect(!engine.freeBuffers())
            link.channel.rest()
            link.arrive(Array(second.dropFirst(5)))
            link.read(3)
            #expect(!engine.freeBuffers())
            link.readAll()

            #expect(link.received == Array("firstsecond".utf8))
            #expect(engine.freeBuffers())
        }

        // MARK: - In a session

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
