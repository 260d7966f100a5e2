/// What servers write, as far as it gets into errors.
@Suite("Hostile text")
struct HostileTextTests {
    /// Drives a terminal, turns text around, and is long.
    private static let hostile = "\u{9B}2J\u{202E}" + String(repeating: "A", count: 20_000)

    private static let answers = [
        "HTTP/1.1 2\u{1B}[31m0 OK\r\n\r\n",
        "\(hostile)\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: \u{1B}[31m\(hostile)\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\(hostile)\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: \(hostile)\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(hostile)\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(hostile)\r\n",
        "HTTP/1.1 302 Found\r\nLocation: http://\(hostile)/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: http://a.test:\(hostile)\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: http://u\u{1B}:p@a.test/\r\nContent-Length: 0\r\n\r\n",
    ]

    @Test("T-MSG-57 what a server writes is printable and short in every text of an error", arguments: answers.indices)
    func answer(index: Int) async throws {
        let server = try TestServer()
        server.script(.expectRequest, .send(Self.answers[index]), .stall)

        let outcome = try await URLSession.loopback().outcome(of: server.url())

        expectHarmless(try #require(outcome.error, "\(outcome.description.prefix(100))"))
    }

    @Test func `T-MSG-57 what a certificate says is printable and short in every text of an error`() async throws {
        let authority = try CertificateAuthority(Self.hostile)
        let nameless = try authority.issue(for: "127.0.0.1") {
            $0.subject = [.commonName(Self.hostile), .organization(Self.hostile)]
            $0.alternativeNames = []
        }
        let misnamed = try authority.issue(for: "other.test") { $0.alternativeNames += [.dns(Self.hostile)] }
        for leaf in [nameless, misnamed] {
            let site = try SecuredSite(authority: authority, leaf)
            for session in [URLSession.loopback(), site.session()] {
                let outcome = try await session.outcome(of: try site.secureURL("/hello"))
                let error = try #require(outcome.error)
                #expect(outcome.reason == .trust)
                expectHarmless(error)
            }
        }
    }

    private func expectHarmless(_ error: URLError) {
        let failure = error.loadFailure
        let texts =
            error.userInfo.values.compactMap { $0 as? String }
            + [error.localizedDescription, failure?.message ?? "", failure?.description ?? "none"]
        for text in texts {
            let drives = text.unicodeScalars.contains { scalar in
                scalar != "\n" && [.control, .format].contains(scalar.properties.generalCategory)
            }
            #expect(!drives && text.utf8.count < 6000, "\(text.debugDescription.prefix(300))")
        }
        #expect(error.localizedDescription.utf8.count < 1500)
    }
}
