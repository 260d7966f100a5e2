extension LoopbackTests {
    /// State, fields and control of single tasks.
    struct Tasks {
        private let server: TestServer
        private let outcomes = Outcomes()
        private let session = URLSession.loopback()

        init() throws {
            server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
        }

        // MARK: - State

        @Test func `a task goes from suspended over running to completed`() async throws {
            let task = session.dataTask(with: server.url("/held"), completionHandler: outcomes.handler)
            #expect(task.state == .suspended)

            task.resume()
            #expect(task.state == .running)
            server.signal("go")

            _ = try await outcomes.first()
            #expect(task.state == .completed)
        }

        @Test func `the state is completed before the completion is delivered`() async throws {
            let states = Watched<[URLSessionTask.State]>([])
            let log = EventLog { event, task in
                if case .completed = event, let state = task?.state { states.change { $0.append(state) } }
            }
            URLSession.loopback(delegate: log).dataTask(with: server.url("/hello")).resume()

            #expect(try await states.wait { !$0.isEmpty } == [.completed])
        }

        @Test func `T-API-04 suspensions nest`() async throws {
            let task = session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler)

            task.suspend()
            task.suspend()
            task.resume()
            task.resume()
            await session.settled()
            #expect(task.state == .suspended && server.acceptedConnections == 0)
            task.resume()

            #expect(try await outcomes.first().text == "hello")
        }

        @Test func `a suspended task reads nothing more, and goes on when resumed`() async throws {
            let size = 16 << 20
            server.script(
                .expectRequest,
                .send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\nfirst"),
                .pause(until: "suspended"),
                .send(bytes: repeatElement(0x78, count: size - 5))
            )
            let task = session.dataTask(with: server.url("/big"), completionHandler: outcomes.handler)

            task.resume()
            try await eventually { task.countOfBytesReceived == 5 }
            task.suspend()
            await session.settled()
            let before = server.connections[0].bytesSent
            server.signal("suspended")
            for _ in 1...50 { await session.settled() }
            #expect(task.countOfBytesReceived == 5 && server.connections[0].bytesSent < before + size)
            task.resume()

            #expect(try await outcomes.first().data?.count == size)
        }

        @Test func `T-API-04 resume and suspend from many threads start a task once`() async throws {
            let task = session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler)

            DispatchQueue.concurrentPerform(iterations: 16) { number in
                for _ in 1...200 { if number.isMultiple(of: 2) { task.resume() } else { task.suspend() } }
            }
            while task.state == .suspended { task.resume() }

            #expect(try await outcomes.first().text == "hello")
            await session.settled()
            #expect(server.requests.count == 1 && outcomes.all.value.count == 1)
        }

        // MARK: - Cancelling

        @Test func `T-API-02 cancelling a task that was never resumed completes it with the failing URL`() async throws
        {
            let url = server.url("/hello")
            let task = URLSession.loopback().dataTask(with: url, completionHandler: outcomes.handler)

            task.cancel()
            #expect(task.state == .canceling || task.state == .completed)
            let outcome = try await outcomes.first()

            #expect(outcome.code == -999 && outcome.data == nil && outcome.response == nil)
            #expect(outcome.error?.userInfo[NSURLErrorFailingURLErrorKey] as? URL == url)
            #expect(outcome.error?.userInfo["NSErrorFailingURLStringKey"] as? String == url.absoluteString)
            #expect(task.state == .completed && (task.error as? URLError)?.code == .cancelled)
            #expect(server.acceptedConnections == 0)
        }

        @Test func `T-API-02 cancelling again, or after the end, changes nothing`() async throws {
            let task = session.dataTask(with: server.url("/held"), completionHandler: outcomes.handler)
            task.resume()
            for _ in 1...5 { task.cancel() }
            _ = try await outcomes.first()
            let done = session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler)
            done.resume()
            _ = try await outcomes.wait(for: 2)

            for task in [task, done] {
                task.cancel()
                task.resume()
                task.suspend()
            }
            await session.settled()

            #expect(outcomes.all.value.map(\.code) == [-999, nil])
            #expect(task.state == .completed && done.state == .completed && done.error == nil)
        }

        @Test func `T-API-02 a task may be cancelled from its own callbacks`() async throws {
            for moment in [EventLog.Event.response(200), .data("hello"), .metrics, .completed(nil)] {
                let log = EventLog { event, task in if event == moment { task?.cancel() } }
                let session = URLSession.loopback(delegate: log)
                session.dataTask(with: server.url("/hello")).resume()
                _ = try await log.finished()
                session.finishTasksAndInvalidate()

                let events = try await log.events.wait { $0.contains(.invalid) }
                #expect(events.count { if case .completed = $0 { true } else { false } } == 1)
                #expect(events.last == .invalid)
            }
        }

        @Test func `T-API-01 a task is cancelled once in each state it can be in`() async throws {
            server.route("GET", "/half", .text("twelve bytes").stalling(after: 6))
            let session = URLSession.loopback { $0.httpMaximumConnectionsPerHost = 2 }
            let blockers = [session.dataTask(with: server.url("/held")), session.dataTask(with: server.url("/half"))]
            for task in blockers { task.resume() }
            try await eventually { blockers[1].countOfBytesReceived == 6 }
            let queued = session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler)
            queued.resume()
            await session.settled()

            queued.cancel()
            #expect(try await outcomes.first().code == -999)
            for task in blockers { task.cancel() }
            try await eventually { blockers.allSatisfy { $0.state == .completed } }

            #expect(blockers.allSatisfy { ($0.error as? URLError)?.code == .cancelled })
            #expect(blockers[1].response != nil && blockers[0].response == nil)
            server.signal("go")
            try await server.waitUntilIdle()
        }

        @Test func `T-API-03 cancelling while completions run on other threads never blocks`() async throws {
            let tasks = (1...300).map { _ in
                session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler)
            }

            DispatchQueue.concurrentPerform(iterations: tasks.count) { index in
                tasks[index].resume()
                if index.isMultiple(of: 3) { tasks[index].cancel() }
            }

            let all = try await outcomes.wait(for: tasks.count)
            #expect(all.allSatisfy { $0.text == "hello" || $0.code == -999 })
            #expect(all.count { $0.text == "hello" } >= 200)
        }

        // MARK: - Fields

        @Test func `a task tells its request, response and counters`() async throws {
            server.route("POST", "/echo") { .data($0.body).status(201) }
            let request = URLRequest("POST", server.url("/echo"), body: Data("12345".utf8))
            let task = URLSession.loopback().dataTask(with: request, completionHandler: outcomes.handler)
            #expect(task.countOfBytesExpectedToSend == 5 && task.countOfBytesExpectedToReceive == -1)

            task.resume()
            _ = try await outcomes.first()

            #expect(task.originalRequest?.url == request.url && task.currentRequest?.httpMethod == "POST")
            #expect((task.response as? HTTPURLResponse)?.statusCode == 201 && task.error == nil)
            #expect(task.countOfBytesSent == 5 && task.countOfBytesReceived == 5)
            #expect(task.countOfBytesExpectedToReceive == 5)
        }

        @Test func `an unknown length is -1 and a response without a body expects none`() async throws {
            server.route("GET", "/chunks", .text("hello").chunked(2))
            let chunked = session.dataTask(with: server.url("/chunks"), completionHandler: outcomes.handler)
            let head = session.dataTask(
                with: URLRequest("HEAD", server.url("/hello")),
                completionHandler: outcomes.handler
            )

            chunked.resume()
            head.resume()
            _ = try await outcomes.wait(for: 2)

            #expect(chunked.countOfBytesExpectedToReceive == -1 && chunked.countOfBytesReceived == 5)
            #expect(head.countOfBytesExpectedToReceive == 0 && head.response?.expectedContentLength == 5)
        }

        @Test func `the response is set before the delegate hears of it`() async throws {
            let isSet = Watched<Bool?>(nil)
            let log = EventLog { event, task in
                if case .response = event { isSet.change { $0 = task?.response != nil } }
            }
            URLSession.loopback(delegate: log).dataTask(with: server.url("/hello")).resume()

            #expect(try await isSet.wait { $0 != nil } == true)
        }

        @Test(arguments: [(Float(-1), Float(0)), (0, 0), (0.3, 0.3), (1, 1), (2, 1), (.infinity, 1), (.nan, 0.5)])
        func `T-API-36 a priority is clamped`(given: Float, used: Float) {
            defer { session.invalidateAndCancel() }
            let task = session.dataTask(with: server.url())
            #expect(task.priority == URLSessionTask.defaultPriority)

            task.priority = given

            #expect(task.priority == used)
        }

        @Test func `a description and a name are the caller's own`() {
            defer { session.invalidateAndCancel() }
            let task = session.dataTask(with: server.url("/?secret=canary"))
            task.taskDescription = "mine"
            session.sessionDescription = "ours"

            #expect(task.taskDescription == "mine" && session.sessionDescription == "ours")
            #expect(!"\(task)".contains("canary"))
        }

        @Test func `T-API-27 empty bodies and urls are requests like others, or refused`() async throws {
            server.route("POST", "/echo") { .text("\($0.bodyByteCount)") }
            var nowhere = URLRequest(url: server.url())
            nowhere.url = nil

            #expect(try await session.outcome(of: URLRequest("POST", server.url("/echo"), body: Data())).text == "0")
            #expect(try await session.outcome(of: nowhere).code == -1002)
            #expect(try await session.outcome(of: URL(string: "x")!).code == -1002)  // literal
        }

        // MARK: - Progress

        @Test func `T-API-32 progress rises to its total once`() async throws {
            let size = 4 << 20
            let fractions = Watched<[Double]>([])
            server.route("GET", "/big") { _ in .stream(.repeating("x", count: size)) }
            let log = EventLog { event, task in
                if let task { fractions.change { $0.append(task.progress.fractionCompleted) } }
            }
            let session = URLSession.loopback(delegate: log)
            let task = session.dataTask(with: server.url("/big"))
            let progress = task.progress

            task.resume()
            _ = try await log.finished()

            let seen = fractions.value
            #expect(seen == seen.sorted() && seen.allSatisfy { $0 >= 0 && $0 <= 1 })
            #expect(progress.isFinished && progress.completedUnitCount == size && progress === task.progress)
        }

        @Test func `T-API-32 progress of an unknown length is indeterminate and never beyond its total`() async throws {
            server.route("GET", "/chunks", .text("hello").chunked(1))
            let task = URLSession.loopback().dataTask(with: server.url("/chunks"), completionHandler: outcomes.handler)
            let progress = task.progress

            #expect(progress.isIndeterminate)
            task.resume()
            _ = try await outcomes.first()

            #expect((0...1).contains(progress.fractionCompleted) && !progress.fractionCompleted.isNaN)
        }

        @Test func `a progress that is paused twice and resumed once lets its task go on`() async throws {
            server.route("GET", "/x", .text("x"))
            for _ in 0..<50 {
                let outcomes = Outcomes()
                let task = URLSession.shared.dataTask(with: server.url("/x"), completionHandler: outcomes.handler)
                let progress = task.progress
                task.resume()
                progress.pause()
                progress.pause()
                progress.resume()

                #expect(try await outcomes.first().text == "x")
            }
        }

        @Test func `cancelling, pausing and resuming the progress does so to the task`() async throws {
            let task = URLSession.loopback().dataTask(with: server.url("/held"), completionHandler: outcomes.handler)
            let progress = task.progress
            progress.resume()
            try await eventually { task.state == .running }
            progress.pause()
            try await eventually { task.state == .suspended }
            progress.resume()
            try await eventually { task.state == .running }

            progress.cancel()

            #expect(try await outcomes.first().code == -999)
        }
    }
}
