@testable import AFURLSession
@testable import AFURLTypes

/// Answers challenges, and writes them down.
private final class Keyring: URLSessionDataDelegate {
    typealias Answer = @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)

    let challenges = Lock<[URLAuthenticationChallenge]>([])
    let log = EventLog()
    private let answer: Answer

    init(_ answer: @escaping Answer) {
        self.answer = answer
    }

    convenience init(_ user: String, _ password: String, persistence: URLCredential.Persistence = .forSession) {
        self.init { challenge in
            guard challenge.previousFailureCount == 0 else { return (.performDefaultHandling, nil) }
            return (.useCredential, URLCredential(user: user, password: password, persistence: persistence))
        }
    }

    var count: Int { challenges.withLock { $0.count } }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        challenges.withLock { $0.append(challenge) }
        let (disposition, credential) = answer(challenge)
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        log.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        log.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.urlSession(session, task: task, didCompleteWithError: error)
    }
}

@Suite("Asked for credentials")
struct AuthenticatedTests {
    private let server: TestServer
    private let other: TestServer

    init() throws {
        server = try TestServer()
        other = try TestServer()
        for server in [server, other] { server.install(.authentication) }
    }

    // MARK: - Basic

    @Test func `a delegate answers for a password, which is then sent unasked below its path`() async throws {
        let keyring = Keyring("user", "secret")
        let session = URLSession.loopback(delegate: keyring)

        #expect(try await session.outcome(of: server.url("/basic-auth/user/secret")).status == 200)
        #expect(try await session.outcome(of: server.url("/basic-auth/user/secret")).status == 200)

        #expect(keyring.count == 1 && server.requests.count == 3)
        let challenge = try #require(keyring.challenges.withLock { $0.first })
        #expect(challenge.protectionSpace.realm == "Fake Realm")
        #expect(challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
        #expect(challenge.protectionSpace.port == Int(server.port))
        #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401)
        #expect(server.acceptedConnections == 1)
    }

    @Test func `T-AUT-01 T-AUT-02 a secret for one origin goes to no other`() async throws {
        let session = URLSession.loopback(delegate: Keyring("user", "secret"))
        _ = try await session.outcome(of: server.url("/basic-auth/user/secret"))
        other.route("GET", "/free", .text("free"))

        #expect(try await session.outcome(of: other.url("/free")).text == "free")

        #expect(server.requests.map { $0.headers["Authorization"] != nil } == [false, true])
        #expect(other.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test func `T-AUT-01 a redirect does not take what was answered along`() async throws {
        server.route("GET", "/away") { request in
            guard request.headers["Authorization"] != nil else {
                return .status(401).header("WWW-Authenticate", "Basic realm=\"r\"")
            }
            return ServerReply.status(302).header("Location", "\(self.other.url("/free"))")
        }
        other.route("GET", "/free", .text("free"))
        let session = URLSession.loopback(delegate: Keyring("user", "secret"))

        #expect(try await session.outcome(of: server.url("/away")).text == "free")
        #expect(other.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test func `T-AUT-13 without an answer the 401 is the response`() async throws {
        let session = URLSession.loopback()
        let outcome = try await session.outcome(of: server.url("/basic-auth/user/secret"))
        #expect(outcome.status == 401 && outcome.error == nil)

        server.route("GET", "/body", ServerReply.text("who?").status(401).header("WWW-Authenticate", "Basic realm=r"))
        #expect(try await session.outcome(of: server.url("/body")).text == "who?")
        server.route("GET", "/none", ServerReply.text("none").status(401))
        #expect(try await session.outcome(of: server.url("/none")).text == "none")
    }

    @Test func `T-AUT-09 wrong passwords end after three rounds, and are counted`() async throws {
        let keyring = Keyring { challenge in
            (
                .useCredential,
                URLCredential(user: "user", password: "no\(challenge.previousFailureCount)", persistence: .none)
            )
        }
        let session = URLSession.loopback(delegate: keyring)

        #expect(try await session.outcome(of: server.url("/basic-auth/user/secret")).status == 401)

        #expect(server.requests.count == 4)
        #expect(keyring.challenges.withLock { $0.map(\.previousFailureCount) } == [0, 1, 2])
    }

    @Test func `each disposition does what it says`() async throws {
        func ends(_ answer: @escaping Keyring.Answer) async throws -> Outcome {
            try await URLSession.loopback(delegate: Keyring(answer)).outcome(of: server.url("/basic-auth/user/secret"))
        }

        #expect(try await ends { _ in (.cancelAuthenticationChallenge, nil) }.error?.code == .cancelled)
        #expect(try await ends { _ in (.rejectProtectionSpace, nil) }.status == 401)
        #expect(try await ends { _ in (.performDefaultHandling, nil) }.status == 401)
        #expect(try await ends { _ in (.useCredential, nil) }.status == 401)
    }

    @Test func `T-AUT-04 the next offer is tried when the strongest is declined`() async throws {
        server.route("GET", "/both") { request in
            if request.headers["Authorization"]?.hasPrefix("Basic") == true { return .text("in") }
            return ServerReply.status(401)
                .header("WWW-Authenticate", "Basic realm=\"r\", Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256")
        }
        let keyring = Keyring { challenge in
            challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPDigest
                ? (.rejectProtectionSpace, nil)
                : (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
        }

        #expect(try await URLSession.loopback(delegate: keyring).outcome(of: server.url("/both")).text == "in")
        #expect(keyring.count == 2)
    }

    // MARK: - Digest

    @Test(arguments: ["MD5", "SHA-256", "SHA-512-256", "MD5-sess", "SHA-256-sess", "SHA-512-256-sess"])
    func `T-AUT-05 T-AUT-11 each algorithm is understood by a server that checks`(algorithm: String) async throws {
        for quality in ["auth", "auth-int"] {
            let session = URLSession.loopback(delegate: Keyring("user", "secret"))
            let url = server.url("/digest-auth/\(quality)/user/secret/\(algorithm)")
            let request = URLRequest("PUT", url, body: Data("some body".utf8))

            #expect(try await session.outcome(of: request).status == 200, "\(quality)")
            #expect(try await session.outcome(of: url).status == 200, "\(quality)")
        }
    }

    @Test func `T-AUT-08 tasks side by side never use a count twice`() async throws {
        let session = URLSession.loopback(delegate: Keyring("user", "secret")) { $0.httpMaximumConnectionsPerHost = 6 }
        let url = server.url("/digest-auth/auth/user/secret/SHA-256")
        #expect(try await session.outcome(of: url).status == 200)
        let outcomes = Outcomes()
        for _ in 0..<100 { session.dataTask(with: url, completionHandler: outcomes.handler).resume() }

        #expect(try await outcomes.wait(for: 100).allSatisfy { $0.status == 200 })
        let answers = server.requests.compactMap { $0.headers["Authorization"] }
        let counts = answers.compactMap { $0.firstMatch(of: /nc=([0-9a-f]{8})/)?.1 }
        #expect(answers.count == 101 && Set(counts).count == 101)
    }

    @Test func `T-AUT-22 a Digest is not answered to an origin that did not ask`() async throws {
        let session = URLSession.loopback(delegate: Keyring("user", "secret"))
        _ = try await session.outcome(of: server.url("/digest-auth/auth/user/secret"))
        other.route("GET", "/free", .text("free"))
        _ = try await session.outcome(of: other.url("/free"))

        #expect(other.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }

    // MARK: - Bodies

    @Test func `T-AUT-14 bodies are sent again with the answer`() async throws {
        let content = Data(String(repeating: "0123456789", count: 20_000).utf8)
        server.route("PUT", "/in") { request in
            guard request.headers["Authorization"] != nil else {
                return .status(401).header("WWW-Authenticate", "Basic realm=\"r\"")
            }
            return .text("\(request.body == content)")
        }
        let folder = try ScratchFolder()
        let file = try folder.file(content)
        let put = URLRequest("PUT", server.url("/in"))
        func session() -> URLSession { URLSession.loopback(delegate: Keyring("u", "p", persistence: .none)) }
        var inMemory = put
        inMemory.httpBody = content

        #expect(try await session().outcome(of: inMemory).text == "true")
        #expect(try await session().upload(for: put, from: content).0 == Data("true".utf8))
        #expect(try await session().upload(for: put, fromFile: file).0 == Data("true".utf8))

        var streamed = put
        streamed.httpBodyStream = InputStream(data: content)
        #expect(try await session().outcome(of: streamed).error?.code == .requestBodyStreamExhausted)
    }

    @Test func `T-AUT-08 a request that goes out once more counts once more`() async throws {
        let server = try TestServer()
        let challenge = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=r, nonce=\"n\", qop=\"auth\"\r\n"
        let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        server.script(
            on: .connection(1),
            .expectRequest,
            .send(challenge + "Content-Length: 0\r\n\r\n"),
            .expectRequest,
            .send(reply),
            .expectRequest,
            .close
        )
        server.script(on: .connection(2), .expectRequest, .send(reply), .expectEnd)
        let session = URLSession.loopback(delegate: Keyring("user", "secret"))
        defer { session.invalidateAndCancel() }

        #expect(try await session.outcome(of: server.url("/")).text == "ok")
        #expect(try await session.outcome(of: server.url("/")).text == "ok")

        let counts = server.requests.map { request in
            request.headers["Authorization"]?.split(separator: "nc=").last.map { String($0.prefix(8)) }
        }
        #expect(counts == [nil, "00000001", "00000002", "00000003"])
    }

    // MARK: - Unasked

    @Test func `T-AUT-03 a credential that was removed from the storage is not sent any more`() async throws {
        let storage = URLCredentialStorage()
        let session = URLSession.loopback { $0.urlCredentialStorage = storage }
        let space = URLProtectionSpace(
            host: "127.0.0.1",
            port: Int(server.port),
            protocol: "http",
            realm: "Fake Realm",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        let credential = URLCredential(user: "user", password: "secret", persistence: .forSession)
        storage.setDefaultCredential(credential, for: space)
        let url = server.url("/basic-auth/user/secret", host: "127.0.0.1")

        #expect(try await session.outcome(of: url).status == 200)
        storage.remove(credential, for: space)
        #expect(try await session.outcome(of: url).status == 401)

        #expect(server.requests.last?.headers["Authorization"] == nil)
    }

    @Test func `the caller's own Authorization goes first, and is replaced only if the server asks`() async throws {
        let session = URLSession.loopback(delegate: Keyring("user", "secret"))
        let url = server.url("/basic-auth/user/secret")
        let own = URLRequest("GET", url, fields: ["Authorization": "Basic bm86bm8="])

        #expect(try await session.outcome(of: own).status == 200)
        #expect(server.requests.map { $0.headers["Authorization"] } == ["Basic bm86bm8=", "Basic dXNlcjpzZWNyZXQ="])
        #expect(
            server.requests.allSatisfy {
                String(decoding: $0.rawHead, as: UTF8.self).split(separator: "uthorization:").count <= 2
            }
        )
    }

    @Test func `user and password of a URL are proposed to its origin once it asks`() async throws {
        let text = "http://user:secret@127.0.0.1:\(server.port)/basic-auth/user/secret"

        let outcome = try await URLSession.loopback().outcome(of: try #require(URL(string: text)))

        #expect(outcome.status == 200)
        #expect(server.requests.map { $0.headers["Authorization"] != nil } == [false, true])
    }

    // MARK: - Oddities

    @Test func `T-AUT-16 T-AUT-17 T-AUT-21 a party that may not ask gets no credential`() async throws {
        let keyring = Keyring("user", "secret")
        let session = URLSession.loopback(delegate: keyring)
        server.route("GET", "/200", ServerReply.text("x").header("WWW-Authenticate", "Basic realm=r"))
        server.route("GET", "/302", ServerReply.text("x").status(302).header("WWW-Authenticate", "Basic realm=r"))
        server.route("GET", "/407", ServerReply.text("x").status(407).header("Proxy-Authenticate", "Basic realm=r"))
        server.route("GET", "/ntlm", ServerReply.text("x").status(401).header("WWW-Authenticate", "NTLM"))

        for (path, status) in [("/200", 200), ("/302", 302), ("/407", 407), ("/ntlm", 401)] {
            let outcome = try await session.outcome(of: server.url(path))
            #expect(outcome.status == status && outcome.text == "x", "\(path)")
        }
        #expect(keyring.count == 0 && server.requests.count == 4)
    }

    @Test func `T-AUT-15 the answers after the first come to nothing, also after the end`() async throws {
        let late = Lock<(@Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)?>(nil)
        let delegate = TaskTrustDelegate(answering: { _, completion in late.withLock { $0 = completion } })
        let session = URLSession.loopback(delegate: delegate)
        let outcomes = Outcomes()
        let task = session.dataTask(with: server.url("/basic-auth/user/secret"), completionHandler: outcomes.handler)
        task.resume()
        try await delegate.challenges.wait("a challenge") { !$0.isEmpty }
        task.cancel()

        #expect(try await outcomes.first().error?.code == .cancelled)
        let answer = try #require(late.withLock { $0 })
        answer(.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
        answer(.cancelAuthenticationChallenge, nil)
        await session.settled()
        #expect(server.requests.count == 1 && outcomes.all.value.count == 1)
    }
}
