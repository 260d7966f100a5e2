import AFTLS

@testable import AFURLSession
@testable import AFURLTypes

extension SecuredTests {
    /// What was learned from a server under one judgement counts under no other: all stores, all pairs of judgements.
    struct Scopes {
        /// Who accepts the server.
        enum Judge: String, CaseIterable, CustomTestStringConvertible {
            /// The standard evaluation, against the site's authority.
            case standard
            /// An evaluator that accepts every server.
            case lax
            /// Another one, with the same bytes.
            case laxToo
            /// The session's delegate.
            case delegate

            var testDescription: String { rawValue }

            func configure(_ configuration: URLSessionConfiguration, _ site: SecuredSite) {
                switch self {
                case .standard: configuration.tls.anchors = .certificates([site.authority.certificate])
                case .lax: configuration.tls.evaluator = Lax()
                case .laxToo: configuration.tls.evaluator = LaxToo()
                case .delegate: break
                }
            }

            var sessionDelegate: TrustDelegate? {
                self == .delegate ? TrustDelegate { TrustDelegate.trusting($0) } : nil
            }

            /// Whether another session with this judge takes over what a session with the other has learned. A delegate
            /// is known to its own session alone.
            func shares(with other: Judge) -> Bool { self == other && self != .delegate }
        }

        /// Where a session keeps what it has learned.
        enum Store: String, CaseIterable, CustomTestStringConvertible {
            case cache
            case resumeData
            case hsts

            var testDescription: String { rawValue }
        }

        private static let body = pattern(400_000)

        private struct Lax: ServerEvaluator {
            let fingerprint: [UInt8]? = [1]
            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        }

        private struct LaxToo: ServerEvaluator {
            let fingerprint: [UInt8]? = [1]
            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        }

        @Test(
            "T-TLS-84 what one session has learned from a server counts for another only under the same judgement",
            arguments: Store.allCases,
            Judge.allCases
        )
        func pairs(store: Store, first: Judge) async throws {
            for second in Judge.allCases {
                let site = try SecuredSite()
                let isTakenOver =
                    switch store {
                    case .cache: try await cached(first, second, site)
                    case .resumeData: try await resumed(first, second, site)
                    case .hsts: try await learned(first, site)
                    }
                let isExpected = store == .hsts ? first == .standard : second.shares(with: first)
                #expect(isTakenOver == isExpected, "\(store), \(first), then \(second)")
            }
        }

        private func cached(_ first: Judge, _ second: Judge, _ site: SecuredSite) async throws -> Bool {
            site.server.route("GET", "/1", ServerReply.text("hello").header("Cache-Control", "max-age=600"))
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            for judge in [first, second] {
                let session = URLSession.loopback(delegate: judge.sessionDelegate) { configuration in
                    judge.configure(configuration, site)
                    configuration.urlCache = cache
                }
                #expect(try await session.outcome(of: site.server.url("/1")).text == "hello")
                await session.settled()
            }
            return site.server.requests.count == 1
        }

        private func resumed(_ first: Judge, _ second: Judge, _ site: SecuredSite) async throws -> Bool {
            let isFirst = Lock(true)
            site.server.route("GET", "/file") { request in
                let reply = ServerReply.file(Self.body, entityTag: "\"1\"", to: request)
                let cuts = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                return cuts ? reply.closing(after: 200_000) : reply
            }
            let folder = try ScratchFolder()
            func session(_ judge: Judge) -> URLSession {
                .downloading(to: folder, delegate: judge.sessionDelegate) { judge.configure($0, site) }
            }
            let data = try #require(try await session(first).download(site.server.url("/file")).resumeData)

            let outcome = try await session(second).goingOn(with: data)

            #expect(outcome.contents == Self.body, "\(outcome)")
            let ranges = site.server.requests.dropFirst().map { $0.headers["Range"] }
            // The server is asked for the rest before the session knows who it is, and then for the whole.
            #expect(ranges == ["bytes=200000-"] || ranges == ["bytes=200000-", nil])
            return ranges.count == 1
        }

        /// Whether a session with the first judge has learned for all that the site wants TLS.
        private func learned(_ first: Judge, _ site: SecuredSite) async throws -> Bool {
            site.server.route("GET", "/1", ServerReply.text("hello").header("Strict-Transport-Security", "max-age=99"))
            let url = try #require(URL(string: "https://localhost:\(site.server.port)/1"))
            let place = try #require(HostOverride(host: "localhost", toHost: "127.0.0.1"))
            let known = HSTSStore()
            let session = URLSession.loopback(delegate: first.sessionDelegate) { configuration in
                first.configure(configuration, site)
                configuration.strictTransportSecurity = known
                configuration.hostOverrides = [place]
            }
            #expect(try await session.outcome(of: url).text == "hello")
            return !known.entries.isEmpty
        }

        // MARK: - Within a session

        @Test("T-AUT-02 a password proven where a strict judge accepts goes unasked to no server of a lax one")
        func credentials() async throws {
            let site = try SecuredSite()
            site.server.route("GET", "/private") { request in
                request.headers["Authorization"] == nil
                    ? ServerReply.status(401).header("WWW-Authenticate", "Basic realm=r") : .text("secret")
            }
            let session = URLSession.loopback { configuration in
                configuration.tls = site.tls
                configuration.urlCredentialStorage = nil
            }
            func load(by delegate: TaskTrustDelegate) async throws -> Outcome {
                let outcomes = Outcomes()
                let task = session.dataTask(with: site.server.url("/private"), completionHandler: outcomes.handler)
                task.delegate = delegate
                task.resume()
                return try await outcomes.first()
            }
            let one = TaskTrustDelegate { challenge in
                guard challenge.protectionSpace.serverTrust == nil, challenge.previousFailureCount == 0 else {
                    return (.performDefaultHandling, nil)
                }
                return (.useCredential, URLCredential(user: "u", password: "one", persistence: .forSession))
            }
            let other = TaskTrustDelegate { _ in (.performDefaultHandling, nil) }

            #expect(try await load(by: one).text == "secret")
            #expect(try await load(by: one).text == "secret")
            let count = site.server.requests.count
            // Asked once, and then unasked.
            #expect(count == 3)
            #expect(try await load(by: other).status == 401)
            #expect(site.server.requests.dropFirst(count).allSatisfy { $0.headers["Authorization"] == nil })
        }
    }
}
