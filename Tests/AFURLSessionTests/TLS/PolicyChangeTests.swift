import AFTLS

extension SecuredTests {
    /// The rules are replaced while requests are on their way.
    struct PolicyChange {
        private let outcomes = Outcomes()
        private let site: SecuredSite

        init() throws {
            site = try SecuredSite()
        }

        /// Which rules follow, and who changes them: the program sets the session's property, or the evaluator changes and
        /// tells the session.
        enum Successor: CaseIterable {
            case accepting
            case refusing
            case acceptingItself
            case refusingItself

            var accepts: Bool { self == .accepting || self == .acceptingItself }
            /// The evaluator that the session has first.
            var first: (any ServerEvaluator)? {
                self == .accepting || self == .refusing ? nil : SwitchedEvaluator([7])
            }

            func take(the session: URLSession) {
                guard let evaluator = session.tls.evaluator as? SwitchedEvaluator else {
                    session.tls.evaluator = accepts ? FixedEvaluator.accepting : .refusing
                    return
                }
                evaluator.change(accepts: accepts)
            }

            func expects(_ outcome: Outcome, _ text: String) -> Bool {
                accepts ? outcome.text == text : outcome.code == -1202
            }
        }

        private static let matrix = TLSVersion.allCases.flatMap { version in
            Successor.allCases.map { (version, $0) }
        }

        @Test("a request in the queue gets a connection of the new rules, T-TLS-12", arguments: matrix)
        func queued(version: TLSVersion, successor: Successor) async throws {
            site.server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
            let (running, waiting) = (Outcomes(), Outcomes())
            let session = site.narrowSession { tls in
                tls.speak(version)
                tls.evaluator = successor.first
            }
            session.dataTask(with: site.server.url("/held"), completionHandler: running.handler).resume()
            try await site.server.waitForRequests(1)
            for _ in 1...3 {
                session.dataTask(with: site.server.url("/hello"), completionHandler: waiting.handler).resume()
            }
            await session.settled()

            successor.take(the: session)

            #expect(try await waiting.wait(for: 3).allSatisfy { successor.expects($0, "hello") })
            #expect(running.all.value.isEmpty)
            site.server.signal("go")
            #expect(try await running.first().text == "late")
            let former = try await site.ended(1)
            #expect(former.requestCount == 1)
            #expect(site.server.connections.dropFirst().allSatisfy { $0.tls?.isFresh == true })
        }

        @Test("a delegate that now answers otherwise is asked about a server again, T-TLS-12", arguments: [1, 2])
        func otherAnswers(times: Int) async throws {
            let asked = Lock(0)
            let delegate = TrustDelegate { challenge in
                asked.withLock { $0 += 1 }
                return TrustDelegate.trusting(challenge)
            }
            let session = site.session(delegate: delegate) { $0.anchors = .certificates([]) }
            func load() async throws {
                for _ in 1...2 { #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello") }
            }

            try await load()
            for time in 1...times {
                #expect(asked.withLock { $0 } == time)
                session.forgetAnswers()
                try await load()
            }

            #expect(asked.withLock { $0 } == times + 1)
            #expect(site.server.connections.allSatisfy { $0.tls?.isFresh == true })
        }

        @Test("a lookup under way leads to a connection of the new rules, T-TLS-12", arguments: Successor.allCases)
        func dialling(successor: Successor) async throws {
            let resolver = HeldNames()
            try await OwnWorld.run(
                names: resolver,
                { configuration in
                    configuration.tls = site.tls
                    configuration.tls.evaluator = successor.first
                }
            ) { session in
                let url = try #require(URL(string: "https://localhost:\(site.server.port)/hello"))
                for _ in 1...3 { session.dataTask(with: url, completionHandler: outcomes.handler).resume() }
                try await resolver.asked.wait("lookups") { $0 > 0 }

                successor.take(the: session)
                resolver.release()

                #expect(try await outcomes.wait(for: 3).allSatisfy { successor.expects($0, "hello") })
            }
            for connection in try await site.server.waitUntilIdle() {
                #expect(connection.requestCount == 0 || successor.accepts)
            }
        }

        @Test("a request whose body is being got ready is sent under the new rules, T-TLS-12", arguments: matrix)
        func preparing(version: TLSVersion, successor: Successor) async throws {
            site.server.route("POST", "/hello", .text("hello"))
            let asked = Watched<[@Sendable (InputStream?) -> Void]>([])
            let delegate = SlowStreamSource(asked)
            let session = site.session(delegate: delegate) { tls in
                tls.speak(version)
                tls.evaluator = successor.first
            }
            session.uploadTask(withStreamedRequest: URLRequest("POST", site.server.url("/hello"))).resume()
            let give = try await asked.wait("the question for a stream") { !$0.isEmpty }[0]

            successor.take(the: session)
            give(InputStream(data: Data("body".utf8)))

            let outcome = try await delegate.outcome.wait("the end") { $0 != nil }
            #expect(outcome.map { successor.expects($0, "hello") } == true, "\(String(describing: outcome))")
            #expect(successor.accepts || site.server.requests.isEmpty)
        }

        @Test("a handshake under way is given up, T-TLS-12", arguments: matrix)
        func handshaking(version: TLSVersion, successor: Successor) async throws {
            site.server.script(on: .connection(1), .pause(until: "go"), .handshake, .serve)
            let session = site.narrowSession { tls in
                tls.speak(version)
                tls.evaluator = successor.first
            }
            for _ in 1...3 {
                session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler).resume()
            }
            try await site.server.waitForConnections(1)

            successor.take(the: session)

            #expect(try await outcomes.wait(for: 3).allSatisfy { successor.expects($0, "hello") })
            site.server.signal("go")
            let former = try await site.ended(1)
            #expect(former.requestCount == 0 && former.bytesReceived == 0)
        }

        @Test("a question to a delegate is asked again under the new rules, T-TLS-12", arguments: matrix)
        func deliberating(version: TLSVersion, successor: Successor) async throws {
            let isGated = Lock(true)
            let delegate = TrustDelegate { challenge in
                isGated.withLock { $0 } ? nil : TrustDelegate.trusting(challenge)
            }
            let session = site.session(delegate: delegate) { tls in
                tls.speak(version)
                tls.evaluator = successor.first
                tls.decisionTimeout = 60
            }
            session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler).resume()
            try await delegate.methods.wait("the question") { !$0.isEmpty }

            isGated.withLock { $0 = false }
            successor.take(the: session)

            #expect(successor.expects(try await outcomes.first(), "hello"))
            #expect(try await site.ended(1).requestCount == 0)
            #expect(delegate.methods.value.count == (successor.accepts ? 2 : 1))
        }

        @Test("a response under way ends as it began, and its connection with it, T-TLS-12", arguments: matrix)
        func receiving(version: TLSVersion, successor: Successor) async throws {
            site.server.script(
                .expectRequest,
                .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"),
                .pause(until: "go"),
                .send("after"),
                .expectEnd
            )
            let session = site.session { tls in
                tls.speak(version)
                tls.evaluator = successor.first
            }
            let task = session.dataTask(with: site.server.url("/long"), completionHandler: outcomes.handler)
            task.resume()
            try await eventually { task.countOfBytesReceived == 5 }

            successor.take(the: session)
            let second = try await session.outcome(of: site.server.url("/hello"))
            site.server.signal("go")

            #expect(successor.expects(second, "hello"))
            #expect(try await outcomes.first().text == "firstafter")
            let former = try await site.ended(1)
            #expect(former.requestCount == 1 && former.completedSteps == 5)
        }

        @Test("an idle connection of former rules is closed at once, T-TLS-12", arguments: matrix)
        func idle(version: TLSVersion, successor: Successor) async throws {
            let session = site.session { tls in
                tls.speak(version)
                tls.evaluator = successor.first
            }
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")

            successor.take(the: session)

            #expect(try await site.ended(1).tls?.receivedEnd == true)
        }

        @Test("a request that must be sent again is sent under the new rules, T-TLS-12", arguments: matrix)
        func redialling(version: TLSVersion, successor: Successor) async throws {
            site.server.script(
                .expectRequest,
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                .expectRequest,
                .pause(until: "go"),
                .close
            )
            let session = site.session { tls in
                tls.speak(version)
                tls.evaluator = successor.first
            }
            #expect(try await session.outcome(of: site.server.url("/1")).text == "ok")
            session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler).resume()
            try await site.server.waitForRequests(2)

            successor.take(the: session)
            await session.settled()
            site.server.signal("go")

            #expect(successor.expects(try await outcomes.first(), "hello"))
            #expect(site.server.acceptedConnections == 2)
        }

        @Test("a handshake for a request that is sent again is given up too, T-TLS-12", arguments: matrix)
        func redialUnderWay(version: TLSVersion, successor: Successor) async throws {
            site.server.script(
                .expectRequest,
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                .expectRequest,
                .close
            )
            site.server.script(on: .connection(2), .pause(until: "go"), .handshake, .serve)
            let session = site.session { tls in
                tls.speak(version)
                tls.evaluator = successor.first
            }
            #expect(try await session.outcome(of: site.server.url("/1")).text == "ok")
            session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler).resume()
            try await site.server.waitForConnections(2)

            successor.take(the: session)

            #expect(successor.expects(try await outcomes.first(), "hello"))
            site.server.signal("go")
            #expect(try await site.ended(2).requestCount == 0)
            #expect(site.server.acceptedConnections == 3)
        }

        @Test("a task that waits under new rules can be cancelled, T-TLS-12", arguments: TLSVersion.allCases)
        func cancelledLater(version: TLSVersion) async throws {
            site.server.script(on: .every, .pause(until: "go"), .handshake, .serve)
            let session = site.narrowSession { $0.speak(version) }
            let tasks = (1...3).map { _ in
                session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler)
            }
            for task in tasks { task.resume() }
            try await site.server.waitForConnections(1)
            session.tls.evaluator = FixedEvaluator.accepting
            try await site.server.waitForConnections(2)

            for task in tasks.prefix(2) { task.cancel() }
            #expect(try await outcomes.wait(for: 2).map(\.code) == [-999, -999])
            site.server.signal("go")

            #expect(try await outcomes.wait(for: 3).last?.text == "hello")
            await session.settled()
            #expect(outcomes.all.value.count == 3)
        }

        @Test func `T-TLS-12 no connection lives longer than ten minutes`() {
            #expect(URLSessionConfiguration.default.maximumConnectionAge == 600)
        }

        @Test("rules that change while an evaluator judges hold for the request at once, T-TLS-12", arguments: matrix)
        func judging(version: TLSVersion, successor: Successor) async throws {
            let (meanwhile, isFirst) = (Lock<(@Sendable () -> Void)?>(nil), Lock(true))
            let judge = SwitchedEvaluator([7]) { meanwhile.withLock { $0 }?() }
            let session = site.session { tls in
                tls.speak(version)
                tls.evaluator = judge
            }
            meanwhile.withLock { meanwhile in
                meanwhile = {
                    let isFirst = isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }
                    guard isFirst else { return }
                    if successor.first == nil {
                        session.tls.evaluator = successor.accepts ? FixedEvaluator.accepting : .refusing
                    } else {
                        judge.change(accepts: successor.accepts)
                    }
                }
            }
            defer { meanwhile.withLock { $0 = nil } }

            let outcome = try await session.outcome(of: site.server.url("/hello"))

            #expect(successor.expects(outcome, "hello"), "\(outcome)")
            #expect(site.server.connections.first?.requestCount == 0)
        }

        @Test("a pipelined, a suspended and a repeated request follow an evaluator that changes itself, T-TLS-12")
        func waiting() async throws {
            site.server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
            let evaluator = SwitchedEvaluator([7])
            let session = site.narrowSession { $0.evaluator = evaluator }
            let (running, outcomes) = (Outcomes(), Outcomes())
            session.dataTask(with: site.server.url("/held"), completionHandler: running.handler).resume()
            try await site.server.waitForRequests(1)
            var piped = URLRequest(url: site.server.url("/hello"))
            piped.httpShouldUsePipelining = true
            session.dataTask(with: piped, completionHandler: outcomes.handler).resume()
            let suspended = session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler)
            suspended.resume()
            await session.settled()
            suspended.suspend()
            await session.settled()

            evaluator.change(accepts: false)
            suspended.resume()

            #expect(try await outcomes.wait(for: 2).allSatisfy { $0.code == -1202 })
            site.server.signal("go")
            #expect(try await running.first().text == "late")
            #expect(site.server.requests.count == 1)
        }

        @Test func `T-TLS-84 evaluators of two types with equal bytes share nothing`() async throws {
            let session = site.session { $0.evaluator = FixedEvaluator([7]) { _ in .accept } }
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")

            session.tls.evaluator = SwitchedEvaluator([7], accepts: false)

            #expect(try await session.outcome(of: site.server.url("/hello")).code == -1202)
        }

        @Test("rules that change with every request are each kept, T-TLS-13", arguments: TLSVersion.allCases)
        func restless(version: TLSVersion) async throws {
            let session = site.session { $0.speak(version) }
            let mutator = Task.detached {
                for number in 1...300 {
                    session.tls.evaluator = number % 2 == 0 ? FixedEvaluator.refusing : FixedEvaluator.accepting
                    await session.settled()
                }
            }

            for number in 1...200 {
                let task = session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler)
                task.resume()
                if number % 5 == 0 { task.cancel() }
            }

            let all = try await outcomes.wait(for: 200, seconds: 30)
            await mutator.value
            #expect(all.allSatisfy { $0.text == "hello" || [-1202, -999].contains($0.code) })
            await session.settled()
            #expect(outcomes.all.value.count == 200)
        }

        @Test("an evaluator that changes itself is asked for a copy that does not, T-TLS-13", arguments: [[7], nil])
        func mutableEvaluator(fingerprint: [UInt8]?) async throws {
            let evaluator = SwitchedEvaluator(fingerprint)
            let session = site.session { $0.evaluator = evaluator }
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
            #expect(site.server.acceptedConnections == 1)

            evaluator.changeSilently()

            #expect(try await session.outcome(of: site.server.url("/hello")).code == -1202)
            #expect(site.server.acceptedConnections == 2)
        }

        @Test("a change is noticed also if the copies are values without a fingerprint, T-TLS-13")
        func mutableEvaluatorOfValues() async throws {
            let evaluator = SwitchedEvaluator(nil, copiesAreValues: true)
            let session = site.session { $0.evaluator = evaluator }
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")

            evaluator.changeSilently()

            #expect(try await session.outcome(of: site.server.url("/hello")).code == -1202)
        }
    }
}

/// A policy that its owner may change at any time.
final class SwitchedEvaluator: ServerEvaluator {
    private let frozen: Lock<Frozen>
    private let copiesAreValues: Bool
    private let observers = Lock<[WeakObserver]>([])

    private struct WeakObserver: Sendable {
        weak var object: (any ServerEvaluatorObserver)?
    }

    private final class Frozen: ServerEvaluator {
        let fingerprint: [UInt8]?
        let accepts: Bool
        let judging: @Sendable () -> Void

        init(_ fingerprint: [UInt8]?, accepts: Bool, judging: @escaping @Sendable () -> Void) {
            self.fingerprint = fingerprint
            self.accepts = accepts
            self.judging = judging
        }

        func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
            judging()
            return accepts ? .accept : .reject(rule: "switch", explanation: "it is off")
        }
    }

    private struct FrozenValue: ServerEvaluator {
        let original: Frozen

        func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { original.evaluate(trust) }
    }

    /// - Parameter judging: Called within each decision.
    init(
        _ fingerprint: [UInt8]?,
        accepts: Bool = true,
        copiesAreValues: Bool = false,
        judging: @escaping @Sendable () -> Void = {}
    ) {
        frozen = Lock(Frozen(fingerprint, accepts: accepts, judging: judging))
        self.copiesAreValues = copiesAreValues
    }

    var fingerprint: [UInt8]? { frozen.withLock { $0.fingerprint } }

    func snapshot() -> any ServerEvaluator {
        let original = frozen.withLock { $0 }
        return copiesAreValues ? FrozenValue(original: original) : original
    }

    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { snapshot().evaluate(trust) }

    func add(_ observer: any ServerEvaluatorObserver) {
        observers.withLock { $0.append(WeakObserver(object: observer)) }
    }

    /// Changes, and tells its sessions.
    func change(accepts: Bool) {
        frozen.withLock { $0 = Frozen($0.fingerprint.map { $0 + [0] }, accepts: accepts, judging: $0.judging) }
        for observer in observers.withLock({ $0 }) { observer.object?.evaluatorDidChange() }
    }

    /// Refuses every server from now on, and tells no session.
    func changeSilently() {
        frozen.withLock { $0 = Frozen($0.fingerprint.map { $0 + [0] }, accepts: false, judging: $0.judging) }
    }
}

/// A resolver that knows only this machine, and waits until it may answer.
final class HeldNames: Sendable {
    let asked = Watched(0)
    private let isHeld = Lock(true)
    private let waiting = Lock<[@Sendable () -> Void]>([])

    func release() {
        isHeld.withLock { $0 = false }
        // An answer holds the resolver, which holds this.
        let answers = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for answer in answers { answer() }
    }

    /// One that never waits.
    static var open: HeldNames {
        let names = HeldNames()
        names.release()
        return names
    }

    func whenReleased(_ answer: @escaping @Sendable () -> Void) {
        let isHeld = isHeld.withLock { isHeld in
            if isHeld { waiting.withLock { $0.append(answer) } }
            return isHeld
        }
        asked.change { $0 += 1 }
        if !isHeld { answer() }
    }
}

/// Has its streams given by the test.
private final class SlowStreamSource: URLSessionDataDelegate {
    let outcome = Watched<Outcome?>(nil)
    private let asked: Watched<[@Sendable (InputStream?) -> Void]>
    private let body = Lock(Data())

    init(_ asked: Watched<[@Sendable (InputStream?) -> Void]>) {
        self.asked = asked
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        asked.change { $0.append(completionHandler) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        body.withLock { $0.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let end = Outcome(error == nil ? body.withLock { $0 } : nil, task.response, error)
        outcome.change { $0 = end }
    }
}

/// Answers every name with 127.0.0.1.
final class LocalResolver: Resolver {
    private let names: HeldNames
    private let loop: EventLoop
    private var clients: [ObjectIdentifier: any ResolverClient] = [:]

    init(_ names: HeldNames, loop: EventLoop) {
        self.names = names
        self.loop = loop
    }

    func resolve(_ name: String, for client: any ResolverClient) {
        let id = ObjectIdentifier(client)
        clients[id] = client
        let this = LoopBound(confined: self, on: loop)
        names.whenReleased { [loop] in
            loop.enqueue { this.value.answer(id) }
        }
    }

    func cancel(_ client: any ResolverClient) {
        clients[ObjectIdentifier(client)] = nil
    }

    private func answer(_ id: ObjectIdentifier) {
        guard let address = SocketAddress(ipv4: "127.0.0.1", port: 0) else { return }
        clients.removeValue(forKey: id)?.resolved(.success([address]))
    }
}
