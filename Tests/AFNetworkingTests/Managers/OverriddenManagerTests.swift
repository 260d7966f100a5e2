/// What a subclass with its own delegate methods, and without closures, decides.
@Suite struct OverriddenManagerTests {
    private let site: ManagerSite

    init() throws {
        site = try ManagerSite()
    }

    private enum Question: Sendable { case session, task, redirect, response, cache }

    /// Refuses in one method, and leaves all others to its superclass.
    private final class Refusing: HTTPSessionManager, @unchecked Sendable {
        let refused = Heard<Question>()
        let asked = Heard<Question>()

        private func refuses(_ question: Question) -> Bool {
            asked.add(question)
            return refused.all.contains(question)
        }

        override func urlSession(
            _ session: URLSession,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            if refuses(.session) { return completionHandler(.cancelAuthenticationChallenge, nil) }
            super.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
        }

        override func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            if refuses(.task) { return completionHandler(.cancelAuthenticationChallenge, nil) }
            super.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
        }

        override func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            if refuses(.redirect) { return completionHandler(nil) }
            super.urlSession(
                session,
                task: task,
                willPerformHTTPRedirection: response,
                newRequest: request,
                completionHandler: completionHandler
            )
        }

        override func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            if refuses(.response) { return completionHandler(.cancel) }
            super.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
        }

        override func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            if refuses(.cache) { return completionHandler(nil) }
            super.urlSession(
                session,
                dataTask: dataTask,
                willCacheResponse: proposedResponse,
                completionHandler: completionHandler
            )
        }
    }

    private func manager(_ refused: Question?, on site: ManagerSite? = nil) -> Refusing {
        let site = site ?? self.site
        let configuration = site.configuration
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        // A resumed session was judged when it began.
        configuration.tls.resumesSessions = false
        let manager = Refusing(baseURL: site.server.url("/"), sessionConfiguration: configuration)
        manager.responseSerializer = HTTPResponseSerializer()
        if let refused { manager.refused.add(refused) }
        return site.owned(manager)
    }

    @Test(arguments: [true, false])
    func `5.8 its methods for challenges may refuse a server that the policy accepts`(bySession: Bool) async throws {
        let site = try ManagerSite(tls: true)
        let strict = manager(bySession ? .session : .task, on: site)
        let failure = await #expect(throws: RequestFailure.self) { try await strict.get("bytes/10") }
        #expect(failure?.kind == .cancelled || failure?.kind == .transport)
        #expect(site.server.requests.isEmpty)
    }

    @Test func `5.8 they are asked again about a server that they left to the manager`() async throws {
        let site = try ManagerSite(tls: true)
        let manager = manager(nil, on: site)
        #expect(try await manager.get("bytes/10").response?.statusCode == 200)
        #expect(manager.asked.all.filter { $0 != .response && $0 != .cache } == [.session, .task])

        await withCheckedContinuation { done in manager.session.reset { done.resume() } }
        manager.refused.add(.session)
        await #expect(throws: RequestFailure.self) { try await manager.get("bytes/10") }
        #expect(site.server.requests.count == 1)
    }

    @Test func `5.8 the handler for challenges is asked in spite of them`() async throws {
        let manager = manager(nil)
        let good = URLCredential(user: "user", password: "passwd", persistence: .none)
        manager.setAuthenticationChallengeHandler { _, _, _, _ in .credential(good) }
        #expect(try await manager.get("basic-auth/user/passwd").response?.statusCode == 200)
    }

    @Test func `5.10 its method for redirects, for responses and for the cache are asked`() async throws {
        let staying = await #expect(throws: RequestFailure.self) { try await manager(.redirect).get("redirect/1") }
        #expect(staying?.statusCode == 302)
        let unwanted = await #expect(throws: RequestFailure.self) { try await manager(.response).get("get") }
        #expect(unwanted?.kind == .cancelled)

        let forgetful = manager(.cache)
        for _ in 1...2 { try await forgetful.get("cache/60") }
        #expect(site.server.requests.count { $0.target == "/cache/60" } == 2)
        let willing = manager(nil)
        for _ in 1...2 { try await willing.get("cache/60") }
        #expect(site.server.requests.count { $0.target == "/cache/60" } == 3)
    }

    @Test func `T-RED-15 what it leaves to the manager sends no body to another origin`() async throws {
        let other = try ManagerSite()
        let target = other.server.url("/post").absoluteString
        site.server.route("POST", "/moved", ServerReply.status(307).header("Location", target))
        await #expect(throws: RequestFailure.self) { try await manager(nil).post("moved", parameters: ["a": "b"]) }
        #expect(other.server.requests.isEmpty)
    }

    /// Signs every request, as programs do that were written for AFNetworking.
    private final class Signing: HTTPSessionManager, @unchecked Sendable {
        override func dataTask(
            withHTTPMethod method: String,
            urlString: String,
            parameters: Any?,
            headers: [String: String]?,
            uploadProgress: ProgressHandler?,
            downloadProgress: ProgressHandler?,
            success: Success?,
            failure: Failure?
        ) -> URLSessionDataTask? {
            super.dataTask(
                withHTTPMethod: method,
                urlString: urlString,
                parameters: parameters,
                headers: (headers ?? [:]).merging(["X-Signature": "\(method) \(urlString)"]) { $1 },
                uploadProgress: uploadProgress,
                downloadProgress: downloadProgress,
                success: success,
                failure: failure
            )
        }
    }

    @Test func `the verbs call the method that makes their task`() async throws {
        site.server.route("*", "/x", .json("{}"))
        let manager = site.owned(Signing(baseURL: site.server.url("/"), sessionConfiguration: site.configuration))
        let heard = Heard<String>()

        manager.get("x", parameters: nil, success: { _, _ in heard.add("get") }, failure: nil)
        _ = try await heard.first
        manager.put("x", parameters: nil, success: { _, _ in heard.add("put") }, failure: nil)
        try await heard.wait(for: 2)

        #expect(site.server.requests.map { $0.headers["X-Signature"] } == ["GET x", "PUT x"])
    }
}
