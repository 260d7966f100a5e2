import AFTLS

extension SecuredTests {
    /// A delegate's own method may call the default implementation of the `async` form, or of another delegate. The session
    /// goes on asking it.
    struct DefaultCalls {
        /// How the delegate's method leaves a server to the session.
        enum Leave: CaseIterable {
            /// It calls the default implementation of its own `async` method.
            case own
            /// It hands the challenge on to a delegate that has no method.
            case other
        }

        @Test("T-TLS-84 a session's delegate that leaves one server is asked about the next", arguments: Leave.allCases)
        func session(leave: Leave) async throws {
            let (first, second) = (try SecuredSite(), try SecuredSite())
            let delegate = SessionPins(leave, refusing: second.server.port)
            let session = URLSession.loopback(delegate: delegate) { configuration in
                configuration.tls.anchors = .certificates([first.authority.certificate, second.authority.certificate])
            }

            #expect(try await session.outcome(of: first.server.url("/hello")).text == "hello")
            #expect(try await session.outcome(of: second.server.url("/hello")).code == -999)
            #expect(second.server.requests.isEmpty)
        }

        @Test("T-TLS-84 a task's delegate that leaves one server is asked about the next", arguments: Leave.allCases)
        func task(leave: Leave) async throws {
            let (first, second) = (try SecuredSite(), try SecuredSite())
            let session = URLSession.loopback { configuration in
                configuration.tls.anchors = .certificates([first.authority.certificate, second.authority.certificate])
            }
            let delegate = TaskPins(leave, refusing: second.server.port)
            for (site, code) in [(first, nil), (second, -999)] {
                let outcomes = Outcomes()
                let task = session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler)
                task.delegate = delegate
                task.resume()
                #expect(try await outcomes.first().code == code)
            }
            #expect(second.server.requests.isEmpty)
        }

        @Test(
            "a delegate that leaves a server has been asked: no TLS session of it is resumed",
            arguments: Leave.allCases
        )
        func asked(leave: Leave) async throws {
            let site = try SecuredSite()
            site.server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
            let session = site.session(delegate: SessionPins(leave, refusing: 0))

            for _ in 1...2 { #expect(try await session.outcome(of: site.server.url("/bye")).text == "bye") }

            #expect(site.server.connections.map { $0.tls?.isResumed } == [false, false])
        }

        @Test("a connection's delegate that hands a challenge on is asked again, T-TLS-84")
        func connection() async throws {
            let (first, second) = (try SecuredSite(), try SecuredSite())
            let delegates = [first, second].map { _ in ConnectionPins(refusing: second.server.port) }
            for (site, delegate) in zip([first, second], delegates) {
                let connection = try #require(
                    URLConnection(
                        request: URLRequest(url: site.server.url("/hello")),
                        delegate: delegate,
                        startImmediately: false
                    )
                )
                connection.setDelegateQueue(OperationQueue())
                connection.start()
                try await delegate.isOver.wait("the end") { $0 }
                #expect(delegate.asked.value == 1)
            }
            #expect(second.server.requests.isEmpty)
        }

        @Test func `a delegate that asks the default about one redirect is asked about the next`() async throws {
            let server = try TestServer()
            server.route("GET", "/1", ServerReply.status(302).header("Location", "/2"))
            server.route("GET", "/2", ServerReply.status(302).header("Location", "/3"))
            server.route("GET", "/3", .text("end"))
            let delegate = RedirectCount()
            let session = URLSession.loopback(delegate: delegate)

            #expect(try await session.outcome(of: server.url("/1")).text == "end")

            #expect(delegate.count.value == 2)
        }
    }
}

/// Has no method.
private final class Silent: URLSessionTaskDelegate {
    static let shared = Silent()
}

/// Cancels the challenge of one server, and leaves all others.
private final class SessionPins: URLSessionDelegate {
    private let leave: SecuredTests.DefaultCalls.Leave
    private let refused: Int

    init(_ leave: SecuredTests.DefaultCalls.Leave, refusing port: UInt16) {
        self.leave = leave
        refused = Int(port)
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.port != refused else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        switch leave {
        case .own:
            Task {
                let (disposition, credential) = await self.urlSession(session, didReceive: challenge)
                completionHandler(disposition, credential)
            }
        case .other: Silent.shared.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
        }
    }
}

/// The same for tasks.
private final class TaskPins: URLSessionTaskDelegate {
    private let leave: SecuredTests.DefaultCalls.Leave
    private let refused: Int

    init(_ leave: SecuredTests.DefaultCalls.Leave, refusing port: UInt16) {
        self.leave = leave
        refused = Int(port)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.port != refused else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        switch leave {
        case .own:
            Task {
                let (disposition, credential) = await self.urlSession(session, task: task, didReceive: challenge)
                completionHandler(disposition, credential)
            }
        case .other:
            Silent.shared.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
        }
    }
}

/// The same for a connection.
private final class ConnectionPins: URLConnectionDataDelegate {
    private final class Silent: URLConnectionDelegate {}

    let isOver = Watched(false)
    let asked = Watched(0)
    private let refused: Int
    private let other = Silent()

    init(refusing port: UInt16) {
        refused = Int(port)
    }

    func connection(_ connection: URLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        asked.change { $0 += 1 }
        guard challenge.protectionSpace.port != refused else { return challenge.sender?.cancel(challenge) ?? () }
        other.connection(connection, willSendRequestFor: challenge)
    }

    func connectionDidFinishLoading(_ connection: URLConnection) { isOver.change { $0 = true } }
    func connection(_ connection: URLConnection, didFailWithError error: any Error) { isOver.change { $0 = true } }
}

/// Leaves each redirect to the session by the default implementation.
private final class RedirectCount: URLSessionTaskDelegate {
    let count = Watched(0)

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        count.change { $0 += 1 }
        Task {
            completionHandler(
                await self.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request)
            )
        }
    }
}
