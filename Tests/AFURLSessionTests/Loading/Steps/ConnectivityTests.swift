@Suite("Waiting for a network")
final class ConnectivityTests: WorldSuite {
    private func makeWorld(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> VirtualWorld {
        let world = VirtualWorld()
        world.configure {
            $0.waitsForConnectivity = true
            configure($0)
        }
        world.host("api.test", "192.0.2.1")
        world.serveEcho("api.test")
        world.set(.failsAtOnce(ENETUNREACH), for: "192.0.2.1")
        return world
    }

    @Test func `a task waits, says so once, and goes on when the network changes`() {
        let world = makeWorld()
        let events = world.get("http://api.test/")
        world.advance(by: .milliseconds(500))
        #expect(events.all == [.waiting])
        #expect(world.monitor.isWatched)

        // A change that does not help.
        world.changeNetwork()
        world.advance(by: .milliseconds(100))
        #expect(events.all == [.waiting])
        world.set(.accepts, for: "192.0.2.1")
        world.changeNetwork()
        world.advance(by: .milliseconds(100))

        #expect(events.all == [.waiting, .response(200), .data(1), .finished])
        #expect(!world.monitor.isWatched)
        #expect(events.record.metrics?.transactionMetrics.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `T-COO-29 T-AUT-03 cookies and credentials that are gone by the end of the wait are not sent`() throws {
        let cookies = HTTPCookieStorage()
        let world = makeWorld { $0.httpCookieStorage = cookies }
        world.network.recordsBytes = true
        let url = try #require(URL(string: "http://api.test/"))
        let cookie = try #require(
            HTTPCookie(properties: [.domain: "api.test", .path: "/", .name: "sid", .value: "canary"])
        )
        cookies.setCookie(cookie)
        let task = world.session.dataTask(with: url)
        task.resume()
        world.advance(by: .milliseconds(500))
        cookies.deleteCookie(cookie)
        world.set(.accepts, for: "192.0.2.1")
        world.changeNetwork()
        world.run { task.state == .completed }

        let seen = world.network.connections.map { String(decoding: $0.received, as: UTF8.self) }
        #expect(seen.contains { $0.hasPrefix("GET / ") } && !seen.contains { $0.contains("canary") })
        #expect(world.finish() == [])
    }

    @Test func `T-STS-05 a host that wants TLS by the end of the wait gets it`() throws {
        let known = HSTSStore()
        let world = makeWorld { $0.strictTransportSecurity = known }
        let task = world.session.dataTask(with: try #require(URL(string: "http://api.test/")))
        task.resume()
        world.advance(by: .milliseconds(500))

        known.insert(
            try #require(HSTSStore.Entry(host: "api.test", includesSubdomains: false, expires: .distantFuture))
        )
        world.set(.refuses(), for: "192.0.2.1")
        world.changeNetwork()
        world.run { task.state == .completed }

        #expect(task.currentRequest?.url?.absoluteString == "https://api.test/")
        #expect((task.error as? URLError)?.code == .cannotConnectToHost)
        #expect(world.finish() == [])
    }

    @Test func `without the setting the task fails, and says that there is no network`() throws {
        let world = makeWorld { $0.waitsForConnectivity = false }

        let events = world.load("http://api.test/")

        #expect(events.all == [.failed(.notConnectedToInternet)])
        #expect(events.error?.loadFailure?.detail == .network)
        let message = try #require(events.error?.localizedDescription)
        #expect(message.hasSuffix("This machine has no way there: check its network.") && !message.contains("server"))
        #expect(world.finish() == [])
    }

    @Test func `a proxy to which there is no way is not said to be down`() throws {
        let proxy = try ProxyServer("http://api.test:80")
        let world = makeWorld {
            $0.waitsForConnectivity = false
            $0.proxies = ProxyConfiguration(proxy)
        }

        let events = world.load("http://other.test/")

        let message = try #require(events.error?.localizedDescription)
        #expect(
            message.contains("This machine has no way there: check its network.") && !message.contains("runs there")
        )
        #expect(world.finish() == [])
    }

    @Test func `a server that refuses is there, and is not waited for`() {
        let world = makeWorld()
        world.host("api.test", "2001:db8::1", "192.0.2.1")
        world.set(.failsAtOnce(ENETUNREACH), for: "2001:db8::1")
        world.set(.refuses(), for: "192.0.2.1")

        #expect(world.load("http://api.test/").all == [.failed(.cannotConnectToHost)])
        #expect(world.finish() == [])
    }

    @Test(arguments: [ResolutionFailure.Kind.unavailable, .notFound])
    func `a name service that cannot be asked is waited for, a name that does not exist is not`(
        kind: ResolutionFailure.Kind
    ) {
        let world = makeWorld()
        world.resolver.set(.init(.failure(ResolutionFailure(kind: kind, message: "so it is"))), for: "api.test")
        let events = world.get("http://api.test/")
        world.advance(by: .milliseconds(500))

        guard kind == .unavailable else {
            #expect(events.all == [.failed(.cannotFindHost)])
            return #expect(world.finish() == [])
        }
        #expect(events.all == [.waiting])
        world.host("api.test", "192.0.2.1")
        world.set(.accepts, for: "192.0.2.1")
        world.changeNetwork()
        world.run { events.isComplete }
        #expect(events.body == "/")
        #expect(world.finish() == [])
    }

    @Test func `T-RES-46 without news of the network it is tried again, and more and more seldom`() {
        let world = makeWorld()
        let events = world.get("http://api.test/")

        world.advance(by: .seconds(600))
        // At 0, 1, 3, 7, 15, 31, 63, 123 and every minute from there.
        #expect(world.resolver.names.count == 15)
        world.set(.accepts, for: "192.0.2.1")
        world.run { events.isComplete }

        #expect(events.body == "/")
        #expect(world.finish() == [])
    }

    @Test func `the time of the task goes on while it waits, the idle time does not`() throws {
        let world = makeWorld { $0.timeoutIntervalForResource = 100 }
        let start = world.now
        let events = world.get("http://api.test/", idleTimeout: .seconds(5))
        world.run { events.isComplete }

        #expect(start.duration(to: world.now) == .seconds(100))
        #expect(events.all == [.waiting, .failed(.timedOut)])
        let failure = try #require(events.error?.loadFailure)
        #expect(failure.phase == .waitingForConnectivity && failure.detail == .resource)
        #expect(failure.timings.last?.phase == .waitingForConnectivity)
        #expect(failure.timings.reduce(.zero) { $0 + $1.duration } == .seconds(100))
        #expect(world.finish() == [])
    }

    @Test func `a suspended task neither tries again nor loses time`() {
        let world = makeWorld { $0.timeoutIntervalForResource = 100 }
        let events = world.get("http://api.test/")
        world.advance(by: .milliseconds(500))

        events.task.suspend()
        world.advance(by: .seconds(1000))
        #expect(world.resolver.names.count == 1)
        world.set(.accepts, for: "192.0.2.1")
        events.task.resume()
        world.advance(by: .seconds(70))

        #expect(events.all == [.waiting, .response(200), .data(1), .finished])
        #expect(world.finish() == [])
    }

    @Test(arguments: [true, false])
    func `a task that waits can be cancelled, and its session ended`(ends: Bool) {
        let world = makeWorld()
        let events = world.get("http://api.test/")
        world.advance(by: .seconds(10))

        if ends { world.session.invalidateAndCancel() } else { events.task.cancel() }
        world.advance(by: .seconds(100))

        #expect(events.all == [.waiting, .failed(.cancelled)])
        #expect(!world.monitor.isWatched)
        #expect(world.finish() == [])
    }

    @Test func `the body of an upload is sent in full once there is a network`() {
        let world = makeWorld()
        var received = 0
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            received = request.body.count
            client.send(VirtualWorld.echo("done"))
        }
        let events = world.send("POST", "http://api.test/", body: Data(count: 300_000))
        world.advance(by: .milliseconds(500))
        #expect(events.all == [.waiting])

        world.set(.accepts, for: "192.0.2.1")
        world.changeNetwork()
        world.run { events.isComplete }

        #expect(events.body == "done" && received == 300_000)
        #expect(world.finish() == [])
    }

    @Test func `a task waits for a network to its proxy too, and asks it as before`() {
        let bench = ProxyBench { configuration in
            configuration.waitsForConnectivity = true
            configuration.proxies = (try? ProxyServer("http://proxy.test:3128")).map { ProxyConfiguration($0) }
        }
        bench.proxy(.echo)
        bench.world.set(.failsAtOnce(ENETUNREACH), for: "192.0.2.1", port: 3128)
        let events = bench.world.get("http://api.test/path")
        bench.world.advance(by: .milliseconds(500))
        #expect(events.all == [.waiting])

        bench.world.set(.accepts, for: "192.0.2.1", port: 3128)
        bench.world.changeNetwork()
        bench.world.run { events.isComplete }

        #expect(events.all.contains(.response(200)))
        let sent = bench.world.network.connections.last.map { String(decoding: $0.received, as: UTF8.self) } ?? ""
        #expect(sent.hasPrefix("GET http://api.test/path HTTP/1.1\r\n"))
        #expect(bench.world.finish() == [])
    }

    // MARK: - Cellular networks

    @Test func `addresses behind a modem are left out when cellular access is not allowed`() throws {
        world.configure { $0.allowsCellularAccess = false }
        world.host("api.test", "2001:db8::1", "192.0.2.1")
        world.serveEcho("api.test")
        world.network.cellular = [try #require(VirtualWorld.address("2001:db8::1"))]

        #expect(world.load("http://api.test/").body == "/")
        #expect(world.network.connections.map(\.address.host) == ["192.0.2.1"])
        world.network.cellular.insert(try #require(VirtualWorld.address("192.0.2.1")))
        var request = URLRequest(url: try #require(URL(string: "http://api.test/2")))
        request.allowsCellularAccess = true
        request.setValue("close", forHTTPHeaderField: "Connection")
        world.session.dataTask(with: request).resume()
        world.advance(by: .seconds(100))
        let events = world.load("http://api.test/3")

        #expect(events.all == [.failed(.dataNotAllowed)])
        #expect(events.error?.loadFailure?.attempts.map(\.outcome) == [.cellular, .cellular])
    }

    @Test func `a request may do without cellular access where its session would not`() throws {
        world.host("api.test", "192.0.2.1")
        world.serveEcho("api.test")
        world.network.cellular = [try #require(VirtualWorld.address("192.0.2.1"))]
        world.load("http://api.test/")
        var request = URLRequest(url: try #require(URL(string: "http://api.test/2")))
        request.allowsCellularAccess = false

        let task = world.session.dataTask(with: request)
        task.resume()
        let events = TaskEvents(task: task, recorder: world.recorder)
        world.run { events.isComplete }

        // The idle connection is by the modem.
        #expect(events.all == [.failed(.dataNotAllowed)])
    }

    // MARK: - Kinds of traffic

    @Test func `the service type of a request marks its connection, which serves no other type`() throws {
        world.configure { $0.networkServiceType = .background }
        world.serveEcho("api.test")
        world.load("http://api.test/1")
        var request = URLRequest(url: try #require(URL(string: "http://api.test/2")))
        request.networkServiceType = .voice
        let task = world.session.dataTask(with: request)
        task.resume()
        let events = TaskEvents(task: task, recorder: world.recorder)
        world.run { events.isComplete }
        world.load("http://api.test/3")

        #expect(events.body == "/2")
        #expect(world.network.options.map(\.link.trafficClass) == [1 << 2, 46 << 2])
        #expect(world.network.options.map(\.link.priority) == [1, 6])
    }
}
