@testable import AFNetworking

/// Operations that answer challenges by a method of their own.
@Suite("Trust of operations")
struct OperationTrustTests {
    /// How an operation of the program's answers the challenges of a server.
    enum Word: Sendable, CaseIterable {
        case trusts
        case refuses
        case leaves

        func answer(_ challenge: URLAuthenticationChallenge) {
            guard let trust = challenge.protectionSpace.serverTrust else {
                challenge.sender?.continueWithoutCredential(for: challenge)
                return
            }
            switch self {
            case .trusts: challenge.sender?.use(URLCredential(trust: trust), for: challenge)
            case .refuses: challenge.sender?.cancel(challenge)
            case .leaves: challenge.sender?.performDefaultHandling(for: challenge)
            }
        }
    }

    /// In the way of AFNetworking 2.x: a subclass that answers challenges itself.
    private final class Plain: URLConnectionOperation, @unchecked Sendable {
        var word = Word.leaves

        override func connection(
            _ connection: URLConnection,
            willSendRequestFor challenge: URLAuthenticationChallenge
        ) {
            word.answer(challenge)
        }
    }

    private final class Serializing: HTTPRequestOperation, @unchecked Sendable {
        var word = Word.leaves

        override func connection(
            _ connection: URLConnection,
            willSendRequestFor challenge: URLAuthenticationChallenge
        ) {
            word.answer(challenge)
        }
    }

    /// Shows a client certificate of its own.
    private final class Identified: HTTPRequestOperation, @unchecked Sendable {
        var identity: ClientIdentity?

        override func connection(
            _ connection: URLConnection,
            willSendRequestFor challenge: URLAuthenticationChallenge
        ) {
            if let trust = challenge.protectionSpace.serverTrust {
                challenge.sender?.use(URLCredential(trust: trust), for: challenge)
            } else if let identity {
                challenge.sender?.use(URLCredential(identity: identity), for: challenge)
            } else {
                challenge.sender?.continueWithoutCredential(for: challenge)
            }
        }
    }

    /// An object of a class of the program's, and the library's own.
    enum Kind: CaseIterable {
        case plain
        case serializing

        fileprivate func operation(_ url: URL, _ word: Word) -> URLConnectionOperation {
            switch self {
            case .plain:
                let made = Plain(request: URLRequest(url: url))
                made.word = word
                return made
            case .serializing:
                let made = Serializing(request: URLRequest(url: url))
                made.word = word
                return made
            }
        }
    }

    @Test(
        "T-TLS-84 an operation that answers challenges itself takes nothing that another has accepted",
        arguments: Kind.allCases,
        [ServerTLS.Version.tls12, .tls13]
    )
    func everyObjectIsAsked(kind: Kind, version: ServerTLS.Version) async throws {
        let site = try CertificateAuthority().issue(for: "127.0.0.1")
        var tls = ServerTLS(site)
        (tls.minimumVersion, tls.maximumVersion) = (version, version)
        let server = try TestServer(tls: tls)
        server.route("GET", "/stored", ServerReply.text("hello").header("Cache-Control", "max-age=600"))
        let url = server.url("/stored")

        for word in [Word.trusts, .refuses, .trusts, .leaves, .refuses] {
            let before = server.requests.count
            let operation = kind.operation(url, word)
            operation.start()
            try await operation.ended()
            #expect((operation.responseData == Data("hello".utf8)) == (word == .trusts), "\(word)")
            #expect((operation.error == nil) == (word == .trusts), "\(word): \(String(describing: operation.error))")
            #expect(server.requests.count == before + (word == .trusts ? 1 : 0))
        }
    }

    @Test(
        "T-TLS-84 the certificate that one operation shows is no other operation's",
        arguments: [ServerTLS.Version.tls12, .tls13]
    )
    func everyObjectIdentifiesItself(version: ServerTLS.Version) async throws {
        let authority = try CertificateAuthority()
        var tls = ServerTLS(try authority.issue(for: "127.0.0.1"))
        (tls.minimumVersion, tls.maximumVersion) = (version, version)
        tls.clientCertificates = .requested
        let server = try TestServer(tls: tls)
        server.route("GET", "/json", .json("{}"))
        let issued = try authority.issueClient("a")

        for identity in [try ClientIdentity(issued), nil] {
            let operation = Identified(request: URLRequest(url: server.url("/json")))
            operation.identity = identity
            operation.start()
            try await operation.ended()
            #expect(operation.error == nil)
            let connection = try #require(server.requests.last?.connection)
            let shown = server.connections[connection - 1].tls?.clientCertificates
            #expect(shown == (identity == nil ? [] : [issued.certificate]))
        }
    }

    @Test func `operations, and those of their manager, trust an authority of the program`() async throws {
        let authority = try CertificateAuthority("My CA")
        let server = try TestServer(tls: ServerTLS(try authority.issue(for: "127.0.0.1")))
        server.route("GET", "/json", .json("{}"))
        let manager = HTTPRequestOperationManager(baseURL: server.url("/"))
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        manager.tls = tls
        manager.completionQueue = .global()
        let copy = try #require(manager.copy() as? HTTPRequestOperationManager)

        for manager in [manager, copy] {
            let operation = try #require(manager.get("json", parameters: nil, success: nil, failure: nil))
            try await operation.ended()
            #expect(operation.error == nil && operation.responseData == Data("{}".utf8))
        }
        let plain = HTTPRequestOperation(request: URLRequest(url: server.url("/json")))
        plain.start()
        try await plain.ended()
        let failure = (plain.error as? URLError)?.loadFailure
        #expect(failure?.advice == "If \"CN=My CA\" is an authority of yours, add it to tls.anchors.")
        #expect(server.requests.count == 2)
    }

    @Test func `a part that came from other authorities is not gone on with`() {
        var state = OperationState(URLRequest(url: URL(fileURLWithPath: "/")))
        let before = OperationTrustRules(state)
        var tls = TLSConfiguration()
        tls.anchors = .certificates([])
        state.tls = HeldTLSConfiguration(tls)
        #expect(!OperationTrustRules(state).decideLike(before))
        #expect(OperationTrustRules(state).decideLike(OperationTrustRules(state)))
    }

    @Test func `operations of the two classes of the library share what an equal policy accepts`() async throws {
        let site = try CertificateAuthority().issue(for: "127.0.0.1")
        let server = try TestServer(tls: ServerTLS(site))
        server.route("GET", "/json", .json("{}"))
        let policy = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])
        policy.allowInvalidCertificates = true
        let request = URLRequest(url: server.url("/json"))

        for operation in [URLConnectionOperation(request: request), HTTPRequestOperation(request: request)] {
            operation.securityPolicy = policy
            operation.start()
            try await operation.ended()
            #expect(operation.error == nil)
        }

        #expect(server.connections.count { !$0.received.isEmpty } == 1)
    }
}
