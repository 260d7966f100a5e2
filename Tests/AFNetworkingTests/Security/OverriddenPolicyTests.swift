import Glibc

/// A policy of a class of the program's, which decides as it is told.
private final class OwnPolicy: SecurityPolicy, @unchecked Sendable {
    enum Decision: Sendable {
        case accept
        case refuse
        /// What the superclass says.
        case settings
        /// Accepts once the semaphore is signalled.
        case late(DispatchSemaphore)
    }

    /// The threads on which it was asked.
    let asked = Heard<pthread_t>()
    var decision = Decision.accept

    convenience init(_ decision: Decision) {
        self.init()
        self.decision = decision
    }

    override func evaluateServerTrust(_ serverTrust: ServerTrust, forDomain domain: String?) -> Bool {
        asked.add(pthread_self())
        switch decision {
        case .accept: return true
        case .refuse: return false
        case .settings: return super.evaluateServerTrust(serverTrust, forDomain: domain)
        case .late(let semaphore):
            semaphore.wait()
            return true
        }
    }
}

/// Subclasses of `SecurityPolicy`, in sessions, managers and operations.
@Suite struct OverriddenPolicyTests {
    private let site: ManagerSite

    init() throws {
        site = try ManagerSite(tls: true)
        site.server.route("GET", "/once", ServerReply.json("{}").keepAlive(false))
    }

    /// Says on which thread the network is served.
    private struct Spy: ServerEvaluator {
        let threads = Heard<pthread_t>()

        func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
            threads.add(pthread_self())
            return .accept
        }
    }

    private func networkThread() async throws -> pthread_t {
        let (spy, other) = (Spy(), try ManagerSite(tls: true))
        let configuration = other.configuration
        configuration.tls.evaluator = spy
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        _ = try await session.data(from: other.server.url("/get"))
        return try await spy.threads.first
    }

    /// Its session knows no authority of the site's.
    private func manager(
        _ policy: SecurityPolicy,
        _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> HTTPSessionManager {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([try CertificateAuthority().certificate])
        change(configuration)
        let manager = site.owned(
            HTTPSessionManager(baseURL: site.server.url("/"), sessionConfiguration: configuration)
        )
        manager.securityPolicy = policy
        return manager
    }

    private func refusal(_ manager: HTTPSessionManager, _ path: String = "get") async throws -> LoadFailure {
        let failure = try #require(
            await #expect(throws: RequestFailure.self) { try await manager.get(path) }
        )
        #expect((failure.error as NSError).code == -1202)
        return try #require(((failure.error as NSError).userInfo[NSUnderlyingErrorKey] as? URLError)?.loadFailure)
    }

    @Test func `7.1 a method of a subclass decides inside the handshake, and not on the network thread`() async throws {
        let thread = try await networkThread()

        let accepting = OwnPolicy(.accept)
        #expect(try await manager(accepting).get("get").response?.statusCode == 200)
        #expect(accepting.asked.all.count == 1 && accepting.asked.all.first != thread)

        let refusing = OwnPolicy(.refuse)
        let failure = try await refusal(manager(refusing) { $0.tls.anchors = site.configuration.tls.anchors })
        #expect(failure.reason == .trust && failure.security?.rule == "evaluateServerTrust(_:forDomain:)")
        #expect(failure.message.contains("OwnPolicy"))
        #expect(site.server.requests.count == 1)

        let strict = OwnPolicy(.settings)
        #expect(try await refusal(manager(strict)).reason == .trust)
        #expect(try await manager(strict) { $0.tls.anchors = site.configuration.tls.anchors }.get("get").object != nil)
    }

    @Test func `T-TLS-11 what one object accepted serves no other, nor itself after a change`() async throws {
        let first = OwnPolicy(.accept)
        let manager = try manager(first)
        for _ in 1...2 { try await manager.get("get") }
        #expect(first.asked.all.count == 1 && site.server.connections.count == 1)

        first.decision = .refuse
        first.validatesDomainName = false
        _ = try await refusal(manager)
        #expect(first.asked.all.count == 2 && site.server.requests.count == 2)

        let second = OwnPolicy(.accept)
        manager.securityPolicy = second
        for _ in 1...2 { try await manager.get("get") }
        #expect(second.asked.all.count == 1 && first.asked.all.count == 2)

        manager.securityPolicy = OwnPolicy(.refuse)
        _ = try await refusal(manager)
        #expect(site.server.requests.count == 4)
    }

    @Test func `T-TLS-11 no TLS session is resumed that a method of a subclass accepted`() async throws {
        let policy = OwnPolicy(.accept)
        let manager = try manager(policy) { $0.tls.anchors = site.configuration.tls.anchors }
        for _ in 1...3 { try await manager.get("once") }
        #expect(policy.asked.all.count == 3)
        #expect(site.server.connections.map { $0.tls?.isResumed } == [false, false, false])
    }

    @Test func `a method that does not decide in time refuses the server`() async throws {
        let semaphore = DispatchSemaphore(value: 0)
        let manager = try manager(OwnPolicy(.late(semaphore))) { $0.tls.decisionTimeout = 0.05 }
        let failure = try await refusal(manager)
        #expect(failure.security?.rule == "time for a decision" && failure.message.contains("decisionTimeout"))
        #expect(site.server.requests.isEmpty)
        semaphore.signal()
        // No handshake waits for the late decision, and the policy is asked about the next one anew.
        semaphore.signal()
        manager.session.tls.decisionTimeout = 10
        #expect(try await manager.get("get").response?.statusCode == 200)
    }

    @Test func `5.8 no handler for challenges overrules it`() async throws {
        let questions = Heard<String>()
        let manager = try manager(OwnPolicy(.refuse))
        manager.setAuthenticationChallengeHandler { _, _, challenge, _ in
            questions.add(challenge.protectionSpace.host)
            return challenge.protectionSpace.serverTrust.map { .credential(URLCredential(trust: $0)) } ?? .cancel
        }
        _ = try await refusal(manager)
        #expect(questions.all.isEmpty && site.server.requests.isEmpty)

        let accepting = OwnPolicy(.accept)
        manager.securityPolicy = accepting
        #expect(try await manager.get("get").response?.statusCode == 200)
        #expect(accepting.asked.all.count == 1 && questions.all == ["127.0.0.1"])
    }

    @Test func `2.5 operations ask it away from the network thread, each for itself`() async throws {
        let thread = try await networkThread()
        func load(_ policy: SecurityPolicy) async throws -> HTTPRequestOperation {
            let operation = HTTPRequestOperation(request: site.request("/get"))
            operation.securityPolicy = policy
            let ended = Heard<Bool>()
            operation.completionQueue = DispatchQueue(label: "completions")
            operation.setCompletionBlockWithSuccess({ _, _ in ended.add(true) }, failure: { _, _ in ended.add(false) })
            operation.start()
            _ = try await ended.first
            return operation
        }
        let accepting = OwnPolicy(.accept)
        for count in 1...2 {
            #expect(try await load(accepting).response?.statusCode == 200)
            #expect(accepting.asked.all.count == count && !accepting.asked.all.contains(thread))
        }
        let refused = try await load(OwnPolicy(.refuse))
        #expect((refused.error as NSError?)?.code == -1202 && site.server.requests.count == 2)
    }

    @Test func `a snapshot decides by the settings it was taken with, for as long as it is held`() throws {
        let root = try CertificateAuthority()
        let good = try root.issue(for: "good.test")
        let trust = ServerTrust(servedChain: good.chain, host: "good.test", anchors: .certificates([root.certificate]))
        let policy = OwnPolicy(pinningMode: .publicKey, certificates: [good.certificate])
        policy.decision = .settings

        let first = policy.snapshot()
        #expect(first as AnyObject === policy.snapshot() as AnyObject)
        #expect(first.fingerprint == nil && policy.fingerprint == nil)
        policy.pinnedCertificates = []
        #expect(first as AnyObject !== policy.snapshot() as AnyObject)
        #expect(first.evaluate(trust) == .accept && policy.snapshot().evaluate(trust) != .accept)
        #expect(!policy.evaluate(trust, forDomain: "good.test") && !policy.evaluateServerTrust(trust, forDomain: nil))
        #expect(first.forbidsPlainText(to: "good.test"))
    }

    @Test func `6.5 a copy of a manager has it, and an archive cannot be read without it`() throws {
        let policy = OwnPolicy(.refuse)
        let manager = try manager(policy)
        let copy = site.owned(try #require(manager.copy() as? HTTPSessionManager))
        #expect(copy.securityPolicy === policy)

        let data = try NSKeyedArchiver.archivedData(withRootObject: manager, requiringSecureCoding: true)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        #expect(unarchiver.decodeObject(of: HTTPSessionManager.self, forKey: NSKeyedArchiveRootObjectKey) == nil)
    }
}
