import AFTLS
import CAFOpenSSL
import Testing

extension SecuredTests {
    /// The engine by itself: bytes go in, and bytes come out.
    struct Engine {
        /// Decides as it was told, then accepts and shows nothing.
        private final class Decisions: TLSEngineClient {
            var verdicts: [TLSVerdict] = []
            var identities: [TLSIdentityAnswer] = []
            private(set) var judged: [[Certificate]] = []
            private(set) var questions = 0
            private(set) var sessions: [TLSSession] = []

            func engine(_ engine: TLSEngine, judges served: [Certificate]) -> TLSVerdict {
                judged.append(served)
                return verdicts.isEmpty ? .accept : verdicts.removeFirst()
            }

            func engineNeedsIdentity(_ engine: TLSEngine) -> TLSIdentityAnswer {
                questions += 1
                return identities.isEmpty ? .none : identities.removeFirst()
            }

            func engine(_ engine: TLSEngine, received session: TLSSession) {
                sessions.append(session)
            }
        }

        private struct Site {
            let authority: CertificateAuthority
            let issued: IssuedCertificate
            let context: TLSContext
            let server: MemoryServer.Context

            init(_ version: TLSVersion, tickets: Int32 = 0) throws {
                authority = try CertificateAuthority()
                issued = try authority.makeIntermediate().issue(for: "api.test")
                context = try TLSContext(TLSParameters())
                server = try MemoryServer.Context(issued, version, tickets: tickets)
            }
        }

        /// An engine and its server, with nothing between them.
        private final class Link {
            let decisions = Decisions()
            let engine: TLSEngine
            let server: MemoryServer
            /// How much the engine may put out in one call.
            var room = TLSEngine.outputReserve
            /// What has arrived and was not consumed.
            private(set) var waiting: [UInt8] = []
            /// What the engine put out and the server has not seen.
            private(set) var sent: [UInt8] = []

            init(_ site: Site, resuming session: TLSSession? = nil) throws {
                engine = try TLSEngine(
                    context: site.context,
                    serverName: "api.test",
                    resuming: session,
                    client: decisions
                )
                server = try MemoryServer(site.server)
            }

            private func call(_ step: () -> TLSEngine.Step) -> String {
                let output = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
                defer { output.deallocate() }
                // It is nothing to the engine.
                ErrorQueue.poison()
                let (result, left) = waiting.withUnsafeBytes { input in
                    engine.input = input
                    engine.setOutput(output)
                    let result = step()
                    sent += engine.output
                    defer { engine.input = UnsafeRawBufferPointer(start: nil, count: 0) }
                    return (result, engine.input.count)
                }
                waiting.removeFirst(waiting.count - left)
                return Self.word(for: result)
            }

            private static func word(for step: TLSEngine.Step) -> String {
                switch step {
                case .moved(let count): "moved \(count)"
                case .failed(let failure): "failed \(failure.kind)"
                case .finished, .needsInput, .undecided, .closed, .truncated: "\(step)"
                }
            }

            func arrive(_ bytes: [UInt8]) { waiting += bytes }

            func arriveFromServer() { arrive(server.take()) }

            func takeSent() -> [UInt8] {
                defer { sent = [] }
                return sent
            }

            /// Goes on until the engine has finished, failed, or waits for what will not come.
            func handshake() -> String {
                while true {
                    let step = step()
                    guard step == "needsInput" else { return step }
                    server.feed(takeSent())
                    server.handshake()
                    arriveFromServer()
                    if waiting.isEmpty { return step }
                }
            }

            func step() -> String { call(engine.handshake) }

            func establish() throws {
                try #require(handshake() == "finished")
                server.feed(takeSent())
                server.handshake()
                arriveFromServer()
                try #require(read() == "needsInput" && server.isReady)
            }

            private(set) var received: [UInt8] = []

            func read(_ size: Int = 1 << 16) -> String {
                var buffer = [UInt8](repeating: 0, count: size)
                return call {
                    var records = 0
                    let step = buffer.withUnsafeMutableBytes { engine.read(into: $0, counting: &records) }
                    if case .moved(let count) = step { received += buffer[..<count] }
                    return step
                }
            }

            func write(_ bytes: [UInt8]) -> String {
                call { bytes.withUnsafeBytes { engine.write($0) } }
            }

            func close() {
                _ = call {
                    engine.close()
                    return .closed
                }
            }
        }

        /// A request to begin, as a server of TLS 1.2 may send it at any time.
        private static let helloRequest: [UInt8] = [22, 3, 3, 0, 4, 0, 0, 0, 0]

        // MARK: - The handshake

        @Test("a full handshake is judged once, a short one not at all", arguments: TLSVersion.allCases)
        func facts(version: TLSVersion) throws {
            let site = try Site(version, tickets: 2)
            let first = try Link(site)
            #expect(!first.engine.isEstablished && first.sent.isEmpty)

            try first.establish()

            #expect(first.engine.isEstablished && !first.engine.isResumed && first.engine.version == version)
            #expect(first.engine.cipherSuite == first.server.cipherSuite && first.engine.cipherSuite != 0)
            #expect(first.decisions.judged == [site.issued.chain] && first.decisions.questions == 0)
            #expect(!first.engine.wasAskedForIdentity && !first.engine.hasShownIdentity)
            #expect(first.engine.acceptedAuthorities.isEmpty)
            #expect(first.decisions.sessions.count == (version == .v1_3 ? 2 : 1))

            let second = try Link(site, resuming: first.decisions.sessions[0])
            try second.establish()

            #expect(second.engine.isEstablished && second.engine.isResumed && second.engine.version == version)
            #expect(second.decisions.judged.isEmpty)
        }

        @Test("the handshake stands still until the client has decided", arguments: TLSVersion.allCases)
        func undecided(version: TLSVersion) throws {
            let site = try Site(version)
            let link = try Link(site)
            link.decisions.verdicts = [.later, .later, .accept]

            #expect(link.handshake() == "undecided")
            #expect(link.sent.isEmpty && link.step() == "undecided" && link.sent.isEmpty)
            try link.establish()

            #expect(link.decisions.judged == Array(repeating: site.issued.chain, count: 3))
        }

        private static let refusals: [(Int32, UInt8)] = [
            (X509_V_ERR_CERT_HAS_EXPIRED, 45),
            (X509_V_ERR_CERT_REVOKED, 44),
            // No reason at all is still a refusal.
            (X509_V_OK, 40),
        ]

        @Test("the server hears why it was refused", arguments: refusals)
        func refused(result: Int32, alert: UInt8) throws {
            let link = try Link(Site(.v1_2))
            link.decisions.verdicts = [.refuse(result)]

            #expect(link.handshake() == "failed violation")
            #expect(link.sent == [21, 3, 3, 0, 2, 2, alert])
            #expect(!link.engine.isEstablished)
        }

        private static let otherAnswers: [([UInt8], String)] = [
            (Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), "failed notTLS"),
            ([21, 3, 3, 0, 2, 2, 40], "failed alert(40)"),
            ([21, 3, 3, 0, 2, 2, 70], "failed alert(70)"),
        ]

        @Test("what a server says in place of a handshake", arguments: otherAnswers)
        func otherAnswer(answer: [UInt8], outcome: String) throws {
            let link = try Link(Site(.v1_3))
            #expect(link.step() == "needsInput")

            link.arrive(answer)

            #expect(link.step() == outcome)
        }

        @Test("a server that goes away in the middle of the handshake has ended it", arguments: TLSVersion.allCases)
        func ended(version: TLSVersion) throws {
            let link = try Link(Site(version))
            #expect(link.step() == "needsInput")

            link.engine.noteInputEnded()

            #expect(link.step() == "failed ended")
        }

        @Test("a handshake has 32 messages and no more", arguments: [(27, "finished"), (28, "failed flood")])
        func longHandshake(requests: Int, outcome: String) throws {
            // A hello, certificates, keys, their end, and the last message.
            let link = try Link(Site(.v1_2))
            #expect(link.step() == "needsInput")

            link.arrive((0..<requests).flatMap { _ in Self.helloRequest })

            #expect(link.handshake() == outcome)
            #expect(link.engine.isEstablished == (outcome == "finished"))
        }

        @Test("an error without a number that others leave in the queue does not stay there, T-TLS-68")
        func errorWithoutNumber() {
            func isQueueEmpty() -> Bool {
                var file: UnsafePointer<CChar>?
                _ = ERR_peek_error_all(&file, nil, nil, nil, nil)
                return file == nil
            }
            ERR_clear_error()
            #expect(isQueueEmpty())
            ERR_new()
            #expect(ERR_peek_error() == 0 && !isQueueEmpty())

            caf_clear_errors()

            #expect(isQueueEmpty())
        }

        @Test("a name that is too long for TLS makes no engine")
        func longName() throws {
            let site = try Site(.v1_3)
            let name = String(repeating: "a", count: 256)
            ErrorQueue.poison()

            let failure = #expect(throws: TLSFailure.self) {
                try TLSEngine(context: site.context, serverName: name, resuming: nil, client: Decisions())
            }

            #expect(failure?.kind == .local && failure?.detail.contains("servername") == true, "\(failure as Any)")
            #expect(throws: Never.self) {
                try TLSEngine(
                    context: site.context,
                    serverName: String(name.dropLast()),
                    resuming: nil,
                    client: Decisions()
                )
            }
        }

        // MARK: - A certificate of ours

        @Test("the engine shows the identity that it was given, when it was given", arguments: TLSVersion.allCases)
        func identity(version: TLSVersion) throws {
            let site = try Site(version)
            let between = try site.authority.makeIntermediate()
            let identity = try ClientIdentity(between.issueClient("somebody"))
            #expect(identity.certificates.count == 2)
            let link = try Link(site)
            link.server.askForIdentity(of: site.authority.certificate)
            link.decisions.identities = [.later, .show(identity)]

            #expect(link.handshake() == "undecided")
            #expect(link.engine.wasAskedForIdentity && !link.engine.hasShownIdentity)
            let name = X509_get_subject_name(site.authority.certificate.handle)
            var bytes = [UInt8](repeating: 0, count: Int(i2d_X509_NAME(name, nil)))
            bytes.withUnsafeMutableBufferPointer { buffer in
                var next = buffer.baseAddress
                _ = i2d_X509_NAME(name, &next)
            }
            #expect(link.engine.acceptedAuthorities == [bytes])
            try link.establish()

            #expect(link.decisions.questions == 2 && link.engine.hasShownIdentity)
            #expect(link.server.shown == identity.certificates)
        }

        @Test("nothing is shown by whom nothing was given", arguments: TLSVersion.allCases)
        func noIdentity(version: TLSVersion) throws {
            let link = try Link(Site(version))
            link.server.askForIdentity()

            try link.establish()

            #expect(link.engine.wasAskedForIdentity && !link.engine.hasShownIdentity && link.server.shown.isEmpty)
            #expect(link.decisions.questions == 1)
        }

        @Test("an identity that OpenSSL does not take ends the handshake", arguments: TLSVersion.allCases)
        func brokenIdentity(version: TLSVersion) throws {
            // Its key is too short for the security level.
            let weak = try CertificateAuthority().issueClient("somebody", kind: .rsa(bits: 1024))
            let link = try Link(Site(version))
            link.server.askForIdentity()
            link.decisions.identities = [.show(try ClientIdentity(weak))]

            let outcome = link.handshake()

            #expect(
                outcome.hasPrefix("failed") && !link.engine.isEstablished && !link.engine.hasShownIdentity,
                "\(outcome)"
            )
            #expect(link.server.shown.isEmpty)
        }

        // MARK: - Data

        @Test("a record is opened at a time, and the rest stays where it is", arguments: TLSVersion.allCases)
        func records(version: TLSVersion) throws {
            let link = try Link(Site(version))
            try link.establish()
            link.server.send(Array("first".utf8))
            let first = link.server.take()
            link.server.send(Array("the second".utf8))
            let second = link.server.take()
            link.arrive(first + second)

            #expect(link.read() == "moved 5" && link.waiting == second)
            #expect(link.read(3) == "moved 3" && link.read(3) == "moved 3" && link.read() == "moved 4")
            #expect(link.read() == "needsInput" && link.waiting.isEmpty)
            #expect(link.received == Array("firstthe second".utf8))
        }

        @Test("buffers are given back between records only", arguments: TLSVersion.allCases)
        func buffers(version: TLSVersion) throws {
            let link = try Link(Site(version))
            try link.establish()
            #expect(link.engine.freeBuffers())
            link.server.send(Array("hello".utf8))
            let record = link.server.take()

            link.arrive(Array(record.dropLast()))
            #expect(link.read() == "needsInput" && !link.engine.freeBuffers())
            link.arrive(record.suffix(1))
            #expect(link.read(2) == "moved 2" && !link.engine.freeBuffers())
            #expect(link.read(3) == "moved 3" && link.engine.freeBuffers())

            #expect(link.received == Array("hello".utf8))
        }

        @Test("a record at most is sealed at a time, and there is room for it", arguments: TLSVersion.allCases)
        func largeWrite(version: TLSVersion) throws {
            let link = try Link(Site(version))
            try link.establish()
            let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0) }

            #expect(link.write(bytes) == "moved 16384")
            #expect(link.sent.count > 16_384 && link.sent.count < TLSEngine.outputReserve)
            #expect(link.write(Array(bytes[16_384...])) == "moved 3616")

            link.server.feed(link.takeSent())
            #expect(link.server.receive() == bytes)
        }

        @Test("output without room is an error of ours", arguments: TLSVersion.allCases)
        func noRoom(version: TLSVersion) throws {
            let link = try Link(Site(version))
            try link.establish()
            link.room = 20

            #expect(link.write(Array("hello".utf8)) == "failed local")
            #expect(link.sent.count == 20)
        }

        // MARK: - Messages without data

        @Test("32 messages without data may come in a row", arguments: [(32, "needsInput"), (33, "failed flood")])
        func tickets(count: Int, outcome: String) throws {
            let link = try Link(Site(.v1_3))
            try link.establish()

            link.server.sendTickets(count)
            link.arriveFromServer()

            #expect(link.read() == outcome)
        }

        @Test("data in between begin a new count", arguments: [(32, "needsInput"), (33, "failed flood")])
        func ticketsBetween(count: Int, outcome: String) throws {
            let link = try Link(Site(.v1_3))
            try link.establish()

            link.server.sendTickets(32)
            link.server.send(Array("data".utf8))
            link.server.sendTickets(count)
            link.arriveFromServer()

            #expect(link.read() == "moved 4" && link.read() == outcome)
        }

        @Test("records of the handshake are not counted with later ones")
        func ticketsAfterHandshake() throws {
            let link = try Link(Site(.v1_3))
            #expect(link.handshake() == "finished")
            link.server.feed(link.takeSent())
            link.server.handshake()

            link.server.sendTickets(32)
            link.arriveFromServer()

            #expect(link.read() == "needsInput")
        }

        @Test("a request to negotiate anew is refused at the first")
        func renegotiation() throws {
            let link = try Link(Site(.v1_2))
            try link.establish()

            link.server.renegotiate()
            link.arriveFromServer()

            #expect(link.read() == "failed renegotiation")
        }

        // MARK: - The end

        @Test("both sides say that they will send no more", arguments: TLSVersion.allCases)
        func closeNotify(version: TLSVersion) throws {
            let link = try Link(Site(version))
            link.close()
            #expect(link.sent.isEmpty)
            try link.establish()

            link.close()
            #expect(ERR_peek_error() == 0 && !link.server.hasReceivedCloseNotify)
            link.server.feed(link.takeSent())
            #expect(link.server.receive().isEmpty && link.server.hasReceivedCloseNotify)
            link.server.sendCloseNotify()
            link.arriveFromServer()

            #expect(link.read() == "closed")
        }

        @Test("an end without a close_notify cuts off what may have come", arguments: TLSVersion.allCases)
        func truncated(version: TLSVersion) throws {
            let link = try Link(Site(version))
            try link.establish()
            link.server.send(Array("hello".utf8))
            link.arriveFromServer()
            link.engine.noteInputEnded()

            #expect(link.read() == "moved 5" && link.read() == "truncated")
        }

        @Test("a record that was changed on its way is no end", arguments: TLSVersion.allCases)
        func changed(version: TLSVersion) throws {
            let link = try Link(Site(version))
            try link.establish()
            link.server.send(Array("hello".utf8))
            var record = link.server.take()
            record[record.count - 1] ^= 1
            link.arrive(record)

            #expect(link.read() == "failed violation" && link.received.isEmpty)
        }

        @Test("an engine lets go of who decides")
        func letsGo() throws {
            weak var decisions: AnyObject?
            do {
                let link = try Link(Site(.v1_3))
                try link.establish()
                decisions = link.decisions
                #expect(decisions != nil)
            }
            #expect(decisions == nil)
        }
    }
}
