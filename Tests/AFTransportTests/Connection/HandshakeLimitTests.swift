import AFLoop
import AFTLS

@testable import AFTransport

extension SecuredTests {
    /// What a handshake takes from a server that says more than it has to.
    struct HandshakeLimits {
        @Test("some requests to begin do not disturb a handshake, T-TLS-63", arguments: TLSVersion.allCases)
        func requestsToBegin(version: TLSVersion) throws {
            let link = try MemoryLink(MemoryLink.Site(version))
            let requests: [UInt8] = [22, 3, 3, 0, 64] + [UInt8](repeating: 0, count: 64)
            var isFirst = true
            let step = link.handshake { bytes in
                defer { isFirst = false }
                return [.bytes(isFirst ? requests + bytes : bytes)]
            }
            guard case .finished = step else {
                Issue.record("\(step)")
                return
            }
        }

        @Test func `bytes behind the end of a handshake can be read`() throws {
            let early = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
            let site = try MemoryLink.Site(.v1_2, tickets: 1)
            for speaksEarly in [true, false] {
                let link = try MemoryLink(site)
                link.wire.noticesShortReads = true
                // In TLS 1.2 the server has the last word.
                let step = link.handshake { bytes in
                    guard speaksEarly, link.server.isReady else { return [.bytes(bytes)] }
                    link.server.send(early)
                    return [.bytes(bytes + link.server.take())]
                }
                guard case .finished = step else {
                    Issue.record("\(step)")
                    continue
                }

                #expect(!link.wire.isReadable && link.channel.isReadable == speaksEarly)
                #expect(link.readAll() == (speaksEarly ? .bytes(early.count) : .wouldBlock))
                #expect(link.received == (speaksEarly ? early : []))
            }
        }

        @Test func `T-TLS-63 T-RES-27 a handshake has one share of a turn, also one that comes byte by byte`() throws {
            let link = try MemoryLink(MemoryLink.Site(.v1_3))
            guard case .waiting = link.channel.handshake() else {
                Issue.record("there is no answer yet")
                return
            }
            link.server.feed(link.wire.takeWritten())
            link.server.handshake()
            let answer = link.server.take()
            link.wire.reads = answer.map { .bytes([$0]) }
            link.wire.becomeReady()

            guard case .waiting = link.channel.handshake() else {
                Issue.record("a handshake of \(answer.count) bytes")
                return
            }

            #expect(link.wire.reads.count == answer.count - TurnShare.size / TurnShare.pieceCost)
            #expect(link.wire.turnsAskedFor == 1)
        }
    }
}
