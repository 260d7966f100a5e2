@testable import AFNetworking
@testable import AFSerialization

/// What the errors about servers say that a policy refuses, on every way to the program.
@Suite struct UntrustedServerTests {
    /// What is wrong with a server, and what the failure says about it.
    enum Flaw: CaseIterable, Sendable {
        case expired
        case wrongName
        case unknownRoot
        case wrongPin

        var detail: LoadFailure.Detail {
            switch self {
            case .expired: .date
            case .wrongName: .name
            case .unknownRoot: .unknownRoot
            case .wrongPin: .policy
            }
        }

        /// A part of the message.
        var words: String {
            switch self {
            case .expired: "expired"
            case .wrongName: "other.test"
            case .unknownRoot: "not among the trusted authorities"
            case .wrongPin: "no key of the verified chain is pinned"
            }
        }
    }

    private let root: CertificateAuthority

    init() throws {
        root = try CertificateAuthority()
    }

    private func chain(_ flaw: Flaw) throws -> IssuedCertificate {
        try root.issue(for: flaw == .wrongName ? "other.test" : "127.0.0.1") { template in
            if flaw == .expired { template.expire() }
        }
    }

    private func policy(_ flaw: Flaw) throws -> SecurityPolicy {
        guard flaw == .wrongPin else { return SecurityPolicy() }
        return SecurityPolicy(pinningMode: .publicKey, certificates: [try CertificateAuthority().certificate])
    }

    private func anchors(_ flaw: Flaw) throws -> TrustAnchors {
        .certificates([flaw == .unknownRoot ? try CertificateAuthority().certificate : root.certificate])
    }

    /// What must be found in each of them, in each way an error can be asked.
    private func check(_ error: (any Error)?, _ flaw: Flaw, port: UInt16, _ layer: String) throws {
        let comment = Comment(rawValue: "\(layer), \(flaw): \(error as Any)")
        let found = try #require(error as? URLError, comment)
        #expect(found.code == .serverCertificateUntrusted, comment)
        let failure = try #require(found.loadFailure, comment)
        #expect(failure.reason == .trust && failure.detail == flaw.detail, comment)
        #expect(failure.security?.host == "127.0.0.1" && failure.security?.servedChain.isEmpty == false, comment)
        #expect((flaw == .wrongPin) == (failure.security?.rule == "pinned public keys"), comment)
        #expect(failure.message.hasPrefix("The server at 127.0.0.1:\(port) is not trusted: "), comment)
        #expect(failure.message.contains(flaw.words), comment)
        #expect((failure.advice == nil) == (flaw == .wrongPin), comment)

        let text = found.localizedDescription
        #expect(
            text.hasPrefix("The certificate for this server is invalid.") && text.hasSuffix(failure.message),
            comment
        )
        // Printed, it says each thing once.
        let printed = "\(found)"
        let pins = failure.security?.servedChain.map(\.pin.description) ?? []
        for part in [text, failure.message, "NSErrorFailingURL", "     issued by "] + pins {
            let isOfEach = part == "     issued by "
            #expect(
                printed.components(separatedBy: part).count == (isOfEach ? pins.count + 1 : 2),
                "\(part): \(printed)"
            )
        }

        let bridged = found as NSError
        #expect(bridged.domain == NSURLErrorDomain && bridged.localizedDescription == text, comment)
        #expect(bridged.localizedFailureReason == failure.failureReason, comment)
        #expect(bridged.localizedRecoverySuggestion == failure.advice, comment)
        let beneath = try #require(bridged.userInfo[NSUnderlyingErrorKey] as? URLError, comment)
        #expect(beneath.userInfo[NSUnderlyingErrorKey] as? LoadFailure == failure, comment)
        #expect(beneath.localizedDescription == failure.message, comment)
        #expect("\(found)".contains("is not trusted") && !"\(found)".contains("Lock<"), comment)
    }

    @Test(arguments: Flaw.allCases)
    func `5.8 the closures and the async verbs of managers say what was wrong with a server`(flaw: Flaw) async throws {
        let server = try TestServer(tls: ServerTLS(try chain(flaw)))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = try anchors(flaw)
        for asksHandler in [false, true] {
            let manager = HTTPSessionManager(baseURL: server.url("/"), sessionConfiguration: configuration)
            defer { manager.invalidateSessionCancelingTasks(true, resetSession: false) }
            manager.securityPolicy = try policy(flaw)
            if asksHandler { manager.setAuthenticationChallengeHandler { _, _, _, _ in .performDefaultHandling } }
            manager.completionQueue = .global()
            let heard = Heard<(any Error)?>()

            manager.get("x", parameters: nil, success: { _, _ in heard.add(nil) }, failure: { heard.add($1) })

            let layer = asksHandler ? "challenge" : "handshake"
            try check(try await heard.first, flaw, port: server.port, "\(layer), closure")
            let failure = await #expect(throws: RequestFailure.self) { try await manager.get("x") }
            try check(failure?.error, flaw, port: server.port, "\(layer), async")
            #expect(failure?.kind == .transport && failure?.loadFailure?.detail == flaw.detail)
            #expect(failure?.localizedDescription == failure?.error.localizedDescription)
            let bridged = try #require(failure) as NSError
            #expect(bridged.localizedDescription == failure?.error.localizedDescription)
            #expect(bridged.localizedRecoverySuggestion == failure?.loadFailure?.advice)
            #expect(bridged.userInfo[NSUnderlyingErrorKey] is URLError)
        }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: Flaw.allCases)
    func `2.5 the error of a server that is refused in a challenge says what was wrong with it`(flaw: Flaw) throws {
        let trust = ServerTrust(servedChain: try chain(flaw).chain, host: "127.0.0.1", anchors: try anchors(flaw))
        let space = URLProtectionSpace(
            host: "127.0.0.1",
            port: 8443,
            protocol: "https",
            realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust
        )
        let decision = try policy(flaw).frozen.decide(trust, domain: space.host)

        let error = UntrustedServer.error(
            decision,
            trust: trust,
            space: space,
            url: URL(string: "https://me:CANARY@127.0.0.1:8443/")
        )

        try check(error, flaw, port: 8443, "challenge")
        #expect(error.userInfo[NSURLErrorFailingURLPeerTrustErrorKey] as? ServerTrust == trust)
        #expect(!"\(error)".contains("CANARY") && error.failingURL?.absoluteString == "https://127.0.0.1:8443/")
    }

    @Test("2.5 operations say what was wrong with a server", arguments: [Flaw.unknownRoot, .wrongPin])
    func operations(flaw: Flaw) async throws {
        let server = try TestServer(tls: ServerTLS(try chain(flaw)))
        let policy = try policy(flaw)
        // The system does not trust the server's authority: the policy checks pins all the same.
        policy.allowInvalidCertificates = flaw == .wrongPin
        for operation in [URLConnectionOperation.self, HTTPRequestOperation.self] {
            let operation = operation.init(request: URLRequest(url: server.url("/x")))
            operation.securityPolicy = policy

            operation.start()
            try await operation.ended()

            try check(operation.error, flaw, port: server.port, "\(type(of: operation))")
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `2.5 any other error of an operation has an underlying failure too`() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let refused = HTTPRequestOperation(request: URLRequest(url: url))
        let cancelled = HTTPRequestOperation(request: URLRequest(url: url))
        let plain = HTTPRequestOperation(request: URLRequest(url: url))
        plain.securityPolicy = try policy(.wrongPin)
        cancelled.cancel()
        for operation in [refused, cancelled, plain] {
            operation.start()
            try await operation.ended()
        }

        let failures = [refused, cancelled, plain].map { ($0.error as? URLError)?.loadFailure }
        #expect(failures.map { $0?.reason } == [.resources, .cancelled, .request])
        #expect(failures[0]?.advice?.isEmpty == false && failures[2]?.advice?.contains("https") == true)
        #expect(plain.error?.localizedDescription == failures[2]?.message)
    }

    @Test func `an operation that is read from an archive still has a URLError`() async throws {
        let operation = HTTPRequestOperation(request: URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/"))))
        operation.cancel()
        operation.start()
        try await operation.ended()

        let archive = try NSKeyedArchiver.archivedData(withRootObject: operation, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPRequestOperation.self, from: archive)

        #expect((read?.error as? URLError)?.code == .cancelled)
        #expect(read?.error?.localizedDescription == operation.error?.localizedDescription)
    }
}
