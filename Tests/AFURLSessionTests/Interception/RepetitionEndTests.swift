@testable import AFURLSession
@testable import AFURLTypes

/// A task that is adapted, refused, waits, is adapted and sent again, and lost in the middle of its answer.
private struct Repeated {
    let world = VirtualWorld()
    let events: TaskEvents
    let adaptions = Lock(0)
    let questions = Lock(0)

    init() {
        let (adaptions, questions) = (adaptions, questions)
        world.network.link.latency = 1_000_000...1_000_000
        world.configure { configuration in
            configuration.requestInterceptors = [
                AdaptingInterceptor { request, _ in
                    adaptions.withLock { $0 += 1 }
                    await Task.yield()
                    var request = request
                    request.setValue("1", forHTTPHeaderField: "X-Adapted")
                    return request
                },
                RetryingInterceptor { attempt in
                    questions.withLock { $0 += 1 }
                    await Task.yield()
                    return attempt.number < 4 ? .retry(after: .milliseconds(50)) : .giveUp
                },
            ]
        }
        world.queue.setDelay(0...3_000_000)
        let busy = RepetitionTests.busy
        world.scripts(
            "api.test",
            [
                [.expectRequest, .dribble(busy, 20, every: .milliseconds(2)), .expectRequest, .close],
                [.expectRequest, .close],
                [.expectRequest, .reply(RepetitionTests.ok), .again],
            ]
        )
        events = world.send("PUT", "http://api.test/", body: Data(count: 5000))
    }

    /// True if the task ended within so many steps.
    func run(steps: Int) -> Bool {
        for _ in 0..<steps where !events.isComplete { _ = world.step(until: world.now + .seconds(600)) }
        return events.isComplete
    }
}

@Suite("Ends of tasks that are sent again")
final class RepetitionEndTests: WorldSuite {
    @Test func `undisturbed it arrives`() {
        let repeated = Repeated()
        #expect(repeated.run(steps: 5000))
        #expect(repeated.events.all == [.response(200), .data(2), .finished])
        #expect(repeated.adaptions.withLock { $0 } >= 3 && repeated.questions.withLock { $0 } >= 2)
        #expect(repeated.world.finish() == [])
    }

    @Test func `T-RTY-08 cancelled after any event it completes once and leaves nothing`() {
        var steps = 0
        var isOver = false
        while !isOver, steps < 3000 {
            let repeated = Repeated()
            isOver = repeated.run(steps: steps)
            let before = repeated.events.record.events

            repeated.events.task.cancel()
            repeated.world.run(limit: .seconds(1))

            let record = repeated.events.record
            #expect(record.completions == 1, "after step \(steps): \(record.events)")
            #expect(record.events.starts(with: before), "after step \(steps)")
            // Unless its end was on its way already.
            let isCancelled = record.events.last == .failed(.cancelled)
            #expect(isCancelled || record.events.last == .finished, "after step \(steps)")
            let requests = repeated.world.network.connections.count
            repeated.world.run(limit: .seconds(100))
            #expect(repeated.world.network.connections.count == requests, "after step \(steps)")
            #expect(repeated.world.finish() == [], "after step \(steps)")
            steps += 1
        }
        #expect(isOver && steps > 30)
    }

    @Test func `T-RTY-08 invalidated after any event its session ends it`() {
        var steps = 0
        var isOver = false
        while !isOver, steps < 3000 {
            let repeated = Repeated()
            isOver = repeated.run(steps: steps)
            let recorder = repeated.world.recorder

            repeated.world.session.invalidateAndCancel()
            repeated.world.run(limit: .seconds(100))

            #expect(repeated.events.record.completions == 1, "after step \(steps)")
            #expect(recorder.invalidations == 1 && recorder.eventsAfterInvalidation == 0, "after step \(steps)")
            #expect(repeated.world.finish() == [], "after step \(steps)")
            steps += 3
        }
        #expect(isOver && steps > 30)
    }

    @Test func `T-RTY-08 suspended after any event it waits, and then arrives`() {
        var steps = 0
        var isOver = false
        while !isOver, steps < 3000 {
            let repeated = Repeated()
            isOver = repeated.run(steps: steps)

            repeated.events.task.suspend()
            repeated.world.run(limit: .seconds(200))
            let isHeld = repeated.events.isComplete == isOver || repeated.events.task.state == .completed
            #expect(isHeld, "after step \(steps)")
            repeated.events.task.resume()
            repeated.world.run(limit: .seconds(200)) { repeated.events.isComplete }

            #expect(repeated.events.all == [.response(200), .data(2), .finished], "after step \(steps)")
            #expect(repeated.world.finish() == [], "after step \(steps)")
            steps += 1
        }
        #expect(isOver && steps > 30)
    }

    // MARK: - Interceptors that never answer

    /// Waits until its Swift task is cancelled.
    private struct Silent: TaskInterceptor {
        let adapts: Bool
        let isCancelled = Lock(false)

        func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
            if adapts { try await waitForCancellation() }
            return request
        }

        func retry(after attempt: FailedAttempt) async -> RetryDecision {
            try? await waitForCancellation()
            return .retry
        }

        private func waitForCancellation() async throws {
            let waiter = SharedRefresh()
            defer { isCancelled.withLock { $0 = true } }
            try await waiter.end()
        }
    }

    @Test(arguments: [true, false])
    func `T-RTY-15 a silent interceptor is cancelled with its task, or when that has no time left`(adapts: Bool) {
        for isCancelled in [true, false] {
            let silent = Silent(adapts: adapts)
            let world = VirtualWorld()
            world.configure {
                $0.requestInterceptors = [silent]
                $0.timeoutIntervalForResource = 30
            }
            world.script("api.test", .expectRequest, .reply(RepetitionTests.busy), .again)

            let events = world.get("http://api.test/")
            world.advance(by: .seconds(29))
            #expect(!events.isComplete)
            if isCancelled { events.task.cancel() }
            world.run(limit: .seconds(2))

            #expect(events.all == [.failed(isCancelled ? .cancelled : .timedOut)])
            #expect(silent.isCancelled.withLock { $0 })
            #expect(world.network.connections.count == (adapts ? 0 : 1))
            #expect(world.finish() == [])
        }
    }

    @Test func `T-RTY-15 a silent interceptor gets no more time when a class of the program has failed`() {
        let site = StubSite { _ in }
        let silent = Silent(adapts: false)
        world.configure {
            $0.protocolClasses = [StubProtocol.self]
            $0.requestInterceptors = [silent]
            $0.timeoutIntervalForResource = 30
        }

        let events = world.get(site.url().absoluteString, idleTimeout: .seconds(3))
        world.advance(by: .seconds(29))
        #expect(!events.isComplete)
        world.advance(by: .seconds(2))

        #expect(events.all == [.failed(.timedOut)])
        #expect(silent.isCancelled.withLock { $0 })
    }

    @Test func `T-RTY-15 a silent interceptor gets no more time when the response breaks off meanwhile`() {
        let silent = Silent(adapts: false)
        world.configure {
            $0.requestInterceptors = [silent]
            $0.timeoutIntervalForResource = 30
        }
        let broken = "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbusy\r\nno size\r\n"
        world.script("api.test", .expectRequest, .reply(broken))

        let events = world.get("http://api.test/")
        world.advance(by: .seconds(20))
        #expect(world.network.connections.count == 1 && world.network.openConnections.isEmpty)
        // The time of a suspension does not count here either.
        events.task.suspend()
        world.advance(by: .seconds(100))
        events.task.resume()
        world.advance(by: .seconds(9))
        #expect(!events.isComplete)
        world.advance(by: .seconds(2))

        #expect(events.all == [.failed(.timedOut)])
        #expect(silent.isCancelled.withLock { $0 })
    }

    @Test func `T-RTY-15 a slow interceptor holds up only its own task`() {
        world.configure { _ in }
        world.serveEcho("api.test")
        var request = URLRequest(url: URL(string: "http://api.test/slow")!)
        request.requestInterceptors = [Silent(adapts: true)]
        let slow = TaskEvents(task: world.session.dataTask(with: request), recorder: world.recorder)
        slow.task.resume()

        #expect(world.load("http://api.test/quick").body == "/quick")
        #expect(!slow.isComplete)
        slow.task.cancel()
        world.run { slow.isComplete }
    }

    @Test func `an answer that comes after the end comes to nothing`() {
        let door = Lock<UnsafeContinuation<Void, Never>?>(nil)
        world.configure {
            $0.requestInterceptors = [
                AdaptingInterceptor { request, _ in
                    // Does not care that it is cancelled.
                    await withUnsafeContinuation { continuation in door.withLock { $0 = continuation } }
                    return request
                }
            ]
        }
        world.serveEcho("api.test")
        let events = world.get("http://api.test/")
        world.run(limit: .seconds(1)) { door.withLock { $0 != nil } }
        events.task.cancel()
        world.run { events.isComplete }

        door.withLock { $0 }?.resume()
        world.run(limit: .seconds(100))

        #expect(events.all == [.failed(.cancelled)])
        #expect(world.network.connections.isEmpty)
    }
}
