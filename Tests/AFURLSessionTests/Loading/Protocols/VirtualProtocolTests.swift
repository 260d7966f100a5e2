@Suite("Loads by classes in virtual time")
struct VirtualProtocolTests {
    private func world(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> VirtualWorld {
        let world = VirtualWorld()
        world.configure {
            $0.protocolClasses = [StubProtocol.self]
            configure($0)
        }
        return world
    }

    @Test func `a class that says nothing is waited for as a server is`() {
        let site = StubSite { _ in }
        let world = world()
        let silent = world.get(site.url().absoluteString, idleTimeout: .seconds(5))
        world.run(limit: .seconds(4))
        #expect(!silent.isComplete)
        world.run()
        #expect(silent.error?.code == .timedOut && silent.error?.loadFailure?.phase == .waitingForHead)
        #expect(site.log.value.started == 1 && site.log.value.stopped == 1)
        #expect(world.finish() == [])
    }

    @Test func `every piece is progress, and the task as a whole has its time`() {
        let site = StubSite { stub in stub.begin() }
        let stub = Lock<StubProtocol?>(nil)
        let pieces = StubSite { started in
            stub.withLock { $0 = started }
            started.begin()
        }
        let world = world { $0.timeoutIntervalForResource = 10 }
        let task = world.get(pieces.url().absoluteString, idleTimeout: .seconds(3))
        let idle = world.get(site.url().absoluteString, idleTimeout: .seconds(3))
        for _ in 0..<4 {
            world.advance(by: .seconds(2))
            stub.withLock { $0 }?.load("x")
        }
        #expect(!task.isComplete && idle.error?.code == .timedOut)
        world.advance(by: .seconds(2))
        stub.withLock { $0 }?.load("x")
        world.advance(by: .seconds(2))
        #expect(task.error?.code == .timedOut && task.error?.loadFailure?.message.contains("used up its time") == true)
        #expect(pieces.log.value.stopped == 1)
        #expect(world.finish() == [])
    }

    @Test func `time stands still while the task is suspended`() {
        let site = StubSite { _ in }
        let world = world { $0.timeoutIntervalForResource = 10 }
        let task = world.get(site.url().absoluteString, idleTimeout: .seconds(3))
        world.settle()
        task.task.suspend()
        world.advance(by: .seconds(100))
        #expect(!task.isComplete)
        task.task.resume()
        world.advance(by: .seconds(2))
        #expect(!task.isComplete)
        world.advance(by: .seconds(2))
        #expect(task.error?.code == .timedOut)
        #expect(world.finish() == [])
    }

    @Test func `a class that blocks before it is started is never started`() {
        let site = StubSite()
        let world = world()
        world.workers.take(.seconds(10))
        let task = world.get(site.url().absoluteString, idleTimeout: .seconds(3))
        world.run()
        #expect(task.error?.code == .timedOut && site.log.value.started == 0 && site.log.value.stopped == 0)
        #expect(world.finish() == [])
    }

    @Test func `an attempt that ends while classes are asked where a redirect leads gives its connection back`() {
        let world = world {
            $0.requestInterceptors = [RetryRules()]
            $0.httpMaximumConnectionsPerHost = 1
        }
        let ok = ServerStep.reply("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let redirect = ServerStep.reply("HTTP/1.1 302 Found\r\nLocation: /2\r\nContent-Length: 0\r\n\r\n")
        world.scripts(
            "a.test",
            [
                [.expectRequest, .delay(.milliseconds(100)), redirect, .expectRequest, ok, .again],
                [.expectRequest, ok, .again],
            ]
        )
        let task = world.get("http://a.test/", idleTimeout: .seconds(1))
        world.advance(by: .milliseconds(50))
        world.workers.take(.seconds(5))

        world.run(limit: .seconds(4)) { task.isComplete }

        #expect(task.body == "ok" && task.error == nil)
        world.workers.take(.zero)
        world.run(limit: .seconds(10))
        #expect(world.load("http://a.test/3").body == "ok")
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `T-API-01 T-API-06 a load cancelled or suspended at any step ends once, and is stopped once`() {
        let end = StubSite { stub in
            stub.begin()
            for _ in 0..<3 { stub.load(Data(count: 300_000)) }
            stub.finish()
        }
        for isSuspending in [false, true] {
            var steps = 0
            var isOver = false
            while !isOver, steps < 400 {
                let first = StubSite { $0.redirect(to: end.url()) }
                let before = end.log.value
                let world = world()
                world.workers.take(.milliseconds(1))
                let task = world.get(first.url().absoluteString)
                for _ in 0..<steps where !task.isComplete { _ = world.step(until: .distantFuture) }
                isOver = task.isComplete
                if isSuspending {
                    task.task.suspend()
                    world.advance(by: .seconds(1))
                    task.task.resume()
                } else {
                    task.task.cancel()
                }
                world.run()

                #expect(task.record.completions == 1, "after step \(steps)")
                if isSuspending || isOver { #expect(task.record.body.count == 900_000, "after step \(steps)") }
                let (one, other) = (first.log.value, end.log.value)
                #expect(one.started == one.stopped && one.started <= 1)
                #expect(other.started - before.started == other.stopped - before.stopped)
                #expect(world.finish() == [], "after step \(steps)")
                steps += 1
            }
            #expect(isOver && steps > 5)
        }
    }
}
