@testable import AFURLSession
@testable import AFURLTypes

@Suite("Sending again when an interceptor wants it")
struct RepetitionTests {
    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    static let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"

    private static func busy(for text: String) -> String {
        "HTTP/1.1 503 Busy\r\nRetry-After: \(text)\r\nContent-Length: 4\r\n\r\nbusy"
    }

    /// Always the longest wait: half a second, one, two …
    private static let steady = RetryingInterceptor { attempt in
        var attempt = attempt
        attempt.jitter = 1
        return RetryRules().decision(after: attempt)
    }

    private func world(_ interceptors: any TaskInterceptor..., resourceTimeout: Double = 3600) -> VirtualWorld {
        let world = VirtualWorld()
        world.hasVirtualDate = true
        world.configure {
            $0.requestInterceptors = interceptors
            $0.timeoutIntervalForResource = resourceTimeout
        }
        return world
    }

    private func seconds(_ world: VirtualWorld, _ body: () -> Void) -> Double {
        let start = world.now
        body()
        return Double(start.duration(to: world.now).saturatingNanoseconds) / 1e9
    }

    // MARK: - Beside what the session repeats by itself

    @Test(arguments: [("GET", nil, true), ("GET", 1, false), ("GET", 0, false), ("GET", 2, true), ("PUT", 1, false)])
    func `T-MSG-45 rules that allow one attempt hold where a kept connection closes, too`(
        method: String,
        attempts: Int?,
        isRepeated: Bool
    ) {
        let world = attempts.map { self.world(RetryRules(maximumAttempts: $0)) } ?? self.world()
        world.scripts(
            "api.test",
            [
                [.expectRequest, .reply(Self.ok), .expectRequest, .close],
                [.expectRequest, .reply(Self.ok), .again],
            ]
        )
        world.load("http://api.test/1")
        let events = world.send(method, "http://api.test/2")
        world.run { events.isComplete }

        #expect((events.error == nil) == isRepeated, "\(events.all)")
        #expect(world.network.connections.count == (isRepeated ? 2 : 1))
        #expect(world.finish() == [])
    }

    @Test func `rules that allow one attempt let a request go elsewhere that has not left`() {
        let world = self.world(RetryRules(maximumAttempts: 1))
        world.scripts(
            "api.test",
            [[.expectRequest, .reply(Self.ok), .close], [.expectRequest, .reply(Self.ok), .again]]
        )
        world.load("http://api.test/1")
        let events = world.send("POST", "http://api.test/2")
        world.run { events.isComplete }

        #expect(events.error == nil && world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    // MARK: - One task

    @Test func `T-RTY-09 a task has one response, that of the last attempt, and goes on on its connection`() {
        let world = world(Self.steady)
        world.script("api.test", .expectRequest, .reply(Self.busy), .expectRequest, .reply(Self.ok))

        var events: TaskEvents?
        let took = seconds(world) { events = world.load("http://api.test/") }

        #expect(events?.all == [.response(200), .data(2), .finished])
        #expect(took >= 0.5 && took < 0.6)
        #expect(world.network.connections.count == 1)
        let entries = events?.record.metrics?.transactionMetrics ?? []
        #expect(entries.map { ($0.response as? HTTPURLResponse)?.statusCode } == [503, 200])
        #expect(entries.map(\.isReusedConnection) == [false, true])
        #expect(events?.task.countOfBytesReceived == 2)
        #expect(world.finish() == [])
    }

    @Test func `T-RTY-02 the last attempt is the task's, whatever it brings`() {
        let world = world(RetryRules())
        world.script("api.test", .expectRequest, .reply(Self.busy), .again)

        let events = world.load("http://api.test/")

        #expect(events.all == [.response(503), .data(4), .finished])
        #expect(events.body == "busy")
        #expect(events.record.metrics?.transactionMetrics.count == 3)
        #expect(world.finish() == [])
    }

    @Test func `connections that are lost before or in the middle of an answer are tried again for handlers`() {
        let world = world(RetryRules())
        world.scripts(
            "api.test",
            [
                [.expectRequest, .close],
                [.expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhal"), .close],
                [.expectRequest, .reply(Self.ok)],
            ]
        )
        let (recorder, session) = (world.recorder, world.session)
        let task = session.dataTask(with: URL(string: "http://api.test/")!) {
            recorder.complete(session, nil, 100, $0, $1, $2)
        }
        task.resume()
        world.run { recorder.record(of: 100).completions > 0 }

        #expect(recorder.record(of: 100).events == [.response(200), .data(2), .finished])
        #expect(task.countOfBytesReceived == 2 && task.countOfBytesExpectedToReceive == 2)
        #expect(world.finish() == [])
    }

    @Test func `T-RTY-09 a response that was shown is not followed by another one`() {
        let world = world(RetryRules())
        world.script("api.test", .expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhal"), .close)

        let events = world.load("http://api.test/")

        #expect(events.all == [.response(200), .data(3), .failed(.networkConnectionLost)])
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `T-RTY-09 of a long answer that does not count no more is read than of a redirect`() {
        let world = world(RetryingInterceptor { $0.number == 1 ? .retry : .giveUp })
        world.scripts(
            "api.test",
            [
                [.expectRequest, .reply("HTTP/1.1 503 Busy\r\nContent-Length: 9000000\r\n\r\n"), .fill(9_000_000)],
                [.expectRequest, .reply(Self.ok), .again],
            ]
        )

        let events = world.load("http://api.test/")

        #expect(events.all == [.response(200), .data(2), .finished])
        #expect(world.network.connections.count == 2)
        #expect((events.record.metrics?.transactionMetrics.first?.countOfResponseBodyBytesReceived ?? .max) < 600_000)
        #expect(world.finish() == [])
    }

    @Test func `interceptors of the request are asked first, and the first opinion counts`() {
        let heard = Lock<[String]>([])
        func interceptor(_ name: String, _ decision: RetryDecision) -> RetryingInterceptor {
            RetryingInterceptor { attempt in
                heard.withLock { $0.append("\(name)\(attempt.number)") }
                return attempt.number == 1 ? decision : .giveUp
            }
        }
        let world = world(interceptor("session", .retry), interceptor("never", .fail(URLError(.unknown))))
        world.script("api.test", .expectRequest, .reply(Self.busy), .again)
        var request = URLRequest(url: URL(string: "http://api.test/")!)
        request.requestInterceptors = [interceptor("own", .giveUp)]

        let events = TaskEvents(task: world.session.dataTask(with: request), recorder: world.recorder)
        events.task.resume()
        world.run { events.isComplete }

        #expect(events.all.last == .finished)
        #expect(heard.withLock { $0 } == ["own1", "session1", "own2", "session2", "never2"])
        #expect(world.finish() == [])
    }

    @Test func `an interceptor is told what there is to know`() {
        let attempts = Lock<[FailedAttempt]>([])
        let world = world(
            RetryingInterceptor { attempt in
                attempts.withLock { $0.append(attempt) }
                return attempt.number < 4 ? .retry(after: .seconds(2)) : .giveUp
            }
        )
        world.host("api.test", "192.0.2.1")
        world.set(.refuses(), for: "192.0.2.1")
        let events = world.send("PUT", "http://api.test/x", body: Data("body".utf8))
        world.run { attempts.withLock { $0.count } == 1 }
        let busyThenGone: [ServerStep] = [.expectRequest, .reply(Self.busy), .expectRequest, .close]
        world.scripts("api.test", [busyThenGone, [.expectRequest, .reset]])
        world.set(.accepts, for: "192.0.2.1")
        world.run { events.isComplete }

        let all = attempts.withLock { $0 }
        #expect(all.map(\.number) == [1, 2, 3, 4])
        #expect(all.map(\.status) == [nil, 503, nil, nil])
        #expect(all.map(\.errorCode) == [.cannotConnectToHost, nil, .networkConnectionLost, .networkConnectionLost])
        #expect(all.map(\.hasSentBytes) == [false, true, true, true])
        #expect(all.map(\.hasReceivedBytes) == [false, true, false, false])
        #expect(all.map(\.earlierStatuses) == [[], [], [503], [503]])
        #expect(all.allSatisfy { $0.canSendBodyAgain && $0.isIdempotent && $0.task === events.task })
        #expect(all.allSatisfy { $0.request.url?.path == "/x" && (0..<1).contains($0.jitter) })
        #expect(Set(all.map(\.jitter)).count > 1)
        #expect(all.last.map { $0.elapsed >= .seconds(6) && $0.date > all[0].date } == true)
        #expect(events.all == [.failed(.networkConnectionLost)])
        #expect(events.error?.loadFailure?.message.hasSuffix("The request was sent 4 times.") == true)
        #expect(world.finish() == [])
    }

    @Test func `a task fails with the error of its interceptor`() {
        struct Mine: Error {}
        let world = world(RetryingInterceptor { _ in .fail(Mine()) })
        world.script("api.test", .expectRequest, .reply(Self.busy), .expectRequest, .close)

        let refused = world.load("http://api.test/1")
        let lost = world.load("http://api.test/2")

        #expect(refused.task.error is Mine && lost.task.error is Mine)
        #expect((refused.task.response as? HTTPURLResponse)?.statusCode == 503)
        #expect(refused.record.completions == 1 && lost.record.completions == 1)
        #expect(world.finish() == [])
    }

    @Test func `interceptors are not asked about answers below 400`() {
        let world = world(RetryingInterceptor { _ in .fail(URLError(.unknown)) })
        world.script("api.test", .expectRequest, .reply("HTTP/1.1 399 Odd\r\nContent-Length: 0\r\n\r\n"))

        #expect(world.load("http://api.test/").all == [.response(399), .finished])
        #expect(world.finish() == [])
    }

    // MARK: - Time

    @Test func `T-RTY-04 a server that asks for time gets it, by seconds or by date`() {
        // The virtual day begins at 22:13:21 in the evening, when the first second has passed.
        for text in ["8", "Tue, 14 Nov 2023 22:13:29 GMT"] {
            let world = world(RetryRules())
            world.script("api.test", .expectRequest, .reply(Self.busy(for: text)), .expectRequest, .reply(Self.ok))

            let took = seconds(world) { #expect(world.load("http://api.test/").all.last == .finished) }

            #expect(took >= 8 && took < 9, "\(text): \(took)")
            #expect(world.finish() == [])
        }
    }

    @Test func `T-RTY-05 the time of a wait is time of the task`() {
        let world = world(RetryingInterceptor { _ in .retry(after: .seconds(4)) }, resourceTimeout: 10)
        world.script("api.test", .expectRequest, .reply(Self.busy), .again)

        var events: TaskEvents?
        let took = seconds(world) { events = world.load("http://api.test/") }

        // The third wait would end after the task: its answer is there at once.
        #expect(events?.all == [.response(503), .data(4), .finished])
        #expect(took >= 8 && took < 8.1)
        #expect(world.finish() == [])
    }

    @Test func `T-RTY-05 a wait that is too long is told of in the error`() {
        let world = world(RetryingInterceptor { _ in .retry(after: .seconds(1000)) }, resourceTimeout: 100)
        world.script("api.test", .expectRequest, .close)

        let events = world.load("http://api.test/")

        #expect(events.all == [.failed(.networkConnectionLost)])
        #expect(events.error?.loadFailure?.message.contains("1000 seconds to wait") == true)
        #expect(world.finish() == [])
    }

    @Test func `T-RTY-05 attempts that time out share the time of the task`() {
        let world = world(RetryingInterceptor { _ in .retry }, resourceTimeout: 25)
        world.script("api.test", .stall)

        var events: TaskEvents?
        let took = seconds(world) {
            events = world.get("http://api.test/", idleTimeout: .seconds(10))
            world.run { events?.isComplete == true }
        }

        #expect(events?.all == [.failed(.timedOut)])
        #expect(events?.error?.loadFailure?.detail == .resource)
        #expect(took >= 25 && took < 25.1)
        #expect(events?.record.metrics?.transactionMetrics.count == 3)
        #expect(world.finish() == [])
    }

    @Test func `T-RTY-08 a suspended task waits, and the time of the suspension does not count`() {
        let world = world(
            RetryingInterceptor { $0.number == 1 ? .retry(after: .seconds(5)) : .giveUp },
            resourceTimeout: 20
        )
        // While it waits, its connection grows too old.
        world.scripts("api.test", [[.expectRequest, .reply(Self.busy), .stall], [.expectRequest, .reply(Self.ok)]])

        let events = world.get("http://api.test/")
        world.advance(by: .seconds(2))
        events.task.suspend()
        world.advance(by: .seconds(1000))
        #expect(!events.isComplete && world.network.connections.count == 1)
        events.task.resume()
        world.run { events.isComplete }

        #expect(events.all == [.response(200), .data(2), .finished])
        #expect(world.finish() == [])
    }

    @Test func `T-RTY-02 a request is not sent again without end`() {
        let count = Lock(0)
        let world = world(
            RetryingInterceptor { _ in
                count.withLock { $0 += 1 }
                return .retry
            }
        )
        world.script("api.test", .expectRequest, .close)

        let events = world.load("http://api.test/")

        #expect(count.withLock { $0 } == 100)
        #expect(world.network.connections.count == 100)
        #expect(events.all == [.failed(.networkConnectionLost)])
        #expect(events.error?.loadFailure?.message.contains("sent 100 times") == true)
        #expect(world.finish() == [])
    }

    // MARK: - On the way

    @Test func `T-RTY-01 after a redirect the redirected request is sent again, and not the one before`() {
        let world = world(RetryRules())
        let away = "HTTP/1.1 303 See\r\nLocation: http://b.test/\r\nContent-Length: 0\r\n\r\n"
        world.script("a.test", .expectRequest, .reply(away), .again)
        world.script("b.test", .expectRequest, .reply(Self.busy), .expectRequest, .reply(Self.ok))

        let events = world.send("POST", "http://a.test/", body: Data("once".utf8))
        world.run { events.isComplete }

        #expect(events.all == [.response(200), .data(2), .finished])
        #expect(events.record.metrics?.transactionMetrics.map(\.request.httpMethod) == ["POST", "GET", "GET"])
        #expect(world.finish() == [])
    }

    @Test func `T-RTY-16 progress begins anew with each attempt and never passes its end`() {
        let world = world(RetryRules())
        world.network.link.latency = 1_000_000...1_000_000
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + String(repeating: "x", count: 60)
        world.scripts(
            "api.test",
            [[.expectRequest, .reply(half), .close], [.expectRequest, .reply(Self.ok), .again]]
        )
        let (recorder, session) = (world.recorder, world.session)
        let request = URLRequest("PUT", URL(string: "http://api.test/")!, body: Data(count: 5000))
        let task = session.dataTask(with: request) { recorder.complete(session, nil, 100, $0, $1, $2) }
        let progress = task.progress
        task.resume()
        var counts: [Int64] = []
        world.run {
            counts.append(task.countOfBytesReceived)
            #expect(task.countOfBytesSent <= 5000)
            #expect(progress.completedUnitCount <= max(100, progress.totalUnitCount))
            return recorder.record(of: 100).completions > 0
        }

        #expect(counts.contains(60) && counts.last == 2)
        #expect(progress.totalUnitCount == 2 && progress.completedUnitCount == 2)
        #expect(task.countOfBytesSent == 5000)
        #expect(world.finish() == [])
    }

    @Test func `monitors hear that a request will be sent again, and when`() {
        let tape = Lock<[String]>([])
        let world = VirtualWorld()
        world.configure {
            $0.requestInterceptors = [RetryingInterceptor { $0.number == 1 ? .retry(after: .seconds(3)) : .giveUp }]
            $0.eventMonitors = [Tape(lines: tape)]
        }
        world.script("api.test", .expectRequest, .reply(Self.busy), .expectRequest, .reply(Self.ok))
        world.load("http://api.test/")
        world.run()

        let lines = tape.withLock { $0 }
        #expect(lines.filter { $0.contains("will be sent again") } == ["will be sent again in 3 seconds, attempt 2"])
        #expect(lines.filter { $0.hasPrefix("fetch") }.count == 2)
        #expect(lines.filter { $0.hasPrefix("completed") }.count == 1)
        #expect(world.finish() == [])
    }

    private struct Tape: SessionEventMonitor {
        let lines: Lock<[String]>

        func observe(_ event: SessionEvent) { lines.withLock { $0.append(event.kind.description) } }
    }
}
