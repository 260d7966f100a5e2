@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

@Suite("Hosts that want TLS, on the wire")
struct HSTSTests {
    private let outcomes = Outcomes()

    private func store(_ host: String) throws -> HSTSStore {
        let entry = HSTSStore.Entry(host: host, includesSubdomains: false, expires: .distantFuture)
        return HSTSStore(entries: [try #require(entry)])
    }

    @Test func `T-STS-05 a known host is asked over TLS, and hears nothing before`() async throws {
        let site = try SecuredSite()
        let known = try store("localhost")
        let session = URLSession.loopback {
            $0.tls.anchors = .certificates([site.authority.certificate])
            $0.strictTransportSecurity = known
        }
        site.server.route("PUT", "/put") { .text($0.bodyText) }
        let plain = try #require(URL(string: "http://localhost:\(site.server.port)/hello"))

        let task = session.dataTask(with: plain, completionHandler: outcomes.handler)
        task.resume()
        let outcome = try await outcomes.first()
        #expect(outcome.text == "hello" && outcome.response?.url?.scheme == "https")
        #expect(task.originalRequest?.url == plain && task.currentRequest?.url?.scheme == "https")
        let put = URLRequest("PUT", try #require(URL(string: "http://localhost:\(site.server.port)/put")))
        let (data, _) = try await session.upload(for: put, from: Data("body".utf8))
        #expect(data == Data("body".utf8))
        let folder = try ScratchFolder()
        let file = try folder.file(Data("file".utf8))
        #expect(try await session.upload(for: put, fromFile: file).0 == Data("file".utf8))
        #expect(site.server.connections.allSatisfy { $0.tls != nil })
    }

    @Test func `T-STS-06 a redirect to a known host goes over TLS`() async throws {
        let site = try SecuredSite()
        let server = try TestServer()
        let known = try store("localhost")
        let target = "http://localhost:\(site.server.port)/hello"
        server.route("GET", "/1", ServerReply.status(302).header("Location", target))
        site.server.route("GET", "/2", ServerReply.status(302).header("Location", target))
        let session = URLSession.loopback {
            $0.tls.anchors = .certificates([site.authority.certificate])
            $0.strictTransportSecurity = known
        }

        #expect(try await session.outcome(of: server.url("/1")).text == "hello")
        #expect(try await session.outcome(of: site.server.url("/2", host: "localhost")).text == "hello")
    }

    @Test func `a session learns from responses over TLS, and another without the store does not`() async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/sts", ServerReply.text("x").header("Strict-Transport-Security", "max-age=100"))
        let learning = HSTSStore()
        let session = URLSession.loopback {
            $0.tls.anchors = .certificates([site.authority.certificate])
            $0.strictTransportSecurity = learning
        }
        let plain = try TestServer()
        plain.route("GET", "/sts", ServerReply.text("x").header("Strict-Transport-Security", "max-age=100"))

        _ = try await session.outcome(of: plain.url("/sts", host: "localhost"))
        #expect(learning.entries.isEmpty)
        _ = try await session.outcome(of: site.server.url("/sts", host: "localhost"))
        #expect(learning.entries.map(\.host) == ["localhost"])
    }

    // MARK: - Requests that go another time

    @Test func `T-STS-05 another attempt goes over TLS, whatever URL the adapter gives it`() async throws {
        let site = try SecuredSite()
        let attempts = Lock(0)
        site.server.route("GET", "/busy") { _ in
            attempts.withLock {
                $0 += 1
                return $0 < 3 ? .status(503) : .text("done")
            }
        }
        let plain = try #require(URL(string: "http://localhost:\(site.server.port)/busy"))
        let known = try store("localhost")
        let session = URLSession.loopback {
            $0.tls.anchors = .certificates([site.authority.certificate])
            $0.strictTransportSecurity = known
            $0.requestInterceptors = [
                AdaptingInterceptor { request, _ in
                    var request = request
                    request.url = plain
                    return request
                },
                RetryingInterceptor { _ in .retry },
            ]
        }
        let task = session.dataTask(with: plain, completionHandler: outcomes.handler)
        task.resume()

        #expect(try await outcomes.first().text == "done")
        #expect(task.currentRequest?.url?.scheme == "https" && attempts.withLock { $0 } == 3)
        #expect(site.server.connections.allSatisfy { $0.tls != nil })
    }

    /// Each of these learns that the host wants TLS while the session waits to send the request another time.
    @Test(arguments: ["/auth", "/busy", "/led"])
    func `T-STS-05 a host that wants TLS by the time of another request hears nothing more in the clear`(
        path: String
    ) async throws {
        let server = try TestServer()
        server.route("GET", "/auth", ServerReply.status(401).header("WWW-Authenticate", "Basic realm=\"a\""))
        server.route("GET", "/busy", ServerReply.status(503))
        let former = try TestServer()
        former.route(
            "GET",
            "/led",
            ServerReply.status(302).header("Location", server.url("/busy", host: "localhost").absoluteString)
        )
        let (known, entry) = (HSTSStore(), try store("localhost").entries)
        let delegate = TaskTrustDelegate { _ in
            entry.forEach(known.insert)
            return (.useCredential, URLCredential(user: "ann", password: "canary", persistence: .none))
        }
        let session = URLSession.loopback(delegate: delegate) {
            $0.strictTransportSecurity = known
            $0.requestInterceptors = [
                RetryingInterceptor { attempt in
                    entry.forEach(known.insert)
                    return attempt.number < 2 ? .retry : .giveUp
                }
            ]
        }
        let first = path == "/led" ? former.url(path) : server.url(path, host: "localhost")
        let task = session.dataTask(with: first, completionHandler: outcomes.handler)
        task.resume()

        // The server does not speak TLS.
        #expect(try await outcomes.first().error != nil)
        #expect(task.currentRequest?.url?.scheme == "https")
        #expect(server.requests.count == 1)
    }
}
