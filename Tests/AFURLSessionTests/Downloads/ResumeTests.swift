extension DownloadTests {
    struct Resume {
        let folder: ScratchFolder
        let server: TestServer
        let body = pattern(200)
        static let tag = "\"one\""
        private let log = DownloadLog()
        private let outcomes = DownloadOutcomes()

        init() throws {
            folder = try ScratchFolder()
            server = try TestServer()
        }

        /// Answers the first request with the beginning of the file only.
        private func serve(
            _ body: Data,
            cutAfter count: Int,
            tag: String = tag,
            then answers: [ServerReply] = []
        ) {
            let next = Lock(0)
            server.route("GET", "/file") { request in
                let number = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                if number > 0, number <= answers.count { return answers[number - 1] }
                let whole = ServerReply.file(body, entityTag: tag, to: request)
                return number == 0 ? whole.closing(after: count) : whole
            }
        }

        private func brokenOff(_ session: URLSession) async throws -> Data {
            let outcome = try await session.download(server.url("/file"))
            #expect(outcome.code == -1005 && outcome.url == nil)
            return try #require(outcome.resumeData)
        }

        @Test func `a download that broke off goes on where it ended`() async throws {
            let body = pattern(5_000_000)
            serve(body, cutAfter: 2_500_000)
            let data = try await brokenOff(URLSession.downloading(to: folder))
            let session = URLSession.downloading(to: folder, delegate: log)

            let task = session.downloadTask(withResumeData: data)
            task.resume()
            try await log.finished()

            #expect(log.contents.withLock { $0 } == body)
            #expect(
                log.steps == [.resumed(2_500_000, of: 5_000_000), .file(body.count), .metrics, .completed(nil)]
            )
            #expect(log.progress.last == .wrote(5_000_000, of: 5_000_000))
            #expect(task.countOfBytesReceived == 5_000_000 && task.countOfBytesExpectedToReceive == 5_000_000)
            let request = try #require(server.requests.last)
            #expect(request.headers["Range"] == "bytes=2500000-")
            #expect(request.headers["If-Range"] == Self.tag)
            #expect(request.headers["Accept-Encoding"] == "identity")
            try await folder.isEmptyAtLast()
        }

        /// Gives each request that was to begin later the right URL, and a token.
        private final class Replacing: URLSessionTaskDelegate {
            private let url: URL
            private let token: String

            init(_ url: URL, _ token: String) {
                self.url = url
                self.token = token
            }

            func urlSession(
                _ session: URLSession,
                task: URLSessionTask,
                willBeginDelayedRequest request: URLRequest,
                completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
            ) {
                var request = request
                request.url = url
                request.setValue(token, forHTTPHeaderField: "X-Token")
                completionHandler(.useNewRequest, request)
            }
        }

        @Test(arguments: [false, true])
        func `a download goes on with the request that its delegate gave when its date had come`(
            isReplacedAgain: Bool
        ) async throws {
            let body = pattern(500_000)
            serve(body, cutAfter: 200_000)
            let (url, folder) = (server.url("/file"), folder)
            func outcome(_ token: String?, _ data: Data?) async throws -> DownloadOutcome {
                let delegate = token.map { Replacing(url, $0) }
                let session = URLSession.downloading(to: folder, delegate: delegate)
                let outcomes = DownloadOutcomes()
                let task =
                    data.map { session.downloadTask(withResumeData: $0, completionHandler: outcomes.handler) }
                    ?? session.downloadTask(with: server.url("/old"), completionHandler: outcomes.handler)
                task.earliestBeginDate = Date(timeIntervalSinceNow: 0.05)
                task.resume()
                return try await outcomes.first()
            }

            let first = try await outcome("first", nil)
            #expect(first.code == -1005)
            let second = try await outcome(isReplacedAgain ? "second" : nil, first.resumeData)

            #expect(second.contents == body && second.status == 206)
            #expect(server.requests.map(\.path) == ["/file", "/file"])
            #expect(server.requests.map { $0.headers["X-Token"] } == ["first", isReplacedAgain ? "second" : "first"])
            #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=200000-"])
        }

        @Test func `a part that resume data has no room for is not kept, T-FIL-07`() async throws {
            serve(body, cutAfter: 150)
            var request = URLRequest(url: server.url("/file"))
            for number in 1...256 { request.setValue("x", forHTTPHeaderField: "X-\(number)") }
            request.setValue("one too many", forHTTPHeaderField: "X-Last")

            let outcome = try await URLSession.downloading(to: folder).download(request)

            #expect(outcome.code == -1005 && outcome.resumeData == nil)
            try await folder.isEmptyAtLast()
        }

        @Test func `a cancelled download goes on as often as one likes`() async throws {
            let body = pattern(3_000_000)
            let stalls = Lock([1_000_000, 500_000, 700_000])
            server.route("GET", "/file") { request in
                let whole = ServerReply.file(body, entityTag: Self.tag, to: request)
                let stall = stalls.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                return stall.map { whole.stalling(after: $0) } ?? whole
            }
            let session = URLSession.downloading(to: folder)
            var task = session.downloadTask(with: server.url("/file"))
            var data: Data?
            for expected in [1_000_000, 1_500_000, 2_200_000] as [Int64] {
                if let data { task = session.downloadTask(withResumeData: data) }
                task.resume()
                try await eventually { [task] in task.countOfBytesReceived == expected }
                data = await task.cancelByProducingResumeData()
                #expect((task.error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data == data)
                #expect(folder.leftovers.count == 1)
            }

            let (file, response) = try await session.download(resumeFrom: #require(data))

            #expect(try Data(contentsOf: file) == body)
            #expect((response as? HTTPURLResponse)?.statusCode == 206)
            try FileManager.default.removeItem(at: file)
            try await folder.isEmptyAtLast()
        }

        @Test func `T-FIL-07 a whole that breaks off in place of the rest is not followed by the rest`() async throws {
            serve(
                body,
                cutAfter: 100,
                then: [
                    ServerReply.data(body).header("ETag", "\"two\"").closing(after: 50), Self.part("bytes 100-199/200"),
                ]
            )
            let data = try await brokenOff(URLSession.downloading(to: folder))
            var rules = RetryRules()
            rules.baseDelay = .milliseconds(1)
            let session = URLSession.downloading(to: folder) { [rules] in $0.requestInterceptors = [rules] }

            let outcome = try await session.goingOn(with: data)

            // Never the rest alone: the whole, or what the whole can be had from.
            #expect(outcome.contents == nil && outcome.code == -1005 && server.requests.count == 2)
            let (file, _) = try await session.download(resumeFrom: #require(outcome.resumeData))
            #expect(try Data(contentsOf: file) == body)
            try FileManager.default.removeItem(at: file)
            try await folder.isEmptyAtLast()
        }

        @Test func `a download that begins anew has the secrets of its origin again`() async throws {
            let other = try TestServer()
            other.route("GET", "/part", Self.part("bytes 101-199/200", pattern(200).dropFirst(101)))
            let there = other.url("/part", host: "localhost").absoluteString
            serve(
                body,
                cutAfter: 100,
                then: [there, "/again"].map { ServerReply.status(302).header("Location", $0) }
            )
            server.route("GET", "/again", ServerReply.data(body))
            let data = try await brokenOff(URLSession.downloading(to: folder))
            let session = URLSession.downloading(to: folder) { $0.httpAdditionalHeaders = ["X-Api-Key": "k"] }

            let outcome = try await session.goingOn(with: data)

            #expect(outcome.contents == body && outcome.error == nil)
            #expect(other.requests.map { $0.headers["X-Api-Key"] } == [nil])
            #expect(server.requests.dropFirst().map { $0.headers["X-Api-Key"] } == ["k", "k", "k"])
            #expect(server.requests.last?.path == "/again")
        }

        @Test func `a part outlives a request that is not sent`() async throws {
            struct Refusing: TaskInterceptor {
                struct Refusal: Error {}
                func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
                    throw Refusal()
                }
            }
            serve(body, cutAfter: 100)
            let data = try await brokenOff(URLSession.downloading(to: folder))
            let refusing = URLSession.downloading(to: folder) { $0.requestInterceptors = [Refusing()] }

            let outcome = try await refusing.goingOn(with: data)

            #expect(outcome.contents == nil && server.requests.count == 1)
            let (file, _) = try await URLSession.downloading(to: folder)
                .download(resumeFrom: #require(outcome.resumeData))
            #expect(try Data(contentsOf: file) == body)
            #expect(server.requests.last?.headers["Range"] == "bytes=100-")
            try FileManager.default.removeItem(at: file)
            try await folder.isEmptyAtLast()
        }

        private static let part = pattern(200).dropFirst(100)

        private static func part(_ range: String?, _ bytes: Data = Data(part), tag: String? = tag) -> ServerReply {
            var reply = ServerReply.data(bytes).status(206)
            if let range { reply = reply.header("Content-Range", range) }
            if let tag { reply = reply.header("ETag", tag) }
            return reply
        }

        /// The second answer, how many requests there are in all, and whether the part was gone on with.
        private static let answers: [(String, ServerReply, requests: Int, resumed: Bool)] = [
            ("the whole", ServerReply.data(pattern(200)).header("ETag", tag), 2, false),
            ("the rest", part("bytes 100-199/200"), 2, true),
            ("the rest of something unknown", part("bytes 100-199/*"), 2, true),
            ("one byte too early", part("bytes 99-199/200", pattern(200).dropFirst(99)), 3, false),
            ("one byte too late", part("bytes 101-199/200", pattern(200).dropFirst(101)), 3, false),
            ("less than was asked for", part("bytes 100-198/200", pattern(199).dropFirst(100)), 3, false),
            ("more than it says", part("bytes 100-198/200"), 3, false),
            ("much more than it says", part("bytes 100-199/200", pattern(170)), 3, false),
            ("reversed", part("bytes 199-100/200"), 3, false),
            ("beyond the end", part("bytes 100-199/150"), 3, false),
            ("longer than it was", part("bytes 100-299/300", pattern(200)), 3, false),
            ("another unit", part("items 100-199/200"), 3, false),
            ("no range", part(nil), 3, false),
            ("two ranges", part("bytes 100-199/200").headers(["Content-Range": "bytes 100-199/200"]), 3, false),
            ("another tag", part("bytes 100-199/200", tag: "\"two\""), 3, false),
            ("a weak tag", part("bytes 100-199/200", tag: "W/\"one\""), 3, false),
            ("no tag", part("bytes 100-199/200", tag: nil), 3, false),
            ("several parts", part("bytes 100-199/200").replacing("Content-Type", "multipart/byteranges"), 3, false),
            ("coded", part("bytes 100-199/200").header("Content-Encoding", "gzip"), 3, false),
            ("shrunk", refusal("bytes */50"), 3, false),
            ("shrunk to what is here", refusal("bytes */100"), 3, false),
            ("refused without a reason", refusal(nil), 3, false),
        ]

        private static func refusal(_ range: String?) -> ServerReply {
            let reply = ServerReply(status: 416).header("ETag", tag)
            return range.map { reply.header("Content-Range", $0) } ?? reply
        }

        @Test(arguments: answers.indices)
        func `only the rest itself is appended, T-FIL-10 to 12, 14, 15, 19, T-MSG-20`(row: Int) async throws {
            let (name, answer, requests, isResumed) = Self.answers[row]
            serve(body, cutAfter: 100, then: [answer])
            let data = try await brokenOff(URLSession.downloading(to: folder))
            let session = URLSession.downloading(to: folder, delegate: log)

            session.downloadTask(withResumeData: data).resume()
            try await log.finished()

            #expect(log.contents.withLock { $0 } == body, "\(name)")
            #expect(server.requests.count == requests, "\(name)")
            let resumed: [DownloadLog.Event] = isResumed ? [.resumed(100, of: 200)] : []
            #expect(log.steps == resumed + [.file(200), .metrics, .completed(nil)], "\(name)")
            #expect(log.progress.last.map { $0 == .wrote(200, of: 200) } == true, "\(name)")
            try await folder.isEmptyAtLast()
        }

        @Test(arguments: [false, true])
        func `T-FIL-15 a refusal that interceptors were asked about is no part of the file`(isStalling: Bool)
            async throws
        {
            let page = ServerReply.text("no such range").status(416).header("ETag", Self.tag)
            serve(body, cutAfter: 100, then: [isStalling ? page.stalling(after: 5) : page])
            let data = try await brokenOff(URLSession.downloading(to: folder))
            let session = URLSession.downloading(to: folder, delegate: log) {
                $0.requestInterceptors = [RetryRules()]
            }

            session.downloadTask(withResumeData: data).resume()
            try await log.finished()

            #expect(log.contents.withLock { $0 } == body)
            #expect(log.steps == [.file(200), .metrics, .completed(nil)])
            #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=100-", nil])
            try await folder.isEmptyAtLast()
        }

        @Test("a rest of another length than it said is dropped, T-FIL-13", arguments: [99, 101, 170])
        func brokenRest(count: Int) async throws {
            let lie = Self.part("bytes 100-199/200", pattern(count)).chunked(40)
            serve(body, cutAfter: 100, then: [lie])
            let session = URLSession.downloading(to: folder)

            let task = session.downloadTask(
                withResumeData: try await brokenOff(session),
                completionHandler: outcomes.handler
            )
            task.resume()
            let broken = try await outcomes.first()

            #expect(broken.code == -1017 && broken.url == nil)
            let (file, _) = try await session.download(resumeFrom: #require(broken.resumeData))
            #expect(try Data(contentsOf: file) == body)
            #expect(server.requests.last?.headers["Range"] == "bytes=100-")
        }

        @Test(arguments: ["identity", "gzip"])
        func `T-FIL-15 a body that had come whole, and only its end was missing, is complete`(codingOfPage: String)
            async throws
        {
            let next = Lock(0)
            let body = body
            server.route("GET", "/file") { _ in
                let isFirst = next.withLock { next in
                    defer { next += 1 }
                    return next == 0
                }
                guard isFirst else {
                    return ServerReply.text("no such range").status(416).header("ETag", Self.tag)
                        .header("Content-Range", "bytes */200").header("Content-Encoding", codingOfPage)
                }
                return .raw(
                    bytes: Array(
                        "HTTP/1.1 200 OK\r\nETag: \(Self.tag)\r\nTransfer-Encoding: chunked\r\n\r\nc8\r\n".utf8
                    )
                        + Array(body) + Array("\r\n".utf8)
                )
            }
            let session = URLSession.downloading(to: folder)
            let task = session.downloadTask(with: server.url("/file"))
            task.resume()
            try await eventually { task.countOfBytesReceived == 200 }
            let data = try #require(await task.cancelByProducingResumeData())

            let resumed = session.downloadTask(withResumeData: data, completionHandler: outcomes.handler)
            resumed.resume()
            let outcome = try await outcomes.first()

            #expect(outcome.contents == body && outcome.status == 200)
            #expect(resumed.response?.expectedContentLength == 200)
            #expect(resumed.countOfBytesReceived == 200 && resumed.progress.completedUnitCount == 200)
        }

        @Test(arguments: [
            ["ETag": "W/\"one\""], [:], ["ETag": "one"], ["ETag": "\"a b\""],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
            ["Last-Modified": "yesterday"], ["ETag": "\"one\"", "Content-Encoding": "gzip"],
            ["ETag": "\"one\"", "Accept-Ranges": "none"],
        ])
        func `no resume data without a validator that can be relied on, T-FIL-11, 18`(fields: [String: String])
            async throws
        {
            var reply = ServerReply.data(body)
            for (name, value) in fields { reply = reply.header(name, value) }
            server.route("GET", "/file", reply.closing(after: 100))
            let session = URLSession.downloading(to: folder)

            let outcome = try await session.download(server.url("/file"))

            #expect(outcome.error != nil && outcome.resumeData == nil)
            try await folder.isEmptyAtLast()
        }

        @Test func `a download that goes on withholds what it withheld before`() async throws {
            serve(body, cutAfter: 100)
            let cookie = try #require(
                HTTPCookie(properties: [.name: "a", .value: "canary", .domain: "127.0.0.1", .path: "/"])
            )
            let session = URLSession.downloading(to: folder) {
                $0.httpAdditionalHeaders = ["X-Session-Token": "canary"]
                $0.httpCookieStorage = HTTPCookieStorage()
                $0.httpCookieStorage?.setCookie(cookie)
            }
            var request = URLRequest(url: server.url("/file"))
            request.withheldHeaderFields = ["X-Session-Token"]
            request.httpShouldHandleCookies = false

            let data = try #require(try await session.download(request).resumeData)
            let (file, _) = try await session.download(resumeFrom: data)

            #expect(try Data(contentsOf: file) == body && server.requests.count == 2)
            for request in server.requests {
                #expect(request.headers["X-Session-Token"] == nil && request.headers["Cookie"] == nil)
            }
        }

        @Test func `a date that is old enough does, T-FIL-11`() async throws {
            let date = "Sun, 06 Nov 1994 08:49:37 GMT"
            let body = body
            let isFirst = Lock(true)
            server.route("GET", "/file") { request in
                let reply = ServerReply.file(body, lastModified: date, to: request)
                    .header("Date", "Sun, 06 Nov 1994 08:50:37 GMT")
                return isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst ? reply.closing(after: 100) : reply
                }
            }
            let session = URLSession.downloading(to: folder)

            let (file, _) = try await session.download(resumeFrom: brokenOff(session))

            #expect(try Data(contentsOf: file) == body)
            #expect(server.requests.last?.headers["If-Range"] == date)
        }

        @Test(arguments: [
            "changed", "changed in secret", "touched", "locked", "cut", "longer", "gone", "a link", "a folder",
        ])
        func `a part that is not as it was is not gone on with, T-FIL-16`(fate: String) async throws {
            serve(body, cutAfter: 100)
            let session = URLSession.downloading(to: folder)
            let data = try await brokenOff(session)
            let part = folder.downloads.appendingPathComponent(try #require(folder.leftovers.first))
            let bait = folder.file("bait")
            try Data(body.prefix(100)).write(to: bait)
            let other = open(part.path, O_RDWR)
            defer { close(other) }
            switch fate {
            case "changed": try Data(pattern(101).dropFirst()).write(to: part)
            case "changed in secret":
                var status = stat()
                #expect(fstat(other, &status) == 0 && pwrite(other, "!", 1, 0) == 1)
                #expect(futimens(other, [status.st_atim, status.st_mtim]) == 0)
            case "touched": #expect(futimens(other, nil) == 0)
            case "locked": #expect(flock(other, LOCK_EX) == 0)
            case "cut": try Data(body.prefix(99)).write(to: part)
            case "longer": try Data(body.prefix(101)).write(to: part)
            case "gone": try FileManager.default.removeItem(at: part)
            default:
                try FileManager.default.removeItem(at: part)
                if fate == "a link" {
                    try FileManager.default.createSymbolicLink(at: part, withDestinationURL: bait)
                } else {
                    try FileManager.default.createDirectory(at: part, withIntermediateDirectories: false)
                }
            }

            let (file, _) = try await session.download(resumeFrom: data)

            #expect(try Data(contentsOf: file) == body)
            #expect(server.requests.count == 2 && server.requests.last?.headers["Range"] == nil)
            #expect(try Data(contentsOf: bait) == body.prefix(100))
        }

        @Test func `only one task goes on with a part`() async throws {
            let body = pattern(400_000)
            serve(body, cutAfter: 200_000)
            let session = URLSession.downloading(to: folder)
            let data = try await brokenOff(session)

            try await withThrowingTaskGroup { group in
                for _ in 0..<4 { group.addTask { try await session.download(resumeFrom: data).0 } }
                for try await file in group {
                    #expect(try Data(contentsOf: file) == body)
                    try FileManager.default.removeItem(at: file)
                }
            }

            #expect(server.requests.count { $0.headers["Range"] != nil } <= 1)
            try await folder.isEmptyAtLast()
        }

        @Test func `an answer that says nothing about the file leaves the part alone`() async throws {
            serve(body, cutAfter: 100, then: [ServerReply.text("later").status(503)])
            let session = URLSession.downloading(to: folder)
            let data = try await brokenOff(session)

            let (apology, response) = try await session.download(resumeFrom: data)
            let (file, _) = try await session.download(resumeFrom: data)

            #expect((response as? HTTPURLResponse)?.statusCode == 503)
            #expect(try Data(contentsOf: apology) == Data("later".utf8))
            #expect(try Data(contentsOf: file) == body)
            #expect(server.requests.last?.headers["Range"] == "bytes=100-")
        }

        @Test func `a task that never ran gives its resume data back`() async throws {
            serve(body, cutAfter: 100)
            let session = URLSession.downloading(to: folder)
            let data = try await brokenOff(session)

            let again = await session.downloadTask(withResumeData: data).cancelByProducingResumeData()

            #expect(again == data)
            let (file, _) = try await session.download(resumeFrom: data)
            #expect(try Data(contentsOf: file) == body)
        }

        @Test func `invalid resume data fails the task, and nothing else, T-FIL-17`() async throws {
            let session = URLSession.downloading(to: folder)

            let task = session.downloadTask(withResumeData: Data("{}".utf8), completionHandler: outcomes.handler)
            task.resume()
            let outcome = try await outcomes.first()

            #expect(outcome.code == -1016 && outcome.error?.loadFailure?.phase == .preparing)
            #expect(server.requests.isEmpty)
        }

        @Test func `a file or resume data, never both, and never neither, T-FIL-18`() async throws {
            let body = pattern(600_000)
            server.route("GET", "/file") { .file(body, entityTag: Self.tag, to: $0) }
            let session = URLSession.downloading(to: folder)
            for delay in 0..<60 {
                let outcomes = DownloadOutcomes()
                let task = session.downloadTask(with: server.url("/file"), completionHandler: outcomes.handler)
                task.resume()
                for _ in 0..<(delay * 40) { await Task.yield() }
                let received = task.countOfBytesReceived
                let data = await task.cancelByProducingResumeData()
                let outcome = try await outcomes.first()
                #expect(data == nil || outcome.url == nil)
                #expect(received == 0 || data != nil || outcome.contents == body)
                #expect(outcomes.all.value.count == 1)
                #expect(outcome.resumeData == data)
            }
        }
    }
}

extension ServerReply {
    fileprivate func replacing(_ name: String, _ value: String) -> ServerReply {
        var copy = self
        copy.headers[name] = value
        return copy
    }
}
