/// Every closure of section 5.10, and where it is called.
@Suite struct ManagerHookTests {
    private let site: ManagerSite
    private let manager: URLSessionManager
    private let calls = Heard<String>()
    private let heard = Heard<Answer>()

    init() throws {
        site = try ManagerSite()
        manager = site.owned(URLSessionManager(sessionConfiguration: site.configuration))
        manager.responseSerializer = HTTPResponseSerializer()
    }

    private func say(_ word: String) -> String { "\(word) on \(Queues.current)" }

    private var delegateQueue: String { manager.operationQueue.name ?? "" }

    private func load(_ request: URLRequest) async throws -> Answer {
        let heard = Heard<Answer>()
        manager.dataTask(with: request, completionHandler: heard.completion)
            .resume()
        return try await heard.first
    }

    @Test func `1.2 5.10 hooks are called on the delegate queue, completion handlers on main`() async throws {
        let calls = calls
        let word: @Sendable (String) -> Void = { calls.add("\($0) on \(Queues.current)") }
        manager.setDataTaskDidReceiveResponseBlock { _, _, _ in
            word("response")
            return .allow
        }
        manager.setDataTaskDidReceiveDataBlock { _, _, _ in word("data") }
        manager.setDataTaskWillCacheResponseBlock { _, _, proposed in
            word("cache")
            return proposed
        }
        manager.setTaskDidFinishCollectingMetricsBlock { _, _, _ in word("metrics") }
        manager.setTaskDidCompleteBlock { _, _, _ in word("complete") }
        manager.setTaskDidSendBodyDataBlock { _, _, _, _, _ in word("sent") }
        manager.setTaskWillPerformHTTPRedirectionBlock { _, _, _, request in
            word("redirect")
            return request
        }
        var request = site.request("/redirect-to?url=/cache/60&status_code=307")
        let answer = try await load(request)
        #expect(answer.queue == "main" && answer.error == nil)
        request = site.request("/post", method: "POST")
        request.httpBody = Data("body".utf8)
        #expect(try await load(request).error == nil)

        let expected = ["redirect", "response", "data", "cache", "metrics", "complete", "sent"]
        let heard = try await calls.wait { Set($0).count >= expected.count }
        #expect(Set(heard) == Set(expected.map { "\($0) on \(delegateQueue)" }))
    }

    @Test func `5.10 a task that is cancelled at once has metrics, and then its end`() async throws {
        let (calls, heard) = (calls, Heard<Answer>())
        manager.setTaskDidFinishCollectingMetricsBlock { _, _, _ in calls.add("metrics") }
        manager.setTaskDidCompleteBlock { _, _, _ in calls.add("complete") }
        let task = manager.dataTask(with: site.request("/delay/30"), completionHandler: heard.completion)
        let observed = Observed(.networkingTaskDidComplete, of: task)
        task.resume()
        task.cancel()

        #expect(try await heard.first.error?.code == NSURLErrorCancelled)
        #expect(try await calls.wait(for: 2) == ["metrics", "complete"])
        let notification = try await observed.heard.first
        #expect(notification.userInfo[Notification.NetworkingTaskKey.sessionTaskMetrics] is URLSessionTaskMetrics)
    }

    @Test func `5.10 without a hook the session decides by itself`() async throws {
        let ignored = manager.session.ignoredDelegateMethods
        #expect(
            ignored == [
                .didReceiveChallenge, .taskDidReceiveChallenge, .taskWillPerformHTTPRedirection,
                .dataTaskDidReceiveResponse, .dataTaskWillCacheResponse, .taskDidFinishCollectingMetrics,
            ]
        )
        manager.setTaskWillPerformHTTPRedirectionBlock { _, _, _, request in request }
        #expect(!manager.session.ignoredDelegateMethods.contains(.taskWillPerformHTTPRedirection))
        manager.setTaskWillPerformHTTPRedirectionBlock(nil)
        #expect(manager.session.ignoredDelegateMethods == ignored)
    }

    @Test func `5.10 a redirect that is not wanted is the response`() async throws {
        manager.setTaskWillPerformHTTPRedirectionBlock { _, _, response, _ in
            #expect(response.statusCode == 302)
            return nil
        }
        let answer = try await load(site.request("/redirect/1"))
        #expect((answer.response as? HTTPURLResponse)?.statusCode == 302)
        #expect(answer.error?.code == NSURLErrorBadServerResponse)
    }

    @Test func `5.10 a response that is not wanted cancels the task`() async throws {
        manager.setDataTaskDidReceiveResponseBlock { _, _, _ in .cancel }
        #expect(try await load(site.request("/get")).error?.code == NSURLErrorCancelled)
    }

    @Test func `5.10 a hook can change or prevent what is cached`() async throws {
        let configuration = site.configuration
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let manager = site.owned(URLSessionManager(sessionConfiguration: configuration))
        manager.setDataTaskWillCacheResponseBlock { _, _, _ in nil }
        for count in 1...2 {
            manager.dataTask(with: site.request("/cache/60"), completionHandler: heard.completion)
                .resume()
            try await heard.wait(for: count)
        }
        #expect(site.server.requests.count == 2)
    }

    @Test func `5.5 the total of a streamed body is that of its Content-Length`() async throws {
        let sent = Heard<[Int64]>()
        manager.setTaskDidSendBodyDataBlock { sent.add([$3, $4]) }
        let bytes = Data(count: 200_000)
        manager.setTaskNeedNewBodyStreamBlock { _, _ in InputStream(data: bytes) }
        var request = site.request("/post", method: "POST")
        request.setValue("200000", forHTTPHeaderField: "Content-Length")
        let steps = Heard<Double>()
        manager.uploadTask(
            withStreamedRequest: request,
            progress: { steps.add($0.fractionCompleted) },
            completionHandler: heard.completion
        )
        .resume()

        #expect(try await heard.first.error == nil)
        #expect(sent.all.last == [200_000, 200_000] && steps.all.last == 1)
        #expect(site.server.requests.last?.bodyByteCount == 200_000)
    }

    // MARK: - Challenges

    private func credential(_ password: String) -> URLCredential {
        URLCredential(user: "user", password: password, persistence: .none)
    }

    @Test func `5.8 a handler answers with a credential, or leaves it to the session`() async throws {
        let good = credential("passwd")
        manager.setAuthenticationChallengeHandler { _, _, challenge, _ in
            challenge.protectionSpace.realm == "Fake Realm" && challenge.previousFailureCount == 0
                ? .credential(good) : .performDefaultHandling
        }
        #expect(try await load(site.request("/basic-auth/user/passwd?realm=Fake%20Realm")).error == nil)
        let refused = try await load(site.request("/basic-auth/user/passwd?realm=other"))
        #expect((refused.response as? HTTPURLResponse)?.statusCode == 401)
    }

    @Test func `5.8 a handler answers later, cancels, or fails with an error of its own`() async throws {
        let good = credential("passwd")
        let raw = Heard<Int?>()
        manager.setTaskDidCompleteBlock { raw.add(($2 as NSError?)?.code) }
        manager.setAuthenticationChallengeHandler { _, _, _, done in
            DispatchQueue.global().async { done(.useCredential, good) }
            return .later
        }
        let request = site.request("/basic-auth/user/passwd")
        #expect(try await load(request).error == nil)

        manager.setAuthenticationChallengeHandler { _, _, _, _ in .cancel }
        #expect(try await load(request).error?.code == NSURLErrorCancelled)

        let own = NSError(domain: "mine", code: 42)
        manager.setAuthenticationChallengeHandler { _, _, _, _ in .fail(own) }
        #expect(try await load(request).error === own)
        // 16 5.6: the hook receives the session's own error.
        #expect(try await raw.wait(for: 3) == [nil, NSURLErrorCancelled, NSURLErrorCancelled])

        manager.setAuthenticationChallengeHandler { _, _, _, _ in .rejectProtectionSpace }
        #expect((try await load(request).response as? HTTPURLResponse)?.statusCode == 401)
    }

    @Test func `5.8 a block of 3.x answers with a pointer, and without a credential the request continues`()
        async throws
    {
        let request = site.request("/basic-auth/user/passwd")
        let good = URLCredential(user: "user", password: "passwd", persistence: .none)
        let answers: [(URLSession.AuthChallengeDisposition, URLCredential?, Int?)] = [
            (.useCredential, good, 200), (.useCredential, nil, 401), (.performDefaultHandling, good, 401),
            (.rejectProtectionSpace, nil, 401), (.cancelAuthenticationChallenge, good, nil),
        ]
        for (disposition, credential, status) in answers {
            manager.setTaskDidReceiveAuthenticationChallengeBlock { _, _, _, pointer in
                pointer?.pointee = credential
                return disposition
            }
            let answer = try await load(request)
            #expect((answer.response as? HTTPURLResponse)?.statusCode == status, "\(disposition)")
        }
        manager.setTaskDidReceiveAuthenticationChallengeBlock(nil)
        #expect((try await load(request).response as? HTTPURLResponse)?.statusCode == 401)
    }

    @Test(arguments: [URLSession.AuthChallengeDisposition.useCredential, .cancelAuthenticationChallenge])
    func `5.8 a block of 3.x hears of passwords, and of no server`(other: URLSession.AuthChallengeDisposition)
        async throws
    {
        let site = try ManagerSite(tls: true)
        let manager = site.owned(URLSessionManager(sessionConfiguration: site.configuration))
        manager.responseSerializer = HTTPResponseSerializer()
        let methods = Heard<String>()
        manager.setTaskDidReceiveAuthenticationChallengeBlock { _, _, challenge, pointer in
            let method = challenge.protectionSpace.authenticationMethod
            methods.add(method)
            pointer?.pointee = URLCredential(user: "user", password: "passwd", persistence: .none)
            return method == NSURLAuthenticationMethodHTTPBasic ? .useCredential : other
        }

        manager.dataTask(with: site.request("/basic-auth/user/passwd"), completionHandler: heard.completion).resume()

        #expect((try await heard.first.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(methods.all == [NSURLAuthenticationMethodHTTPBasic])
    }

    // MARK: - Servers

    /// Retries every request once.
    private struct Again: TaskInterceptor {
        func retry(after attempt: FailedAttempt) async -> RetryDecision { attempt.number == 1 ? .retry : .giveUp }
    }

    @Test(arguments: [false, true])
    func `5.8 the error of a refused handshake is not that of a later one`(isCut: Bool) async throws {
        let site = try ManagerSite(tls: true)
        site.server.route("GET", "/cut", ServerReply.text("0123456789").closing(after: 5))
        let configuration = site.configuration
        configuration.requestInterceptors = [Again()]
        let manager = site.owned(URLSessionManager(sessionConfiguration: configuration))
        manager.responseSerializer = HTTPResponseSerializer()
        let questions = Heard<String>()
        manager.setAuthenticationChallengeHandler { _, _, challenge, _ in
            questions.add(challenge.protectionSpace.host)
            guard questions.all.count > 1, let trust = challenge.protectionSpace.serverTrust else {
                return .fail(NSError(domain: "mine", code: 42))
            }
            return .credential(URLCredential(trust: trust))
        }
        manager.dataTask(with: site.request(isCut ? "/cut" : "/bytes/10"), completionHandler: heard.completion)
            .resume()

        let answer = try await heard.first
        #expect(answer.error?.code == (isCut ? NSURLErrorNetworkConnectionLost : nil))
        #expect(isCut || (answer.object as? Data)?.count == 10)
        #expect(questions.all.count == 2)
    }

    @Test func `5.8 a server that the policy refuses receives nothing, and the error names the host`() async throws {
        let site = try ManagerSite(tls: true)
        let other = try CertificateAuthority()
        let manager = site.owned(URLSessionManager(sessionConfiguration: site.configuration))
        manager.responseSerializer = HTTPResponseSerializer()
        for mode in [SSLPinningMode.publicKey, .certificate] {
            manager.securityPolicy = SecurityPolicy(pinningMode: mode, certificates: [other.certificate])
            let heard = Heard<Answer>()
            manager.dataTask(with: site.request("/get"), completionHandler: heard.completion)
                .resume()
            let error = try #require(try await heard.first.error)
            #expect(error.domain == NSURLErrorDomain && error.code == -1202)
            #expect(
                error.localizedDescription.hasPrefix(
                    """
                    The certificate for this server is invalid. You might be connecting to a server that is pretending \
                    to be “127.0.0.1” which could put your confidential information at risk. The server at 127.0.0.1:
                    """
                )
            )
            #expect((error.userInfo[NSUnderlyingErrorKey] as? URLError)?.loadFailure?.reason == .trust)
        }
        #expect(site.server.requests.isEmpty)
    }

    @Test func `5.8 a handler may trust a server that the standard evaluation refuses, but no pin is overruled`()
        async throws
    {
        let site = try ManagerSite(tls: true)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([try CertificateAuthority().certificate])
        let manager = site.owned(URLSessionManager(sessionConfiguration: configuration))
        manager.responseSerializer = HTTPResponseSerializer()
        let load: () -> Void = {
            manager.dataTask(with: site.request("/get"), completionHandler: heard.completion)
                .resume()
        }
        load()
        #expect(try await heard.wait(for: 1)[0].error?.code == -1202)

        manager.setAuthenticationChallengeHandler { _, _, challenge, _ in
            challenge.protectionSpace.serverTrust.map { .credential(URLCredential(trust: $0)) }
                ?? .performDefaultHandling
        }
        load()
        #expect(try await heard.wait(for: 2)[1].error == nil)

        manager.setAuthenticationChallengeHandler { _, _, _, _ in .performDefaultHandling }
        load()
        let refused = try #require(try await heard.wait(for: 3)[2].error)
        #expect(refused.code == -1202)
        #expect(refused.userInfo[NSURLErrorFailingURLPeerTrustErrorKey] is ServerTrust)

        // The policy is changed in place.
        manager.securityPolicy.allowInvalidCertificates = true
        manager.securityPolicy.validatesDomainName = false
        load()
        #expect(try await heard.wait(for: 4)[3].error == nil)

        manager.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            certificates: [try CertificateAuthority().certificate]
        )
        manager.setAuthenticationChallengeHandler { _, _, challenge, _ in
            challenge.protectionSpace.serverTrust.map { .credential(URLCredential(trust: $0)) }
                ?? .performDefaultHandling
        }
        load()
        #expect(try await heard.wait(for: 5)[4].error?.code == -1202)
    }

    @Test func `T-RTY-09 a response that the block has judged is not followed by another one`() async throws {
        let server = try TestServer()
        server.script(.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhal"), .close)
        server.route("GET", "/get", .text("whole"))
        var rules = RetryRules()
        rules.baseDelay = .milliseconds(1)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestInterceptors = [rules]
        let manager = site.owned(URLSessionManager(sessionConfiguration: configuration))
        manager.responseSerializer = HTTPResponseSerializer()
        let (calls, heard) = (calls, Heard<Answer>())
        manager.setDataTaskDidReceiveResponseBlock { _, _, _ in
            calls.add("response")
            return .allow
        }
        manager.dataTask(with: URLRequest(url: server.url("/get")), completionHandler: heard.completion)
            .resume()

        #expect(try await heard.first.error?.code == URLError.Code.networkConnectionLost.rawValue)
        #expect(calls.all == ["response"] && server.requests.count == 1)
    }

    @Test func `5.8 the session's block is called before the handler`() async throws {
        let site = try ManagerSite(tls: true)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([try CertificateAuthority().certificate])
        let manager = site.owned(URLSessionManager(sessionConfiguration: configuration))
        manager.responseSerializer = HTTPResponseSerializer()
        let queues = Heard<String>()
        manager.setSessionDidReceiveAuthenticationChallengeBlock { _, challenge, credential in
            queues.add(Queues.current)
            credential?.pointee = challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) }
            return .useCredential
        }
        manager.setAuthenticationChallengeHandler { _, _, _, _ in .cancel }
        manager.dataTask(with: site.request("/get"), completionHandler: heard.completion)
            .resume()
        #expect(try await heard.first.error == nil)
        #expect(queues.all == [manager.operationQueue.name])
    }

    @Test func `an evaluator of the configuration decides until a policy is set`() async throws {
        let site = try ManagerSite(tls: true)
        let configuration = site.configuration
        configuration.tls.evaluator = SecurityPolicy(
            pinningMode: .publicKey,
            certificates: [try CertificateAuthority().certificate]
        )
        let manager = site.owned(URLSessionManager(sessionConfiguration: configuration))
        manager.responseSerializer = HTTPResponseSerializer()
        let load: () -> Void = {
            manager.dataTask(with: site.request("/get"), completionHandler: heard.completion)
                .resume()
        }
        load()
        #expect(try await heard.wait(for: 1)[0].error?.code == -1202)
        manager.securityPolicy = SecurityPolicy()
        load()
        #expect(try await heard.wait(for: 2)[1].error == nil)
    }
}
