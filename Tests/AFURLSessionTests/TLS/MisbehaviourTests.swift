import AFFaults
import AFTLS

extension SecuredTests {
    /// Servers that go on negotiating when all is said.
    struct Misbehaviour {
        private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"

        private func fails(
            _ site: SecuredSite,
            _ version: TLSVersion,
            _ detail: LoadFailure.Detail?,
            _ phase: LoadFailure.Phase = .receivingBody
        ) async throws {
            let identity = try site.identity("somebody")
            let session = site.session { tls in
                tls.speak(version)
                tls.identity = identity
            }

            let outcome = try await session.outcome(of: site.server.url("/x"))

            #expect(outcome.code == -1200 && outcome.detail == detail, "\(outcome)")
            #expect(outcome.error?.loadFailure?.phase == phase, "\(outcome)")
            let end = try await site.ended()
            #expect(site.server.acceptedConnections == 1 && end.requestCount == 1)
            #expect(end.tls?.clientCertificates == [])
        }

        // MARK: - Renegotiation

        @Test func `T-TLS-62 a new handshake in the middle of a body is refused`() async throws {
            let site = try SecuredSite()
            site.server.script(.expectRequest, .send(Self.head + "01234"), .renegotiate, .send("56789"), .stall)

            try await fails(site, .v1_2, .renegotiation)
        }

        @Test func `T-TLS-62 a new handshake in place of an answer is refused`() async throws {
            let site = try SecuredSite()
            site.server.script(.expectRequest, .renegotiate, .send(Self.head + "0123456789"), .stall)

            try await fails(site, .v1_2, .renegotiation, .waitingForHead)
        }

        @Test func `T-TLS-62 a certificate cannot be asked for in the middle of a body`() async throws {
            let site = try SecuredSite()
            site.server.script(.expectRequest, .send(Self.head + "01234"), .requestCertificate, .send("56789"), .stall)

            let identity = try site.identity("somebody")
            let outcome = try await site.session { $0.identity = identity }.outcome(of: site.server.url("/x"))

            #expect(outcome.code == -1200 && outcome.reason == .tls, "\(outcome)")
            #expect(try await site.ended().tls?.clientCertificates == [])
        }

        // MARK: - Floods

        enum Flood: CaseIterable {
            case keys
            case keysBack
            case tickets
            case emptyRecords

            func steps(_ count: Int) -> [ScriptStep] {
                switch self {
                case .keys: [.updateKeys(count)]
                case .keysBack: [.updateKeys(count, asksBack: true)]
                case .tickets: [.sendTickets(count)]
                case .emptyRecords:
                    [ScriptStep](repeating: .sendRecord(type: 23, bytes: [UInt8]()), count: count)
                }
            }
        }

        @Test("more than 32 messages without data are a flood, T-TLS-63", arguments: Flood.allCases)
        func flood(flood: Flood) async throws {
            let site = try SecuredSite()
            site.server.script(
                steps: [.expectRequest, .send(Self.head + "01234")] + flood.steps(200) + [.stall]
            )

            try await fails(site, .v1_3, .flood)
        }

        @Test("a flood in place of an answer, T-TLS-63", arguments: Flood.allCases)
        func earlyFlood(flood: Flood) async throws {
            let site = try SecuredSite()
            site.server.script(steps: [.expectRequest] + flood.steps(200) + [.stall])

            try await fails(site, .v1_3, .flood, .waitingForHead)
        }

        @Test("some messages without data are no flood, T-TLS-63", arguments: Flood.allCases)
        func trickle(flood: Flood) async throws {
            let site = try SecuredSite()
            let digits = "0123456789".map { ScriptStep.send(String($0)) }
            // Records of its own cannot be followed by data of the server: they come last.
            let steps: [ScriptStep] =
                flood == .emptyRecords
                ? [.send(Self.head + "01234")] + flood.steps(20)
                    + [.sendRecord(type: 23, bytes: Array("56789".utf8))]
                : [.send(Self.head)] + digits.flatMap { flood.steps(20) + [$0] }
            site.server.script(steps: [.expectRequest] + steps + [.stall])

            let outcome = try await site.session { $0.speak(.v1_3) }.outcome(of: site.server.url("/x"))

            #expect(outcome.text == "0123456789", "\(outcome)")
        }

        @Test("a flood on an idle connection ends it, T-TLS-63", arguments: Flood.allCases)
        func idleFlood(flood: Flood) async throws {
            let site = try SecuredSite()
            site.server.script(
                steps: [.expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")] + flood.steps(200)
                    + [.stall]
            )
            let session = site.session { $0.speak(.v1_3) }

            #expect(try await session.outcome(of: site.server.url("/x")).text == "ok")

            _ = try await site.ended()
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
            #expect(site.server.acceptedConnections == 2)
        }

        @Test("a close_notify in the middle of the handshake is an end, T-TLS-63")
        func earlyCloseNotify() async throws {
            let site = try SecuredSite()
            try site.server.use(tls: nil)
            site.server.script(.receive(5), .send(bytes: [21, 3, 3, 0, 2, 1, 0]), .stall)

            let outcome = try await site.session().outcome(of: site.secureURL("/x"))

            #expect(outcome.code == -1005 && outcome.error?.loadFailure?.phase == .tls, "\(outcome)")
            #expect(try await site.ended().requestCount == 0)
        }

        @Test("warnings in place of a handshake are a flood, T-TLS-63")
        func warnings() async throws {
            let site = try SecuredSite()
            try site.server.use(tls: nil)
            let warning: [UInt8] = [21, 3, 3, 0, 2, 1, 100]
            site.server.script(
                .receive(5),
                .send(bytes: [[UInt8]](repeating: warning, count: 500).flatMap { $0 }),
                .stall
            )

            let outcome = try await site.session { $0.speak(.v1_2) }.outcome(of: site.secureURL("/x"))

            #expect(outcome.code == -1200 && outcome.reason == .tls, "\(outcome)")
        }

        @Test("requests to begin in place of a handshake are a flood, T-TLS-63", arguments: [33, 4000])
        func requestsToBegin(count: Int) async throws {
            let site = try SecuredSite()
            try site.server.use(tls: nil)
            // Each is four zeros, and a client in a handshake skips it.
            let size = 4 * count
            let head: [UInt8] = [22, 3, 3, UInt8(size >> 8), UInt8(size & 0xFF)]
            site.server.script(.receive(5), .send(bytes: head + [UInt8](repeating: 0, count: size)), .stall)

            let outcome = try await site.session().outcome(of: site.secureURL("/x"))

            #expect(outcome.code == -1200 && outcome.detail == .flood, "\(outcome)")
            #expect(outcome.error?.loadFailure?.phase == .tls, "\(outcome)")
        }

        @Test(
            "records in place of a handshake, T-TLS-63",
            arguments: [20, 21, 22, 23, 24, 99] as [UInt8],
            [0, 1, 4] as [UInt8]
        )
        func emptyRecords(type: UInt8, size: UInt8) async throws {
            let site = try SecuredSite()
            try site.server.use(tls: nil)
            let record = [type, 3, 3, 0, size] + [UInt8](repeating: 1, count: Int(size))
            site.server.script(
                .receive(5),
                .send(bytes: [[UInt8]](repeating: record, count: 300).flatMap { $0 }),
                .close
            )

            let outcome = try await site.session().outcome(of: site.secureURL("/x"))

            #expect([-1200, -1005].contains(outcome.code), "\(outcome)")
        }

        @Test func `T-TLS-63 a flood without end costs next to nothing`() async {
            await #expect(processExitsWith: .success) {
                let site = try SecuredSite()
                site.server.script(
                    on: .every,
                    .expectRequest,
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"),
                    .updateKeys(20_000, asksBack: true),
                    .stall
                )
                let session = site.session { $0.speak(.v1_3) }
                _ = try await session.outcome(of: site.server.url("/warm"))
                let before = networkThreadTicks
                let outcomes = try await (1...20).asyncMap { number in
                    try await session.outcome(of: site.server.url("/\(number)"))
                }
                #expect(outcomes.allSatisfy { $0.detail == .flood })
                // Hundredths of a second, for twenty connections with their handshakes.
                #expect(networkThreadTicks - before < 50)
            }
        }
    }
}

/// What the network thread has used of the processor, in hundredths of a second.
private var networkThreadTicks: Int {
    for task in LeakCheck.entries(of: "/proc/self/task") {
        let line = ProcessUse.text(of: "/proc/self/task/\(task)/stat")
        guard line.contains("(AFNetworking)") else { continue }
        let fields = line.split(separator: " ").dropFirst(13).prefix(2).compactMap { Int($0) }
        return fields.reduce(0, +)
    }
    return 0
}

extension Sequence where Element: Sendable {
    fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
