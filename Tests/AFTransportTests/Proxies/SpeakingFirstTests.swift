import AFLoop
import AFWire

@testable import AFTransport

extension ProxyTests {
    /// What comes behind a proxy's answer, where the server may speak first and where it may not.
    @Suite("Servers that speak first through a tunnel")
    struct SpeakingFirst {
        private static let greeting = Array("220 hello\r\n".utf8)

        private final class Asker: ProxyTunnelClient {
            let serverMaySpeakFirst: Bool
            private(set) var channel: (any ByteChannel)?
            private(set) var failure: String?

            init(serverMaySpeakFirst: Bool) {
                self.serverMaySpeakFirst = serverMaySpeakFirst
            }

            func tunnelEstablished(_ tunnel: ProxyTunnel, channel: any ByteChannel) { self.channel = channel }
            func tunnelFailed(_ tunnel: ProxyTunnel, failure: TunnelFailure) { self.failure = failure.name }
        }

        private func exchange(isSOCKS: Bool) throws -> any TunnelExchange {
            let endpoint = try RequestURL("http://api.test:25/").endpoint
            if isSOCKS { return SOCKS5Exchange(to: SOCKS5Destination(endpoint.host), port: 25, login: nil) }
            return ConnectExchange(
                to: endpoint,
                by: ProxyRoute(server: try ProxyServer("http://proxy.test"), number: 1)
            )
        }

        /// Asks for a tunnel, and has the proxy say all this.
        ///
        /// - Parameter later: What can be read no earlier than the last piece was.
        private func ask(
            isSOCKS: Bool,
            serverMaySpeakFirst: Bool,
            _ pieces: [[UInt8]],
            later: [ScriptedChannel.Read] = [],
            noticesShortReads: Bool = false
        ) throws -> (asker: Asker, wire: ScriptedChannel) {
            let wire = try ScriptedChannel()
            wire.noticesShortReads = noticesShortReads
            let asker = Asker(serverMaySpeakFirst: serverMaySpeakFirst)
            let exchange = try exchange(isSOCKS: isSOCKS)
            let tunnel = ProxyTunnel(channel: wire, exchange: exchange, buffer: ReadBuffer(), client: asker)
            tunnel.start(try Departure.free())
            if isSOCKS {
                wire.reads = [.bytes([5, 0])]
                wire.becomeReady()
            }
            wire.reads = pieces.filter { !$0.isEmpty }.map { .bytes($0) } + later
            wire.becomeReady()
            return (asker, wire)
        }

        private struct Drained: Equatable {
            var bytes: [UInt8]
            var end: ChannelRead
        }

        /// All that a channel has, `size` bytes at a time, and how it ends.
        private func drain(_ channel: any ByteChannel, _ size: Int) -> Drained {
            var (drained, buffer) = (Drained(bytes: [], end: .wouldBlock), [UInt8](repeating: 0, count: size))
            while channel.isReadable {
                let read = buffer.withUnsafeMutableBytes { channel.read(into: $0) }
                guard case .bytes(let count) = read else {
                    drained.end = read
                    break
                }
                drained.bytes += buffer[..<count]
            }
            return drained
        }

        private static let grants: [(Bool, [UInt8])] = [
            (false, Array("HTTP/1.1 200 OK\r\n\r\n".utf8)),
            (false, Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8)),
            (true, [5, 0, 0, 1, 192, 0, 2, 9, 4, 56]),
            (true, [5, 0, 0, 3, 3, 97, 98, 99, 4, 56]),
        ]

        @Test(arguments: grants)
        func `what follows the answer is the server's, wherever it is cut`(isSOCKS: Bool, grant: [UInt8]) throws {
            let all = grant + SpeakingFirst.greeting
            for cut in 0...all.count {
                for size in [1, 4, 100] {
                    let pieces = [Array(all[..<cut]), Array(all[cut...])]
                    let (asker, wire) = try ask(
                        isSOCKS: isSOCKS,
                        serverMaySpeakFirst: true,
                        pieces,
                        later: [.bytes(Array("250 ok".utf8)), .end]
                    )

                    let channel = try #require(asker.channel, "cut at \(cut): \(asker.failure ?? "-")")
                    let all = Drained(bytes: SpeakingFirst.greeting + Array("250 ok".utf8), end: .end)
                    #expect(drain(channel, size) == all, "cut at \(cut)")
                    #expect(!wire.isClosed)
                    channel.close()
                    #expect(wire.isClosed && wire.handler == nil)
                }
            }
        }

        @Test(arguments: grants)
        func `T-PRX-04 T-SOX-04 where we speak first the same bytes fail the tunnel`(
            isSOCKS: Bool,
            grant: [UInt8]
        ) throws {
            let all = grant + SpeakingFirst.greeting
            for cut in 0...all.count {
                let pieces = [Array(all[..<cut]), Array(all[cut...])]
                let (asker, wire) = try ask(isSOCKS: isSOCKS, serverMaySpeakFirst: false, pieces)

                #expect(asker.failure == "surplus" && asker.channel == nil, "cut at \(cut)")
                #expect(wire.isClosed)
            }
        }

        @Test(arguments: [false, true])
        func `a server that closes at once ends the stream, and fails where we speak first`(isSOCKS: Bool) throws {
            let grant = SpeakingFirst.grants[isSOCKS ? 2 : 0].1
            for greeting in [[], SpeakingFirst.greeting] {
                let (asker, _) = try ask(isSOCKS: isSOCKS, serverMaySpeakFirst: true, [grant + greeting], later: [.end])
                let channel = try #require(asker.channel)
                #expect(drain(channel, 3) == Drained(bytes: greeting, end: .end))
                channel.close()
            }
            let (asker, wire) = try ask(isSOCKS: isSOCKS, serverMaySpeakFirst: false, [grant], later: [.end])
            #expect(asker.failure == "closed" && wire.isClosed)
        }

        @Test func `what the tunnel holds is what one read brought; the rest waits where it came from`() throws {
            let grant = SpeakingFirst.grants[0].1
            let flood = [UInt8](repeating: 7, count: 3 * ReadBuffer.size)
            let (asker, wire) = try ask(isSOCKS: false, serverMaySpeakFirst: true, [grant + flood])

            let channel = try #require(asker.channel)
            let unread = wire.reads.map { if case .bytes(let bytes) = $0 { bytes.count } else { 0 } }
            #expect(unread == [flood.count + grant.count - ReadBuffer.size])
            #expect(drain(channel, 1 << 16).bytes == flood)
            channel.close()
        }

        @Test func `a reader of what came early is told of what comes later, and has its share of the turn`() throws {
            final class Reader: ChannelHandler {
                var calls = 0
                func channelReady() { calls += 1 }
            }
            let (asker, wire) = try ask(
                isSOCKS: false,
                serverMaySpeakFirst: true,
                [SpeakingFirst.grants[0].1 + SpeakingFirst.greeting],
                noticesShortReads: true
            )
            let channel = try #require(asker.channel)
            let reader = Reader()
            channel.handler = reader
            #expect(channel.isReadable && !wire.isReadable)
            #expect(drain(channel, 5) == Drained(bytes: SpeakingFirst.greeting, end: .wouldBlock))
            #expect(!channel.isReadable && channel.isWritable && channel.isFlushed)

            wire.reads = [.bytes([65])]
            wire.becomeReady()
            #expect(reader.calls == 1 && drain(channel, 5).bytes == [65])
            channel.continueNextTurn()
            #expect(wire.turnsAskedFor == 1)
            #expect([80, 81].withUnsafeBytes { channel.write($0, second: .empty) } != .wouldBlock)
            channel.close()
            wire.becomeReady()
            #expect(reader.calls == 1)
        }

        @Test func `bytes before the answer to a question fail the tunnel, also if the server may speak first`() throws
        {
            let wire = try ScriptedChannel()
            let asker = Asker(serverMaySpeakFirst: true)
            let tunnel = ProxyTunnel(
                channel: wire,
                exchange: try exchange(isSOCKS: true),
                buffer: ReadBuffer(),
                client: asker
            )
            tunnel.start(try Departure.free())
            wire.reads = [.bytes([5, 0] + SpeakingFirst.grants[2].1 + SpeakingFirst.greeting)]
            wire.becomeReady()
            #expect(asker.failure == "surplus" && asker.channel == nil && wire.isClosed)
        }
    }
}
