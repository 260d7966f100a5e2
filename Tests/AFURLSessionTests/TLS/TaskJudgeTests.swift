import AFTLS

@testable import AFURLSession
@testable import AFURLTypes

extension SecuredTests {
    /// What one task's delegate has said about a server is said for that delegate's tasks only.
    struct TaskJudges {
        private let site: SecuredSite

        init() throws {
            site = try SecuredSite()
        }

        // MARK: - In every order

        /// What a task brings along, and what comes of it at a server that is trusted, and at one that is not.
        enum Kind: String, CaseIterable, CustomTestStringConvertible {
            case none
            case silent
            case accepting
            case standard
            case cancelling

            var testDescription: String { rawValue }

            var delegate: (any URLSessionTaskDelegate)? {
                switch self {
                case .none: nil
                case .silent: SilentDelegate()
                case .accepting: TaskTrustDelegate { TrustDelegate.trusting($0) ?? (.performDefaultHandling, nil) }
                case .standard: TaskTrustDelegate { _ in (.performDefaultHandling, nil) }
                case .cancelling: TaskTrustDelegate { _ in (.cancelAuthenticationChallenge, nil) }
                }
            }

            func code(isTrusted: Bool) -> Int? {
                switch self {
                case .none, .silent, .standard: isTrusted ? nil : -1203
                case .accepting: nil
                case .cancelling: -999
                }
            }
        }

        /// By which way two tasks might come to the same connection, tunnel or TLS session.
        enum Way: String, CaseIterable, CustomTestStringConvertible {
            case idle
            case resumed
            case tunnel
            case redirect

            var testDescription: String { rawValue }
        }

        @Test(
            "T-TLS-84 what comes of a task does not depend on whose delegate was asked before",
            arguments: Way.allCases,
            [true, false]
        )
        func everyOrder(way: Way, isTrusted: Bool) async throws {
            site.server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
            let clear = try TestServer()
            let url = site.server.url(way == .resumed ? "/bye" : "/hello")
            clear.route("GET", "/go", ServerReply.status(302).header("Location", url.absoluteString))
            let proxy = try TestProxy()
            var proxies = ProxyConfiguration(try ProxyServer("http://127.0.0.1:\(proxy.server.port)"))
            proxies.includesLoopback = true
            for first in Kind.allCases {
                for second in Kind.allCases {
                    let session = URLSession.loopback { [proxies] configuration in
                        configuration.tls = site.tls
                        if !isTrusted { configuration.tls.anchors = .certificates([]) }
                        if way == .tunnel { configuration.proxies = proxies }
                    }
                    for kind in [first, second] {
                        let outcome = try await session.outcome(
                            of: way == .redirect ? clear.url("/go") : url,
                            by: kind.delegate
                        )
                        #expect(
                            outcome.code == kind.code(isTrusted: isTrusted),
                            "\(kind) of \(first) and \(second): \(outcome)"
                        )
                    }
                }
            }
        }

        @Test(
            "T-TLS-84 the certificate that one task's delegate shows is no other task's",
            arguments: TLSVersion.allCases
        )
        func identities(version: TLSVersion) async throws {
            let site = try SecuredSite { tls, _ in tls.clientCertificates = .requested }
            let names = ["a", "b", nil]
            let issued = try names.map { try $0.map { try site.authority.issueClient($0) } }
            let identities = try issued.map { try $0.map { try ClientIdentity($0) } }
            for first in names.indices {
                for second in names.indices {
                    let session = site.session { $0.speak(version) }
                    for number in [first, second, first] {
                        let identity = identities[number]
                        let delegate = identity.map { identity in
                            TaskTrustDelegate { challenge in
                                guard challenge.protectionSpace.serverTrust == nil else {
                                    return (.performDefaultHandling, nil)
                                }
                                return (.useCredential, URLCredential(identity: identity))
                            }
                        }

                        let outcome = try await session.outcome(of: site.server.url("/hello"), by: delegate)

                        #expect(outcome.text == "hello")
                        let connection = try #require(site.server.requests.last?.connection)
                        #expect(
                            site.server.connections[connection - 1].tls?.clientCertificates
                                == [issued[number]?.certificate].compactMap { $0 },
                            "\(number) of \(first) and \(second)"
                        )
                    }
                }
            }
        }

        // MARK: - Who shares

        @Test func `T-TLS-84 tasks with the same delegate share a connection, another object of its class does not`()
            async throws
        {
            let session = site.session { $0.anchors = .certificates([]) }
            let (one, other) = (TaskTrustDelegate(), TaskTrustDelegate())
            let url = site.server.url("/hello")

            for delegate in [one, one, other, one, other] {
                #expect(try await session.outcome(of: url, by: delegate).text == "hello")
            }

            #expect(site.server.requests.map(\.connection) == [1, 1, 2, 1, 2])
            #expect(one.count == 1 && other.count == 1)
        }

        @Test func `a delegate without a method for challenges shares with all once its class is known`() async throws {
            let session = site.session()
            let url = site.server.url("/hello")

            for delegate in [nil, SilentDelegate(), SilentDelegate(), nil] {
                #expect(try await session.outcome(of: url, by: delegate).text == "hello")
            }

            #expect(site.server.requests.map(\.connection) == [1, 2, 1, 1])
        }

        @Test func `where the session's delegate answers for the whole session, all tasks share`() async throws {
            let (all, own) = (TrustDelegate { TrustDelegate.trusting($0) }, TaskTrustDelegate())
            let session = site.session(delegate: all) { $0.anchors = .certificates([]) }
            let url = site.server.url("/hello")

            for delegate in [nil, own, TaskTrustDelegate(), nil] {
                #expect(try await session.outcome(of: url, by: delegate).text == "hello")
            }

            #expect(site.server.acceptedConnections == 1)
            #expect(all.methods.value.count == 1 && own.count == 0)
        }

        @Test func `T-TLS-84 where the session's delegate stops answering, those of tasks are asked`() async throws {
            let all = WaveringDelegate()
            let session = site.session(delegate: all) { $0.anchors = .certificates([]) }
            let (url, bye) = (site.server.url("/hello"), site.server.url("/bye"))
            site.server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
            let cancels = TaskTrustDelegate { _ in (.cancelAuthenticationChallenge, nil) }
            #expect(try await session.outcome(of: url).text == "hello")
            #expect(try await session.outcome(of: url, by: cancels).text == "hello")
            #expect(cancels.count == 0)

            all.answers.withLock { $0 = false }
            // One connection ends, so that the next one brings it to light.
            #expect(try await session.outcome(of: bye).text == "bye")

            #expect(try await session.outcome(of: url, by: cancels).code == -999)
            #expect(try await session.outcome(of: url).code == -1203)
            #expect(cancels.count == 1)
        }

        @Test func `T-TLS-84 a method that is ignored from now on has accepted nothing for those who come`()
            async throws
        {
            let session = site.session(delegate: TaskTrustDelegate()) { $0.anchors = .certificates([]) }
            let url = site.server.url("/hello")
            #expect(try await session.outcome(of: url).text == "hello")

            session.ignoredDelegateMethods = .taskDidReceiveChallenge
            #expect(try await session.outcome(of: url).code == -1203)
            session.ignoredDelegateMethods = []

            #expect(try await session.outcome(of: url).text == "hello")
            #expect(site.server.requests.map(\.connection) == [1, 3])
        }

        // MARK: - Waiting

        @Test func `T-TLS-84 a request that waits gets no connection that another's delegate was asked about`()
            async throws
        {
            site.server.route("GET", "/held", ServerReply.text("held").held(until: "end"))
            let tls = site.tls
            let session = URLSession.loopback { configuration in
                configuration.tls = tls
                configuration.tls.anchors = .certificates([])
                configuration.httpMaximumConnectionsPerHost = 1
                configuration.httpShouldUsePipelining = true
            }
            let (held, waiting, cancelled) = (Outcomes(), Outcomes(), Outcomes())
            let accepting = TaskTrustDelegate()
            session.start(site.server.url("/held"), by: accepting, held)
            try await site.server.waitForRequests(1)
            session.start(site.server.url("/hello"), by: accepting, waiting)
            session.start(site.server.url("/hello"), by: Kind.cancelling.delegate, cancelled)

            #expect(try await cancelled.first().code == -999)
            #expect(try await session.outcome(of: site.server.url("/hello")).code == -1203)
            site.server.signal("end")

            #expect(try await waiting.first().text == "hello")
            #expect(accepting.count == 1 && site.server.requests.count == 2)
        }

        @Test func `T-TLS-30 each connection made for a delegate is asked about`() async throws {
            site.server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
            let session = site.session { $0.anchors = .certificates([]) }
            let delegate = TaskTrustDelegate()

            for _ in 1...3 {
                #expect(try await session.outcome(of: site.server.url("/bye"), by: delegate).text == "bye")
            }

            #expect(delegate.count == 3)
            #expect(try await site.handshakes().allSatisfy { $0.isFresh })
        }

        // MARK: - Caches

        @Test func `T-TLS-84 a response over a connection that one delegate accepted is stored for that one`()
            async throws
        {
            site.server.route("GET", "/1", ServerReply.text("body").header("Cache-Control", "max-age=1000"))
            let tls = site.tls
            let session = URLSession.loopback { configuration in
                configuration.tls = tls
                configuration.tls.anchors = .certificates([])
                configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            }
            let (url, accepting) = (site.server.url("/1"), TaskTrustDelegate())
            #expect(try await session.outcome(of: url, by: accepting).text == "body")
            await session.settled()

            #expect(try await session.outcome(of: url, by: Kind.cancelling.delegate).code == -999)
            #expect(try await session.outcome(of: url, by: Kind.standard.delegate).code == -1203)
            #expect(try await session.outcome(of: url).code == -1203)
            #expect(try await session.outcome(of: url, by: accepting).text == "body")
            #expect(site.server.requests.count == 1)
            #expect(try await session.outcome(of: url, by: TaskTrustDelegate()).text == "body")
            #expect(site.server.requests.count == 2)
        }

        // MARK: - Streams

        @Test("T-TLS-84 a stream is secured as its own delegate wants it", arguments: TLSVersion.allCases)
        func streams(version: TLSVersion) async throws {
            let authority = try CertificateAuthority()
            let tls = ServerTLS(try authority.issue(for: "localhost"))
            let server = try TestServer()
            for number in 1...3 {
                server.script(on: .connection(number), .handshake(tls), .send("secret"), .announceEnd, .close)
            }
            var rules = TLSConfiguration()
            rules.anchors = .certificates([authority.certificate])
            rules.speak(version)
            let session = URLSession.loopback { [rules] in $0.tls = rules }
            let cancels = TaskTrustDelegate { _ in (.cancelAuthenticationChallenge, nil) }

            // The first one leaves a TLS session behind, by which the next would be spared all questions.
            let turns: [(TaskTrustDelegate?, String?)] = [(nil, "secret"), (cancels, nil), (nil, "secret")]
            for (delegate, text) in turns {
                let task = session.streamTask(withHostName: "localhost", port: Int(server.port))
                task.delegate = delegate
                task.startSecureConnection()
                task.resume()
                let data = try? await task.readData(ofMinLength: 6, maxLength: 6, timeout: 10).0
                #expect(data.map { String(decoding: $0, as: UTF8.self) } == text)
                task.cancel()
            }

            #expect(cancels.count == 1)
        }

        // MARK: - Lives

        @Test func `T-TLS-84 the delegate that a task has when it begins is asked, and no later one`() async throws {
            site.server.script(on: .connection(1), .pause(until: "go"), .handshake, .serve)
            let session = site.session { $0.anchors = .certificates([]) }
            let (first, second, third) = (TaskTrustDelegate(), TaskTrustDelegate(), TaskTrustDelegate())
            let outcomes = Outcomes()
            let task = session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler)
            task.delegate = first
            task.delegate = second
            task.resume()
            try await site.server.waitForConnections(1)

            task.delegate = third
            site.server.signal("go")

            #expect(try await outcomes.first().text == "hello")
            #expect([first, second, third].map(\.count) == [0, 1, 0])
        }

        @Test func `T-API-10 an idle connection does not keep the delegate alive that accepted it`() async throws {
            let session = site.session { $0.anchors = .certificates([]) }
            weak var delegate: TaskTrustDelegate?
            do {
                let made = TaskTrustDelegate()
                delegate = made
                #expect(try await session.outcome(of: site.server.url("/hello"), by: made).text == "hello")
            }

            await session.settled()
            for _ in 1...100 where delegate != nil { await session.settled() }

            #expect(delegate == nil && site.server.acceptedConnections == 1)
        }

        @Test func `the numbers of delegates that are gone are forgotten, once they are as many as those in use`() {
            // All are made before one goes, so that no address is used twice.
            var delegates: [SilentDelegate?] = (0..<60).map { _ in SilentDelegate() }
            var numbers = DelegateNumbers()
            func number(_ places: Range<Int>, andLetGo goes: Bool = false) -> Int {
                for place in places {
                    if let delegate = delegates[place] { _ = numbers.number(of: delegate) }
                }
                if goes { for place in places { delegates[place] = nil } }
                return numbers.count
            }

            #expect(number(0..<16, andLetGo: true) == 16)
            #expect(number(16..<32) == 16)
            #expect(number(32..<33) == 17)
            #expect(number(33..<38, andLetGo: true) == 22)
            #expect(number(38..<48, andLetGo: true) == 32)
            #expect(number(48..<49) == 18)
        }

        @Test func `T-TLS-84 no delegate gets the number of one that is gone`() {
            var numbers = DelegateNumbers()
            let kept = (0..<10).map { _ in SilentDelegate() }
            let known = kept.map { numbers.number(of: $0) }
            var met = Set(known)
            var places: Set<ObjectIdentifier> = []
            var made = 0
            // The address sanitizer gives out the memory of an object again only after thousands of others.
            while made < 1000 || places.count == made && made < 100_000 {
                let delegate = SilentDelegate()
                places.insert(ObjectIdentifier(delegate))
                guard met.insert(numbers.number(of: delegate)).inserted else {
                    Issue.record("delegate \(made) has the number of an earlier one")
                    break
                }
                made += 1
            }

            #expect(places.count < made, "no address was used twice: this shows nothing")
            #expect(kept.map { numbers.number(of: $0) } == known)
            #expect(numbers.count <= 32)
        }
    }
}

extension URLSession {
    /// Starts a task with a delegate of its own.
    fileprivate func start(_ url: URL, by delegate: (any URLSessionTaskDelegate)?, _ outcomes: Outcomes) {
        let task = dataTask(with: url, completionHandler: outcomes.handler)
        task.delegate = delegate
        task.resume()
    }

    fileprivate func outcome(of url: URL, by delegate: (any URLSessionTaskDelegate)?) async throws -> Outcome {
        let outcomes = Outcomes()
        start(url, by: delegate, outcomes)
        return try await outcomes.first()
    }
}

/// Trusts every server, or leaves that to others as if it had no method for it.
private final class WaveringDelegate: URLSessionDelegate {
    private final class Others: URLSessionDelegate {}

    let answers = Lock(true)
    private let others = Others()

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard answers.withLock({ $0 }) else {
            return others.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
        }
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }
}
