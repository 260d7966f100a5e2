import AFTLS

extension SecuredTests {
    /// What a server sends on an idle connection.
    struct LateMessages {
        private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

        @Test("tickets that come when their task is gone are kept for the next, T-TLS-07")
        func lateTickets() async throws {
            let site = try SecuredSite { tls, _ in tls.ticketCount = 0 }
            site.server.script(
                .expectRequest,
                .send(Self.answer),
                .pause(until: "gone"),
                .sendTickets(3),
                .expectRequest,
                .send(Self.answer)
            )
            let session = site.session { $0.speak(.v1_3) }
            // The handler, and with it the task, is gone when this returns.
            #expect(try await session.outcome(of: site.server.url("/1")).text == "ok")

            site.server.signal("gone")

            #expect(try await session.outcome(of: site.server.url("/2")).text == "ok")
            #expect(site.server.acceptedConnections == 1)
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
            #expect(site.server.connections[1].tls?.isResumed == true)
        }

        enum Demand: CaseIterable {
            case certificate
            case handshake
        }

        @Test("a demand that comes when its task is gone ends the connection, T-TLS-07", arguments: Demand.allCases)
        func lateDemand(demand: Demand) async throws {
            let site = try SecuredSite()
            let step: ScriptStep = demand == .certificate ? .requestCertificate : .renegotiate
            site.server.script(.expectRequest, .send(Self.answer), .pause(until: "gone"), step, .stall)
            let identity = try site.identity("somebody")
            let session = site.session { tls in
                tls.speak(demand == .certificate ? .v1_3 : .v1_2)
                tls.identity = identity
            }
            #expect(try await session.outcome(of: site.server.url("/1")).text == "ok")

            site.server.signal("gone")
            let end = try await site.ended()
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")

            #expect(end.requestCount == 1 && end.tls?.clientCertificates == [])
            #expect(site.server.acceptedConnections == 2)
        }
    }
}
