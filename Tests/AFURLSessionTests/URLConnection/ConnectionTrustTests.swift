@testable import AFURLSession
@testable import AFURLTypes

@Suite("URLConnection and challenges")
struct ConnectionTrustTests {
    private let site: TestServer
    private let sessions = ConnectionSessions.loopback()

    init() throws {
        let root = try CertificateAuthority()
        site = try TestServer(tls: ServerTLS(try root.issue(for: "127.0.0.1")))
        site.route("GET", "/hello", ServerReply.text("hello").header("Cache-Control", "max-age=1000"))
    }

    private static let trusts: @Sendable (URLAuthenticationChallenge) -> Void = { challenge in
        guard let trust = challenge.protectionSpace.serverTrust else {
            return challenge.sender?.performDefaultHandling(for: challenge) ?? ()
        }
        challenge.sender?.use(URLCredential(trust: trust), for: challenge)
    }

    private func load(_ log: ConnectionLog, _ path: String = "/hello") async throws -> [ConnectionLog.Event] {
        _ = try sessions.start(URLRequest(url: site.url(path)), log)
        return try await log.ended()
    }

    @Test func `a delegate that vouches for a server loads from it, one that does not, not`() async throws {
        let accepts = try await load(ConnectionLog(answer: Self.trusts))
        let standard = try await load(ConnectionLog())
        let cancels = try await load(ConnectionLog(answer: { $0.sender?.cancel($0) }))
        let rejects = try await load(ConnectionLog(answer: { $0.sender?.rejectProtectionSpaceAndContinue(with: $0) }))

        #expect(accepts.contains(.challenge(NSURLAuthenticationMethodServerTrust)))
        #expect(accepts.last == .finished)
        for events in [standard, cancels, rejects] {
            guard case .failed = events.last else {
                Issue.record("\(events)")
                return
            }
        }
        #expect(site.requests.count == 1)
    }

    @Test func `T-TLS-10 a server that one delegate has accepted is judged anew for another, in the cache too`()
        async throws
    {
        #expect(try await load(ConnectionLog(answer: Self.trusts)).last == .finished)

        let events = try await load(ConnectionLog())

        #expect(events.contains(.challenge(NSURLAuthenticationMethodServerTrust)))
        guard case .failed = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(site.requests.count == 1)
    }

    @Test func `delegates that give the same name share connections, others do not`() async throws {
        let name = Data("policy 1".utf8)
        let first = try await load(ConnectionLog(identity: name, answer: Self.trusts), "/1")
        let second = try await load(ConnectionLog(identity: name, answer: Self.trusts), "/2")
        let other = try await load(ConnectionLog(identity: Data("policy 2".utf8)), "/3")

        let asked: ConnectionLog.Event = .challenge(NSURLAuthenticationMethodServerTrust)
        #expect(first.contains(asked) && !second.contains(asked) && other.contains(asked))
        #expect(second.last == .finished)
        #expect(site.requests.map(\.path) == ["/1", "/2"])
    }

    /// A delegate that leaves servers to the standard evaluation.
    private final class Careless: URLConnectionDataDelegate {
        let failed = Watched<Bool?>(nil)
        func connectionDidFinishLoading(_ connection: URLConnection) { failed.change { $0 = false } }
        func connection(_ connection: URLConnection, didFailWithError error: any Error) { failed.change { $0 = true } }
    }

    @Test func `delegates without a method for challenges leave servers to the standard evaluation`() async throws {
        for _ in 0..<2 {
            let delegate = Careless()
            _ = try sessions.start(URLRequest(url: site.url("/hello")), delegate)
            #expect(try await delegate.failed.wait { $0 != nil } == true)
        }
        // That others have no method says nothing about this one.
        #expect(try await load(ConnectionLog(answer: Self.trusts)).last == .finished)
    }

    // MARK: - Passwords

    private func protected() throws -> TestServer {
        let server = try TestServer()
        server.route("GET", "/secret") { request in
            let right = "Basic " + Data("user:word".utf8).base64EncodedString()
            guard request.headers["Authorization"] == right else {
                return ServerReply.text("who?").status(401).header("WWW-Authenticate", #"Basic realm="r""#)
            }
            return .text("secret")
        }
        return server
    }

    @Test func `a password that the delegate has is used, none delivers the 401`() async throws {
        let server = try protected()
        let request = URLRequest(url: server.url("/secret"))
        let knows = ConnectionLog(answer: {
            let credential = URLCredential(user: "user", password: "word", persistence: .none)
            $0.sender?.use(credential, for: $0)
        })
        let none = ConnectionLog(answer: { $0.sender?.continueWithoutCredential(for: $0) })

        _ = try sessions.start(request, none)
        #expect(try await none.ended().suffix(3) == [.response(401), .data("who?"), .finished])
        _ = try sessions.start(request, knows)
        #expect(try await knows.ended().suffix(4) == [.response(200), .data("secret"), .willCache, .finished])
    }

    @Test func `the credential storage is asked unless the delegate says no`() async throws {
        let server = try protected()
        let storage = URLCredentialStorage()
        let sessions = ConnectionSessions.loopback { $0.urlCredentialStorage = storage }
        let space = URLProtectionSpace(
            host: "127.0.0.1",
            port: Int(server.port),
            protocol: "http",
            realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        let credential = URLCredential(user: "user", password: "word", persistence: .forSession)
        storage.setDefaultCredential(credential, for: space)
        let (uses, not) = (ConnectionLog(), ConnectionLog(usesStorage: false))

        _ = try sessions.start(URLRequest(url: server.url("/secret")), uses)
        let events = try await uses.ended()
        #expect(events.contains(.data("secret")) && !events.contains(.challenge(NSURLAuthenticationMethodHTTPBasic)))
        _ = try sessions.start(URLRequest(url: server.url("/secret")), not)
        #expect(try await not.ended().contains(.response(401)))
    }
}
