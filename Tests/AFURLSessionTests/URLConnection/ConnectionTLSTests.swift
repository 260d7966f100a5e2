@testable import AFURLSession

/// Connections with a configuration of TLS of their own.
@Suite struct ConnectionTLSTests {
    private let authority: CertificateAuthority
    private let server: TestServer
    private let sessions = ConnectionSessions.loopback()

    init() throws {
        authority = try CertificateAuthority("My CA")
        server = try TestServer(tls: ServerTLS(try authority.issue(for: "127.0.0.1")))
        server.route("GET", "/hello", .text("hello"))
    }

    private var request: URLRequest { URLRequest(url: server.url("/hello")) }

    private var trusting: TLSConfiguration {
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        return tls
    }

    private func load(_ tls: TLSConfiguration?) async throws -> [ConnectionLog.Event] {
        let log = ConnectionLog()
        let connection = try #require(URLConnection(request: request, delegate: log, in: sessions))
        connection.tls = tls
        connection.schedule(onNetworkThreadIn: [.default])
        connection.start()
        return try await log.ended()
    }

    @Test func `a connection trusts an authority of the program, and only where it was told to`() async throws {
        #expect(try await load(trusting).last == .finished)
        let failure = try await load(nil).last
        #expect(failure != .finished && failure != nil)
        #expect(server.requests.count == 1)
    }

    @Test func `a caller that waits, or is called back, trusts an authority of the program`() async throws {
        let (request, trusting) = (request, trusting)
        let (data, error): (Data?, URLError?) = await withCheckedContinuation { continuation in
            Thread {
                let data = try? URLConnection.sendSynchronousRequest(request, tls: trusting, returning: nil)
                do {
                    _ = try URLConnection.sendSynchronousRequest(request, returning: nil)
                    continuation.resume(returning: (data, nil))
                } catch {
                    continuation.resume(returning: (data, error as? URLError))
                }
            }
            .start()
        }
        let answer: Data? = await withCheckedContinuation { continuation in
            URLConnection.sendAsynchronousRequest(request, tls: trusting, queue: OperationQueue()) { _, data, _ in
                continuation.resume(returning: data)
            }
        }

        #expect(data == Data("hello".utf8) && answer == data)
        #expect(error?.code == .serverCertificateHasUnknownRoot)
        #expect(error?.loadFailure?.advice == "If \"CN=My CA\" is an authority of yours, add it to tls.anchors.")
    }

    @Test func `equal configurations share a session, and others none`() throws {
        final class Judge: ServerEvaluator {
            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        }
        struct Value: ServerEvaluator {
            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        }
        func session(_ tls: TLSConfiguration, usesStorage: Bool = true) -> URLSession {
            sessions.session(usingCredentialStorage: usesStorage, securedBy: tls)
        }
        func configuration(_ evaluator: (any ServerEvaluator)?) -> TLSConfiguration {
            var tls = trusting
            tls.evaluator = evaluator
            return tls
        }
        let judge = Judge()

        #expect(session(trusting) === session(trusting))
        #expect(session(trusting) !== session(trusting, usesStorage: false))
        #expect(session(trusting) !== session(TLSConfiguration()))
        #expect(session(configuration(judge)) === session(configuration(judge)))
        #expect(session(configuration(judge)) !== session(configuration(Judge())))
        #expect(session(configuration(Value())) !== session(configuration(Value())))
    }

    @Test func `of many configurations the sessions used last are kept, and no more`() throws {
        weak var first: URLSession?
        let kept = sessions.session(usingCredentialStorage: true, securedBy: trusting)
        for number in 0..<20 {
            var tls = TLSConfiguration()
            tls.decisionTimeout = TimeInterval(number + 100)
            let made = sessions.session(usingCredentialStorage: true, securedBy: tls)
            if number == 0 { first = made }
            #expect(sessions.session(usingCredentialStorage: true, securedBy: trusting) === kept)
        }
        #expect(first == nil)
    }
}
