import AFLoop
import AFTLS
import CAFOpenSSL
import Glibc

@testable import AFTransport

extension SecuredTests {
    /// A secured channel on a wire that the test holds in its hands.
    struct Channels {
        private static func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        }

        @Test("the end of the handshake leaves with the first request, or with the turn")
        func lastFlight() throws {
            let site = try MemoryLink.Site(.v1_3)
            for sendsRequest in [true, false] {
                let link = try MemoryLink(site)
                guard case .finished = link.handshake(endsTurn: false) else {
                    Issue.record("no handshake")
                    continue
                }
                #expect(link.wire.written.isEmpty && link.channel.isWritable)

                if sendsRequest { #expect(link.write(Self.bytes(100)) == .bytes(100)) }
                link.channel.turnEnded()

                let written = link.wire.takeWritten()
                link.server.feed(written)
                link.server.handshake()
                #expect(link.server.receive() == (sendsRequest ? Self.bytes(100) : []))
            }
        }

        // MARK: - The handshake in pieces

        /// How many bytes the server sends in a whole handshake.
        private func flightSize(_ site: MemoryLink.Site) throws -> Int {
            var size = 0
            let link = try MemoryLink(site)
            _ = link.handshake { bytes in
                size += bytes.count
                return [.bytes(bytes)]
            }
            return size
        }

        @Test("a handshake in pieces of any size, T-TLS-70", arguments: TLSVersion.allCases)
        func pieces(version: TLSVersion) throws {
            let site = try MemoryLink.Site(version)
            for size in [1, 2, 3, 5, 7, 64, 500] {
                for blocks in [false, true] {
                    let link = try MemoryLink(site)
                    let step = link.handshake { bytes in
                        stride(from: 0, to: bytes.count, by: size).flatMap { start in
                            let piece = ScriptedChannel.Read.bytes(Array(bytes[start..<min(start + size, bytes.count)]))
                            return blocks ? [piece, .blocked] : [piece]
                        }
                    }
                    guard case .finished = step else {
                        Issue.record("pieces of \(size): \(step)")
                        continue
                    }
                }
            }
        }

        @Test("a handshake split, cut, reset and stalled at every byte, T-TLS-70", arguments: TLSVersion.allCases)
        func everyOffset(version: TLSVersion) async throws {
            let site = try MemoryLink.Site(version)
            let ends: [[ScriptedChannel.Read]] = [[.end], [.failed(ECONNRESET)], []]
            for offset in 0..<(try flightSize(site)) {
                // Others run beside this one.
                await Task.yield()
                for end in [nil, ends[offset % 3]] {
                    let link = try MemoryLink(site)
                    var (left, isCut) = (offset, false)
                    let step = link.handshake { bytes in
                        let (head, tail) = (Array(bytes.prefix(left)), Array(bytes.dropFirst(left)))
                        left -= head.count
                        let first: [ScriptedChannel.Read] = head.isEmpty ? [] : [.bytes(head)]
                        guard !tail.isEmpty else { return first }
                        isCut = true
                        // Split: the rest comes after a pause.
                        guard let end else { return first + [.blocked, .bytes(tail)] }
                        // Stalled: it never comes.
                        return end.isEmpty ? first + [.blocked] : first + end
                    }
                    switch (step, end) {
                    case (.finished, nil): break
                    // Signatures differ in length: this time there was nothing left to cut.
                    case (.finished, .some) where !isCut: break
                    case (.waiting, .some(let end)) where end.isEmpty: break
                    case (.failed(let failure), .some) where failure.kind == .ended: break
                    case (.broken(let error), .some) where error.code == ECONNRESET: break
                    default: Issue.record("\(offset) of the handshake, then \(end ?? []): \(step)")
                    }
                }
            }
        }

        @Test("a broken byte anywhere in a handshake ends it, T-TLS-70", arguments: TLSVersion.allCases)
        func brokenByte(version: TLSVersion) async throws {
            let site = try MemoryLink.Site(version)
            let size = try flightSize(site)
            for offset in stride(from: 0, to: size, by: 11) {
                await Task.yield()
                let link = try MemoryLink(site)
                var left = offset
                var isBroken = false
                let step = link.handshake { bytes in
                    var bytes = bytes
                    if bytes.indices.contains(left) {
                        bytes[left] ^= 0x55
                        isBroken = true
                    }
                    left -= bytes.count
                    return [.bytes(bytes), .end]
                }
                // Signatures differ in length: this time there may have been nothing left to break.
                if case .finished = step, isBroken { Issue.record("byte \(offset) does not matter") }
            }
        }

        // MARK: - Records and readers

        @Test(
            "a reader with little room gets every byte, T-TLS-66",
            arguments: TLSVersion.allCases,
            [1, 2, 7, 1000, 16_383, 16_385]
        )
        func smallReader(version: TLSVersion, room: Int) throws {
            let site = try MemoryLink.Site(version)
            for records in [1, 5] {
                let link = try MemoryLink(site)
                try link.establish()
                let body = Self.bytes(records * 16_384 / (room == 1 ? 4 : 1))
                link.server.send(body)

                link.arriveFromServer()

                // Nothing more arrives: all of it must come out without another word from the socket.
                #expect(link.readAll(room) == .wouldBlock)
                #expect(link.received == body)
                #expect(!link.channel.isReadable)
            }
        }

        @Test("a reader that pauses finds the rest later, T-TLS-66", arguments: TLSVersion.allCases)
        func pausingReader(version: TLSVersion) throws {
            let site = try MemoryLink.Site(version)
            let link = try MemoryLink(site)
            try link.establish()
            let body = Self.bytes(100_000)
            link.server.send(body)
            link.arriveFromServer()

            // However long the reader waits between two reads, the channel says that it holds bytes.
            while link.received.count < body.count {
                #expect(link.channel.isReadable)
                guard case .bytes(3000) = link.read(3000) else { break }
            }

            #expect(link.readAll() == .wouldBlock)
            #expect(link.received == body)
        }

        @Test("T-RES-27 a server that seals each byte by itself gets no more of a turn", arguments: TLSVersion.allCases)
        func tinyRecords(version: TLSVersion) throws {
            let link = try MemoryLink(try MemoryLink.Site(version))
            try link.establish()
            let sent = (0..<2000).map { UInt8(truncatingIfNeeded: $0) }
            for byte in sent { link.server.send([byte]) }
            link.wire.reads.append(.bytes(link.server.take()))

            var turns = 0
            while link.received.count < sent.count, turns < 100 {
                let before = link.received.count
                link.wire.becomeReady()
                repeat { link.read(1 << 18) } while link.channel.isReadable && !link.channel.turnShare.isSpent
                // The last step may go beyond it.
                #expect(link.received.count - before <= TurnShare.size / TurnShare.pieceCost + 1)
                turns += 1
            }

            #expect(link.received == sent)
            #expect(turns >= 8)
        }

        @Test("records in any pieces, T-TLS-66", arguments: TLSVersion.allCases, [1, 4, 5, 6, 21, 16_000])
        func recordPieces(version: TLSVersion, size: Int) throws {
            let site = try MemoryLink.Site(version)
            let link = try MemoryLink(site)
            try link.establish()
            let body = Self.bytes(size == 1 ? 2000 : 40_000)
            link.server.send(body)
            let sealed = link.server.take()

            for start in stride(from: 0, to: sealed.count, by: size) {
                link.arrive(Array(sealed[start..<min(start + size, sealed.count)]))
                #expect(link.readAll() == .wouldBlock)
            }

            #expect(link.received == body)
        }

        // MARK: - Ends

        @Test(
            "what came before a close_notify is read, what comes after is not, T-TLS-65",
            arguments: TLSVersion.allCases,
            [1, 7, 4096]
        )
        func closeNotify(version: TLSVersion, room: Int) throws {
            let site = try MemoryLink.Site(version)
            for isTogether in [true, false] {
                let link = try MemoryLink(site)
                try link.establish()
                link.server.send(Array("before".utf8))
                if !isTogether { link.arriveFromServer() }
                link.server.sendCloseNotify()
                if !isTogether { link.arriveFromServer() }
                link.server.forgetCloseNotify()
                link.server.send(Array("after".utf8))
                link.arriveFromServer()

                #expect(link.readAll(room) == .end)

                #expect(link.received == Array("before".utf8))
                #expect(link.read() == .end && link.read() == .end)
                #expect(!link.channel.isTruncated && link.channel.failure == nil)
            }
        }

        @Test(
            "an end without a close_notify is one after all that came before it, T-TLS-64",
            arguments: TLSVersion.allCases
        )
        func truncation(version: TLSVersion) throws {
            let site = try MemoryLink.Site(version)
            let link = try MemoryLink(site)
            try link.establish()
            link.server.send(Array("before".utf8))
            link.wire.reads = [.bytes(link.server.take()), .end]
            link.wire.becomeReady()

            #expect(link.readAll(4) == .end)

            #expect(link.received == Array("before".utf8) && link.channel.isTruncated)
            #expect(link.read() == .end)
        }

        @Test("an end within a record is one too, T-TLS-64", arguments: TLSVersion.allCases)
        func cutRecord(version: TLSVersion) throws {
            let site = try MemoryLink.Site(version)
            let sample = try MemoryLink(site)
            try sample.establish()
            sample.server.send(Array("before".utf8))
            let size = sample.server.take().count
            for kept in 0..<size {
                let link = try MemoryLink(site)
                try link.establish()
                link.server.send(Array("before".utf8))
                let sealed = Array(link.server.take().prefix(kept))
                link.wire.reads = (sealed.isEmpty ? [] : [.bytes(sealed)]) + [.end]
                link.wire.becomeReady()

                #expect(link.readAll() == .end, "\(kept)")
                #expect(link.received.isEmpty && link.channel.isTruncated, "\(kept)")
            }
        }

        @Test("a failure behind data is not forgotten, T-TLS-62, 65", arguments: [1, 3, 4096])
        func renegotiation(room: Int) throws {
            let link = try MemoryLink(MemoryLink.Site(.v1_2))
            try link.establish()
            link.server.send(Array("before".utf8))
            link.server.renegotiate()
            link.server.send(Array("after".utf8))
            link.arriveFromServer()

            var last = link.readAll(room)
            for _ in 1...10 { last = link.read(room) }

            #expect(last == .failed(SystemCallError(.recv, code: EPROTO)))
            #expect(link.received == Array("before".utf8))
            #expect(link.channel.failure?.kind == .renegotiation)
        }

        @Test("a flood behind data is not forgotten, T-TLS-63", arguments: [1, 4096])
        func flood(room: Int) throws {
            let link = try MemoryLink(MemoryLink.Site(.v1_3))
            try link.establish()
            link.server.send(Array("before".utf8))
            for _ in 1...200 { link.server.updateKeys() }
            link.server.send(Array("after".utf8))
            link.arriveFromServer()

            var last = link.readAll(room)
            for _ in 1...10 { last = link.read(room) }

            #expect(last == .failed(SystemCallError(.recv, code: EPROTO)))
            #expect(link.received == Array("before".utf8))
            #expect(link.channel.failure?.kind == .flood)
        }

        @Test("a broken record behind data is not forgotten, T-TLS-65", arguments: TLSVersion.allCases, [1, 4096])
        func brokenRecord(version: TLSVersion, room: Int) throws {
            let site = try MemoryLink.Site(version)
            let link = try MemoryLink(site)
            try link.establish()
            link.server.send(Array("before".utf8))
            let good = link.server.take()
            link.server.send(Array("broken".utf8))
            var bad = link.server.take()
            bad[bad.count - 1] ^= 1
            link.server.send(Array("after".utf8))
            link.arrive(good + bad + link.server.take())

            var last = link.readAll(room)
            for _ in 1...10 { last = link.read(room) }

            #expect(last == .failed(SystemCallError(.recv, code: EPROTO)))
            #expect(link.received == Array("before".utf8))
            #expect(link.channel.failure?.kind == .violation)
        }

        // MARK: - Writing

        @Test(
            "a wire that takes little gets every byte in order, T-TLS-67",
            arguments: TLSVersion.allCases,
            [1, 13, 5000]
        )
        func narrowWire(version: TLSVersion, room: Int) throws {
            let site = try MemoryLink.Site(version)
            let link = try MemoryLink(site)
            try link.establish()
            let body = Self.bytes(room == 1 ? 3000 : 150_000)
            var (sent, got) = (0, [UInt8]())
            var turns = 0
            while got.count < body.count, turns < 100_000 {
                turns += 1
                link.wire.room = room
                link.wire.becomeReady()
                if sent < body.count, link.channel.isWritable, case .bytes(let count) = link.write(Array(body[sent...]))
                {
                    sent += count
                }
                link.server.feed(link.wire.takeWritten())
                got += link.server.receive()
            }

            #expect(got == body && sent == body.count)
        }

        @Test func `T-TLS-67 new keys are promised while the wire takes nothing`() throws {
            let link = try MemoryLink(MemoryLink.Site(.v1_3))
            try link.establish()
            let (first, second) = (Self.bytes(30_000), Self.bytes(20_000))
            link.wire.room = 1000
            #expect(link.write(first) == .bytes(first.count))
            #expect(link.write(second) == .wouldBlock && !link.channel.isWritable)
            // Reading has something to write, behind what is not sent yet.
            for _ in 1...3 {
                link.server.updateKeys()
                link.server.send(Array("x".utf8))
                link.arriveFromServer()
                #expect(link.readAll() == .wouldBlock)
            }
            #expect(link.received == Array("xxx".utf8))

            link.wire.room = .max
            link.wire.becomeReady()
            #expect(link.write(second) == .bytes(second.count))

            link.server.feed(link.wire.takeWritten())
            #expect(link.server.receive() == first + second)
        }

        @Test func `T-TLS-63 a server that asks and asks, and does not listen, is not answered for ever`() throws {
            let link = try MemoryLink(MemoryLink.Site(.v1_3))
            try link.establish()
            _ = link.wire.takeWritten()
            link.wire.room = 0
            var (last, rounds) = (ChannelRead.wouldBlock, 0)
            // Never more than the limit in a row, so each is an answer of its own.
            while last == .wouldBlock, rounds < 2000 {
                rounds += 1
                for _ in 1...20 { link.server.updateKeys() }
                link.server.send([1])
                link.arriveFromServer()
                last = link.readAll()
            }

            #expect(last == .failed(SystemCallError(.recv, code: EPROTO)) && rounds < 1000, "\(rounds)")
            #expect(link.channel.failure?.kind == .flood)
        }

        // MARK: - The error queue

        @Test("an error that other code left in the queue is not ours, T-TLS-68", arguments: TLSVersion.allCases)
        func poisonedQueue(version: TLSVersion) throws {
            let link = try MemoryLink(MemoryLink.Site(version, tickets: 2))
            link.beforeCall = {
                var bytes: UnsafePointer<UInt8>? = nil
                let garbage: [UInt8] = [0x30, 0x03, 0xFF, 0xFF, 0xFF]
                garbage.withUnsafeBufferPointer { buffer in
                    bytes = buffer.baseAddress
                    X509_free(d2i_X509(nil, &bytes, buffer.count))
                }
                #expect(ERR_peek_error() != 0)
            }
            guard case .finished = link.handshake({ $0.map { .bytes([$0]) } }) else {
                Issue.record("no handshake")
                return
            }
            link.server.feed(link.wire.takeWritten())
            link.server.handshake()
            link.arriveFromServer()
            #expect(link.readAll() == .wouldBlock)
            let body = Self.bytes(50_000)
            link.server.send(body)
            link.arriveFromServer()
            #expect(link.readAll(999) == .wouldBlock)
            #expect(link.received == body)
            #expect(link.write(body) == .bytes(body.count))
            link.server.feed(link.wire.takeWritten())
            #expect(link.server.receive() == body)

            link.server.sendCloseNotify()
            link.arriveFromServer()
            #expect(link.readAll() == .end && !link.channel.isTruncated)
            ERR_clear_error()
        }

        // MARK: - Closing

        @Test("closing sends close_notify, if the wire takes it, T-TLS-65", arguments: TLSVersion.allCases)
        func closing(version: TLSVersion) throws {
            let site = try MemoryLink.Site(version)
            for isBlocked in [false, true] {
                let link = try MemoryLink(site)
                try link.establish()
                if isBlocked {
                    link.wire.room = 1
                    _ = link.write(Self.bytes(100))
                }

                link.channel.close()
                link.channel.close()

                #expect(link.wire.isClosed)
                #expect(link.wire.written.count == (isBlocked ? 1 : version == .v1_3 ? 24 : 31))
                #expect(link.read() == .failed(SystemCallError(.recv, code: EBADF)))
                #expect(link.write([1]) == .failed(SystemCallError(.send, code: EBADF)))
            }
        }
    }
}
