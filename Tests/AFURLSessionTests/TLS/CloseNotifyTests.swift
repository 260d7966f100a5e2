import AFTLS

extension SecuredTests {
    /// How a connection ends, and what that says about the body before it.
    struct CloseNotifies {
        enum Framing: CaseIterable {
            case length
            case shortLength
            case chunks
            case openChunks
            case untilEnd

            var text: String {
                let head = "HTTP/1.1 200 OK\r\n"
                return switch self {
                case .length: head + "Content-Length: 10\r\n\r\n0123456789"
                case .shortLength: head + "Content-Length: 11\r\n\r\n0123456789"
                case .chunks: head + "Transfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n"
                case .openChunks: head + "Transfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n"
                case .untilEnd: head + "\r\n0123456789"
                }
            }

            var isComplete: Bool { self == .length || self == .chunks }
        }

        enum End: CaseIterable {
            case closeNotify
            case fin
            case reset
            case alert

            var steps: [ScriptStep] {
                switch self {
                case .closeNotify: [.close]
                case .fin: [.closeUnannounced]
                case .reset: [.reset]
                case .alert: [.sendAlert(80), .stall]
                }
            }
        }

        /// How the bytes of the answer are cut into records.
        enum Cut: CaseIterable {
            case whole
            case bytes
            case random

            func steps(_ text: String) -> [ScriptStep] {
                switch self {
                case .whole: [.send(text)]
                case .bytes: [.send(text, recordsOf: 1)]
                case .random: [.sendSplit(text, at: [3, 17, 18, text.utf8.count - 7, text.utf8.count - 1])]
                }
            }
        }

        struct Case: CustomTestStringConvertible {
            let version: TLSVersion
            let framing: Framing
            let end: End
            let cut: Cut

            var testDescription: String { "\(version) \(framing) \(end) \(cut)" }

            /// What comes of it: the body, or why there is none.
            func isRight(_ outcome: Outcome) -> Bool {
                if framing.isComplete { return outcome.text == "0123456789" }
                switch (framing, end) {
                case (.untilEnd, .closeNotify): return outcome.text == "0123456789"
                case (_, .closeNotify), (_, .fin): return outcome.code == -1005 && outcome.detail == .truncated
                case (_, .reset): return outcome.code == -1005 && outcome.reason == .lost
                case (_, .alert): return outcome.code == -1200 && outcome.error?.loadFailure?.security?.alert == 80
                }
            }
        }

        private static let cases = TLSVersion.allCases.flatMap { version in
            Framing.allCases.flatMap { framing in
                // The server can encrypt an alert of its own only in TLS 1.3.
                End.allCases.filter { $0 != .alert || version == .v1_3 }.flatMap { end in
                    Cut.allCases.map { Case(version: version, framing: framing, end: end, cut: $0) }
                }
            }
        }

        @Test("an end is believed only if it can be, T-TLS-64, 65", arguments: cases)
        func ends(test: Case) async throws {
            let site = try SecuredSite()
            let cut = test.cut.steps(test.framing.text)
            // A reset may overtake what came before it.
            let isGated = test.end == .reset
            let gate = isGated ? [ScriptStep.pause(until: "seen")] : []
            site.server.script(steps: [.expectRequest] + cut + gate + test.end.steps)
            let session = site.session { $0.speak(test.version) }
            let outcomes = Outcomes()
            let task = session.dataTask(with: site.server.url("/x"), completionHandler: outcomes.handler)
            task.resume()
            if isGated {
                try await eventually { task.countOfBytesReceived == 10 }
                site.server.signal("seen")
            }

            let outcome = try await outcomes.first()

            #expect(test.isRight(outcome), "\(outcome)")
            #expect(task.countOfBytesReceived == 10)
            try await site.server.waitForEnd(ofConnection: 1)
            // None of these connections serves again.
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
            #expect(site.server.acceptedConnections == 2)
        }

        private static let tolerant = [
            (Framing.untilEnd, true), (.shortLength, false), (.openChunks, false), (.length, true), (.chunks, true),
        ]

        @Test(
            "a missing close_notify can be tolerated, and only that, T-TLS-64",
            arguments: tolerant,
            TLSVersion.allCases
        )
        func tolerated(expected: (framing: Framing, isRead: Bool), version: TLSVersion) async throws {
            let site = try SecuredSite()
            site.server.script(.expectRequest, .send(expected.framing.text), .closeUnannounced)
            let session = site.session { tls in
                tls.speak(version)
                tls.toleratesMissingCloseNotify = true
            }

            let outcome = try await session.outcome(of: site.server.url("/x"))

            #expect((outcome.text == "0123456789") == expected.isRead, "\(outcome)")
        }

        @Test("a body that only its head bounds is not known to be whole, T-TLS-64", arguments: TLSVersion.allCases)
        func emptyBody(version: TLSVersion) async throws {
            let site = try SecuredSite()
            let session = site.session { $0.speak(version) }
            site.server.script(.expectRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .closeUnannounced)
            #expect(try await session.outcome(of: site.server.url("/1")).detail == .truncated)
            site.server.script(.expectRequest, .send("HTTP/1.1 204 No Content\r\n\r\n"), .closeUnannounced)
            #expect(try await session.outcome(of: site.server.url("/2")).status == 204)
            site.server.script(.expectRequest, .send("HTTP/1.1 200"), .closeUnannounced)
            #expect(try await session.outcome(of: site.server.url("/3")).code == -1005)
            site.server.script(.expectRequest, .closeUnannounced)
            #expect(try await session.outcome(of: site.server.url("/4")).code == -1005)
        }

        @Test func `T-TLS-64 the error says what may have happened`() async throws {
            let site = try SecuredSite()
            site.server.script(.expectRequest, .send(Framing.untilEnd.text), .closeUnannounced)

            let failure = try #require(
                try await site.session().outcome(of: site.server.url("/x")).error?.loadFailure
            )

            #expect(failure.phase == .receivingBody && failure.message.contains("close_notify"))
        }
    }
}
