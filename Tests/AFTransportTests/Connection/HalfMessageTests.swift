import AFLoop
import AFTLS
import Glibc

@testable import AFTransport

extension SecuredTests {
    /// Servers that begin a message of the protocol's own and leave it at that: nothing can be sealed meanwhile.
    struct HalfMessages {
        private static let bytes = (0..<100).map { UInt8($0) }

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
    }
}
