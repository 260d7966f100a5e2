@testable import AFNetworking

/// The acceptance catalogue, 13.8, and the rules of section 6.
@Suite struct HTTPSessionManagerTests {
    private let site: ManagerSite
    private let manager: HTTPSessionManager
    private let heard = Heard<Answer>()

    init() throws {
        site = try ManagerSite()
        manager = site.manager
    }

    // MARK: - Making managers

    @Test func `13.8.1 each manager is another one`() {
        #expect(HTTPSessionManager.manager() !== HTTPSessionManager.manager())
        #expect(HTTPSessionManager().baseURL == nil)
    }

    @Test(arguments: [
        ("http://example.com/v1/", "foo", "http://example.com/v1/foo"),
        ("http://example.com/v1/", "foo?bar=baz", "http://example.com/v1/foo?bar=baz"),
        ("http://example.com/v1/", "/foo", "http://example.com/foo"),
        ("http://example.com/v1/", "foo/", "http://example.com/v1/foo/"),
        ("http://example.com/v1/", "/foo/", "http://example.com/foo/"),
        ("http://example.com/v1/", "http://example2.com/", "http://example2.com/"),
        ("http://example.com/v1/", "", "http://example.com/v1/"),
        ("http://example.com/v1", "foo", "http://example.com/v1/foo"),
        ("http://example.com/v1?a=b", "", "http://example.com/v1/?a=b"),
        ("http://example.com", "foo", "http://example.com/foo"),
    ])
    func `6.2 a URL is resolved against the base`(_ base: String, _ text: String, _ expected: String) throws {
        let task = site.task(text, relativeTo: base)
        #expect(task?.originalRequest?.url?.absoluteString == expected)
        #expect(task?.state == .suspended)
    }

    @Test func `6.2 a host without a path is left as it is`() {
        #expect(HTTPSessionManager(baseURL: URL(string: "http://host")).baseURL?.absoluteString == "http://host")
    }

    @Test func `6.2 what is no URL is a failure, not a trap`() async throws {
        #expect(manager.get("http://[", parameters: nil, success: nil, failure: heard.failure) == nil)
        let answer = try await heard.first
        #expect(answer.error?.code == NSURLErrorBadURL && answer.task == nil && answer.queue == "main")
        #expect(site.server.requests.isEmpty)
    }

    // MARK: - Tasks

    @Test func `13.8.2 13.8.3 a task completes, with an object or an error`() async throws {
        let good = manager.get("get", parameters: nil, success: heard.success, failure: heard.failure)
        let answer = try await heard.first
        #expect(answer.object != nil && answer.error == nil && answer.task === good && good?.state == .completed)
        let bad = manager.get("status/404", parameters: nil, success: heard.success, failure: heard.failure)
        let failure = try await heard.wait(for: 2)[1]
        #expect(failure.error != nil && failure.task === bad && bad?.state == .completed)
    }

    @Test func `13.8.4 a redirect is shown to the block`() async throws {
        let statuses = Heard<Int>()
        manager.setTaskWillPerformHTTPRedirectionBlock { _, _, response, request in
            statuses.add(response.statusCode)
            return request
        }
        manager.get("redirect/1", parameters: nil, success: heard.success, failure: heard.failure)
        #expect(try await heard.first.error == nil && statuses.all == [302])
    }

    @Test func `13.8.7 a request that cannot be made is a failure without a task`() async throws {
        let own = NSError(domain: "mine", code: 7)
        manager.requestSerializer.setQueryStringSerializationWith { _, _, error in
            error?.pointee = own
            return ""
        }
        let task = manager.get("test", parameters: ["a": "b"], success: heard.success, failure: heard.failure)
        #expect(task == nil)
        let answer = try await heard.first
        #expect(answer.error === own && answer.task == nil)
        #expect(site.server.requests.isEmpty)
    }

    @Test func `13.8.8 headers of a request replace the serializer's`() throws {
        manager.requestSerializer.setValue("default", forHTTPHeaderField: "X-Foo")
        manager.requestSerializer.setValue("default", forHTTPHeaderField: "X-Bar")
        let task = manager.dataTask(
            withHTTPMethod: "GET",
            urlString: "get",
            parameters: nil,
            headers: ["X-Foo": "mine"],
            uploadProgress: nil,
            downloadProgress: nil,
            success: nil,
            failure: nil
        )
        #expect(task?.originalRequest?.value(forHTTPHeaderField: "X-Foo") == "mine")
        #expect(task?.originalRequest?.value(forHTTPHeaderField: "X-Bar") == "default")
        #expect(task?.state == .suspended)
    }

    @Test func `13.8.13–15 gets, posts and forms report their progress up to everything`() async throws {
        let steps = Heard<Double>()
        let step: @Sendable (Progress) -> Void = { steps.add($0.fractionCompleted) }
        manager.responseSerializer = HTTPResponseSerializer()
        manager.get("bytes/300000", parameters: nil, progress: step, success: heard.success, failure: heard.failure)
        try await heard.wait(for: 1)
        #expect(steps.all.last == 1)

        let text = String(repeating: "0123456789", count: 3000)
        manager.post("post", parameters: text, progress: step, success: heard.success, failure: heard.failure)
        try await heard.wait(for: 2)
        #expect(steps.all.last == 1)

        manager.post(
            "post",
            parameters: nil,
            constructingBodyWith: {
                $0.appendPart(withFileData: Data(count: 100_000), name: "f", fileName: "f", mimeType: "a/b")
            },
            progress: step,
            success: heard.success,
            failure: heard.failure
        )
        let answers = try await heard.wait(for: 3)
        #expect(steps.all.last == 1)
        #expect(answers.allSatisfy { $0.error == nil })
    }

    @Test func `13.8.16–18 statuses decide`() async throws {
        manager.responseSerializer = HTTPResponseSerializer()
        manager.get("status/200", parameters: nil, success: heard.success, failure: heard.failure)
        #expect(try await heard.wait(for: 1)[0].error == nil)
        manager.get("status/404", parameters: nil, success: heard.success, failure: heard.failure)
        #expect(try await heard.wait(for: 2)[1].error?.code == NSURLErrorBadServerResponse)
        manager.responseSerializer = JSONResponseSerializer()
        manager.get("status/204", parameters: nil, success: heard.success, failure: heard.failure)
        let empty = try await heard.wait(for: 3)[2]
        #expect(empty.error == nil && empty.object == nil)
    }

    @Test func `13.8.19–25 each verb sends its parameters and headers`() async throws {
        manager.requestSerializer.setValue("default", forHTTPHeaderField: "X-Mine")
        let (parameters, headers) = (["key": "value"], ["X-Mine": "own"])
        let (success, failure) = (heard.success, heard.failure)
        manager.get("get", parameters: parameters, headers: headers, success: success, failure: failure)
        try await heard.wait(for: 1)
        manager.head(
            "get",
            parameters: parameters,
            headers: headers,
            success: { success($0, nil) },
            failure: failure
        )
        try await heard.wait(for: 2)
        manager.post("post", parameters: parameters, headers: headers, success: success, failure: failure)
        try await heard.wait(for: 3)
        manager.post(
            "post",
            parameters: parameters,
            headers: headers,
            constructingBodyWith: {
                $0.appendPart(
                    withFileData: Data("Data".utf8),
                    name: "DataName",
                    fileName: "DataFileName",
                    mimeType: "data"
                )
            },
            success: success,
            failure: failure
        )
        try await heard.wait(for: 4)
        manager.put("put", parameters: parameters, headers: headers, success: success, failure: failure)
        try await heard.wait(for: 5)
        manager.delete("delete", parameters: parameters, headers: headers, success: success, failure: failure)
        try await heard.wait(for: 6)
        manager.patch("patch", parameters: parameters, headers: headers, success: success, failure: failure)
        let answers = try await heard.wait(for: 7)

        #expect(answers.allSatisfy { $0.error == nil })
        let places = ["args", nil, "form", "form", "form", "args", "form"]
        for (answer, place) in zip(answers, places) {
            if let place { #expect(answer["\(place).key"] == "value") }
        }
        #expect(answers[3]["files.DataName"] == "Data")
        #expect(site.server.requests.map(\.method) == ["GET", "HEAD", "POST", "POST", "PUT", "DELETE", "PATCH"])
        #expect(site.server.requests.allSatisfy { $0.headers["X-Mine"] == "own" })
    }

    @Test func `13.8.26 the serializer's credentials are sent without being asked for`() async throws {
        manager.requestSerializer.setAuthorizationHeaderFieldWithUsername("user", password: "passwd")
        manager.get("hidden-basic-auth/user/passwd", parameters: nil, success: heard.success, failure: heard.failure)
        #expect(try await heard.first.error == nil)
    }

    @Test func `T-REQ-25 credentials with control characters fail the task and are not sent`() async throws {
        manager.requestSerializer.setAuthorizationHeaderFieldWithUsername("user\r\nX: y", password: "passwd")
        manager.get("hidden-basic-auth/user/passwd", parameters: nil, success: heard.success, failure: heard.failure)

        let error = try #require(try await heard.first.error)
        #expect("\(error)".contains("user name or password must not contain control characters"), "\(error)")
        #expect(!"\(error)".contains("X: y"))
    }

    @Test func `6.3 the override point makes every data task of the verbs`() async throws {
        final class Counting: HTTPSessionManager, @unchecked Sendable {
            let made = Heard<String>()

            override func dataTask(
                with request: URLRequest,
                uploadProgress: ProgressHandler?,
                downloadProgress: ProgressHandler?,
                completionHandler: TaskCompletionHandler?
            ) -> URLSessionDataTask {
                made.add(request.httpMethod ?? "")
                return super.dataTask(
                    with: request,
                    uploadProgress: uploadProgress,
                    downloadProgress: downloadProgress,
                    completionHandler: completionHandler
                )
            }
        }
        let manager = site.owned(Counting(baseURL: site.server.url("/"), sessionConfiguration: site.configuration))
        manager.get("get", parameters: nil, success: heard.success, failure: heard.failure)
        try await heard.wait(for: 1)
        try await manager.put("put")
        #expect(manager.made.all == ["GET", "PUT"])
    }

    @Test func `1.2 progress is reported on the delegate queue, and requests are made on the caller's thread`()
        async throws
    {
        let queues = Heard<String>()
        let own = Queues.named("caller")
        manager.completionQueue = Queues.named("completions")
        manager.requestSerializer.setQueryStringSerializationWith { _, _, _ in
            queues.add("query on \(Queues.current)")
            return "a=b"
        }
        own.sync {
            manager.get(
                "get",
                parameters: ["a": "b"],
                progress: { _ in queues.add("download on \(Queues.current)") },
                success: heard.success,
                failure: heard.failure
            )
            manager.post(
                "post",
                parameters: nil,
                constructingBodyWith: {
                    queues.add("form on \(Queues.current)")
                    $0.appendPart(withForm: Data("b".utf8), name: "a")
                },
                progress: { _ in queues.add("upload on \(Queues.current)") },
                success: heard.success,
                failure: heard.failure
            )
            #expect(queues.all.filter { $0.hasSuffix("on caller") } == ["query on caller", "form on caller"])
        }
        let answers = try await heard.wait(for: 2)
        #expect(answers.allSatisfy { $0.error == nil && $0.queue == "completions" })
        let delegateQueue = manager.operationQueue.name ?? ""
        #expect(
            Set(queues.all) == [
                "query on caller", "form on caller", "download on \(delegateQueue)", "upload on \(delegateQueue)",
            ]
        )
    }

    // MARK: - Policies

    @Test func `13.8.27–34 a policy that pins needs https`() async throws {
        let pin = try CertificateAuthority().certificate
        for base in ["https://example.com", "http://example.com", nil] {
            let manager = site.owned(HTTPSessionManager(baseURL: base.flatMap(URL.init)))
            try manager.setSecurityPolicy(SecurityPolicy())
            for mode in [SSLPinningMode.publicKey, .certificate] {
                let policy = SecurityPolicy(pinningMode: mode, certificates: [pin])
                if base == "https://example.com" {
                    try manager.setSecurityPolicy(policy)
                    #expect(manager.securityPolicy === policy)
                } else {
                    let error = #expect(throws: InvalidSecurityPolicy.self) { try manager.setSecurityPolicy(policy) }
                    #expect(error?.description.hasPrefix("Invalid Security Policy") == true)
                    #expect(manager.securityPolicy.sslPinningMode == .none)
                }
            }
        }
        // With the property set, requests are refused.
        manager.securityPolicy = SecurityPolicy(pinningMode: .publicKey, certificates: [pin])
        manager.get("get", parameters: nil, success: heard.success, failure: heard.failure)
        #expect(try await heard.first.error?.code == URLError.Code.unsupportedURL.rawValue)
        #expect(site.server.connections.isEmpty)
    }

    @Test func `13.8.35 13.8.36 a wrong pin fails with the error that names the host`() async throws {
        let site = try ManagerSite(tls: true)
        let pin = try CertificateAuthority().certificate
        for mode in [SSLPinningMode.certificate, .publicKey] {
            let heard = Heard<Answer>()
            let manager = site.manager
            try manager.setSecurityPolicy(SecurityPolicy(pinningMode: mode, certificates: [pin]))
            manager.get("get", parameters: nil, success: heard.success, failure: heard.failure)
            let error = try #require(try await heard.first.error)
            #expect(error.domain == NSURLErrorDomain && error.code == -1202)
            #expect(error.localizedDescription.contains("“127.0.0.1”"))
        }
        #expect(site.server.requests.isEmpty)
    }

    @Test func `13.8.37 a challenge is answered by the handler`() async throws {
        manager.setAuthenticationChallengeHandler { _, _, challenge, _ in
            guard challenge.protectionSpace.realm == "Fake Realm" else { return .performDefaultHandling }
            return .credential(URLCredential(user: "user", password: "passwd", persistence: .forSession))
        }
        manager.get(
            "basic-auth/user/passwd?realm=Fake%20Realm",
            parameters: nil,
            success: heard.success,
            failure: heard.failure
        )
        #expect(try await heard.first.error == nil)
    }

    @Test func `13.8.38–41 the error about a server has all details`() throws {
        let site = try ManagerSite(tls: true)
        let certificate = try #require(site.root?.certificate)
        let trust = ServerTrust(
            servedChain: [certificate],
            host: "a.test",
            anchors: .certificates([certificate]),
            at: Date()
        )
        let url = URL(string: "https://a.test/b")
        for trust in [trust, nil] {
            for url in [url, nil] {
                let error = UntrustedServer.error(trust, url: url) as NSError
                #expect(error.domain == NSURLErrorDomain && error.code == -1202)
                #expect((error.userInfo[NSURLErrorFailingURLPeerTrustErrorKey] != nil) == (trust != nil))
                #expect(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL == url)
                #expect(error.userInfo["NSErrorFailingURLStringKey"] as? String == url?.absoluteString)
            }
        }
    }

    // MARK: - Coding and copying

    @Test func `13.8.9–12 6.5 managers are archived and copied`() throws {
        let configuration = site.configuration
        configuration.timeoutIntervalForRequest = 9
        let base = URL(string: "https://example.com/v1/")
        let manager = site.owned(HTTPSessionManager(baseURL: base, sessionConfiguration: configuration))
        manager.requestSerializer = JSONRequestSerializer()
        manager.requestSerializer.setValue("mine", forHTTPHeaderField: "X-Mine")
        manager.responseSerializer = PropertyListResponseSerializer()
        let policy = SecurityPolicy(pinningMode: .publicKey, certificates: [try CertificateAuthority().certificate])
        try manager.setSecurityPolicy(policy)
        #expect(HTTPSessionManager.supportsSecureCoding)
        #expect(manager.description.contains("https://example.com/v1/"))

        let data = try NSKeyedArchiver.archivedData(withRootObject: manager, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPSessionManager.self, from: data)
        )
        let copy = try #require(manager.copy() as? HTTPSessionManager)
        for other in [read, copy] {
            #expect(other !== manager && other.baseURL == base)
            #expect(other.requestSerializer is JSONRequestSerializer)
            #expect(other.requestSerializer !== manager.requestSerializer)
            #expect(other.requestSerializer.value(forHTTPHeaderField: "X-Mine") == "mine")
            #expect(other.responseSerializer is PropertyListResponseSerializer)
            #expect(other.securityPolicy !== policy && other.securityPolicy.sslPinningMode == .publicKey)
            #expect(other.securityPolicy.pinnedCertificates == policy.pinnedCertificates)
            #expect(site.owned(other).session.configuration.timeoutIntervalForRequest == 9)
        }
    }

    // MARK: - Async

    private struct Echo: Decodable, Sendable {
        let method: String
        let args: [String: String]
    }

    @Test func `a value is decoded of the content types that the manager's JSON serializer accepts`() async throws {
        site.server.route(
            "GET",
            "/api",
            .data(Data(#"{"method":"GET","args":{}}"#.utf8), type: "application/vnd.api+json")
        )
        let serializer = JSONResponseSerializer()
        manager.responseSerializer = serializer

        await #expect(throws: RequestFailure.self) { try await manager.get("api", decode: Echo.self) }
        serializer.acceptableContentTypes?.insert("application/vnd.api+json")

        #expect(try await manager.get("api", decode: Echo.self).method == "GET")
    }

    @Test func `a value is decoded even if the main queue is blocked`() async throws {
        let echo = try await manager.get("get", parameters: ["a": "1"], decode: Echo.self)
        #expect(echo.method == "GET" && echo.args == ["a": "1"])
        let answer = try await manager.post("post", parameters: ["b": "2"])
        #expect(answer.response?.statusCode == 200 && answer.task.state == .completed)
        let form = (answer.object as? [String: Any])?["form"] as? [String: String]
        #expect(form == ["b": "2"])
        #expect(try await manager.head("get").object == nil)
        try await manager.patch("patch")
        try await manager.delete("delete")
        #expect(try await manager.put("put", decode: Echo.self).method == "PUT")
        let posted = try await manager.post("post", decode: Echo.self)
        #expect(posted.method == "POST")
        #expect(try await manager.patch("patch", decode: Echo.self).method == "PATCH")
        let multipart = try await manager.post(
            "post",
            constructingBodyWith: { $0.appendPart(withForm: Data("x".utf8), name: "y") }
        )
        #expect(((multipart.object as? [String: Any])?["form"] as? [String: String]) == ["y": "x"])
    }

    @Test func `a failure has its kind and all details`() async throws {
        site.server.route("GET", "/bad", ServerReply.json("{\"why\": \"because\"}").status(422))
        site.server.route("GET", "/html", .text("<html>", type: "text/html"))
        let status = await #expect(throws: RequestFailure.self) { try await manager.get("bad") }
        #expect(status?.kind == .status && status?.statusCode == 422)
        #expect((status?.object as? [String: String]) == ["why": "because"])
        #expect(status?.data == Data("{\"why\": \"because\"}".utf8))
        let type = await #expect(throws: RequestFailure.self) { try await manager.get("html") }
        #expect(type?.kind == .contentType)
        let shape = await #expect(throws: RequestFailure.self) {
            try await manager.get("get", decode: [Int].self)
        }
        #expect(shape?.kind == .decoding)
        let empty = await #expect(throws: RequestFailure.self) {
            try await manager.get("status/204", decode: Echo.self)
        }
        #expect(empty?.kind == .decoding && empty?.description.contains("no body") == true)
        let request = await #expect(throws: RequestFailure.self) { try await manager.get("http://[") }
        #expect(request?.kind == .request && request?.response == nil)
        let transport = await #expect(throws: RequestFailure.self) {
            try await manager.get("http://127.0.0.1:1/")
        }
        #expect(transport?.kind == .transport)
    }

    @Test func `a failure is the NSError that a closure would receive`() async throws {
        let refused = try await #require(throws: RequestFailure.self) { try await manager.get("status/404") }
        let free = HTTPSessionManager(sessionConfiguration: .ephemeral)
        defer { free.invalidateSessionCancelingTasks(true, resetSession: false) }
        let unsent = try await #require(throws: RequestFailure.self) { try await free.get("ftp://127.0.0.1/") }
        let (outer, inner) = (refused as NSError, unsent as NSError)

        #expect(outer.domain == HTTPResponseSerializer.errorDomain && outer.code == NSURLErrorBadServerResponse)
        let response = outer.userInfo[HTTPResponseSerializer.failingResponseErrorKey] as? HTTPURLResponse
        #expect(response?.statusCode == 404 && refused.urlError == nil)
        #expect(inner.domain == NSURLErrorDomain && inner.code == NSURLErrorUnsupportedURL)
        #expect(unsent.urlError?.code == .unsupportedURL && inner.userInfo[NSUnderlyingErrorKey] is LoadFailure)
        #expect(outer.localizedDescription == refused.error.localizedDescription)
    }

    @Test func `cancelling the Swift task cancels the task`() async throws {
        let manager = manager
        let work = Task { try await manager.get("delay/30") }
        _ = try await site.server.waitForRequests(1)
        work.cancel()
        let failure = await #expect(throws: RequestFailure.self) { _ = try await work.value }
        #expect(failure?.kind == .cancelled)
        // Cancelled before it begins.
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await manager.get("get")
        }
        #expect(await #expect(throws: RequestFailure.self) { _ = try await late.value }?.kind == .cancelled)
    }
}
