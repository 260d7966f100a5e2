@Suite("Watching the network")
struct NetworkMonitorTests {
    private let world = VirtualWorld()

    private func plug(_ name: String = "eth0", _ kind: InterfaceKind = .wired, index: Int32 = 2) {
        world.machine.set(InterfaceState(index: index, name: name, kind: kind))
        world.machine.setDefaultRoute(by: index)
    }

    private func observe(
        _ monitor: NetworkMonitor
    ) -> (heard: Heard<NetworkPath>, observation: NetworkMonitor.Observation) {
        let heard = Heard<NetworkPath>()
        return (heard, monitor.observe(on: .global()) { heard.add($0) })
    }

    private func change(_ duration: Duration = .milliseconds(10)) {
        world.changeNetwork()
        world.advance(by: duration)
    }

    @Test("the present path is told first, and once, T-NET-07")
    func firstValue() {
        plug()
        let (monitor, _) = world.makeMonitor()
        #expect(monitor.currentPath.status == .satisfied)
        let (heard, observation) = observe(monitor)
        #expect(heard.all.isEmpty)

        world.advance(by: .seconds(1000))

        #expect(heard.all == [monitor.currentPath])
        observation.cancel()
        #expect(world.finish() == [])
    }

    @Test("only another path is told, and the last one always, T-NET-06")
    func onlyChanges() {
        let (monitor, _) = world.makeMonitor()
        let (heard, observation) = observe(monitor)
        world.settle()
        for _ in 1...10 { change() }
        #expect(heard.all.map(\.status) == [.unsatisfied])

        plug()
        change()
        world.machine.remove(2)
        change()
        for number in 1...50 {
            // There and gone between two looks.
            world.machine.set(InterfaceState(index: 9, name: "veth\(number)", kind: .wired))
            world.machine.remove(9)
            change()
        }
        plug("wwan0", .cellular)
        change()

        #expect(heard.all.map(\.status) == [.unsatisfied, .satisfied, .unsatisfied, .satisfied])
        #expect(heard.all.map { $0.interface?.name ?? "-" } == ["-", "eth0", "-", "wwan0"])
        observation.cancel()
        #expect(world.finish() == [])
    }

    @Test func `one reading at a time serves all who watch, and changes meanwhile mean one more`() {
        let monitors = (0..<5).map { _ in world.makeMonitor().monitor }
        world.workers.take(.milliseconds(50))
        let heard = monitors.map(observe)
        world.advance(by: .seconds(1))
        let before = world.machine.readings

        // The worker has not yet read the state after the first of them when the others come.
        for _ in 1...20 { world.changeNetwork() }
        plug()
        world.advance(by: .seconds(1))

        // Each monitor is in a world of its own here, of which each reads at most twice.
        #expect(world.machine.readings - before <= 2 * monitors.count)
        #expect(heard.allSatisfy { $0.heard.all.map(\.status) == [.unsatisfied, .satisfied] })
        heard.forEach { $0.observation.cancel() }
        #expect(world.finish() == [])
    }

    @Test("an observer may end its own watching, and nothing comes after that, T-NET-07")
    func endInside() {
        let (monitor, _) = world.makeMonitor()
        let heard = Heard<NetworkPath>()
        let kept = Lock<NetworkMonitor.Observation?>(nil)
        let observation = monitor.observe(on: .global()) { path in
            heard.add(path)
            kept.withLock { $0 }?.cancel()
        }
        kept.withLock { $0 = observation }
        world.settle()
        plug()
        change()

        #expect(heard.all.map(\.status) == [.unsatisfied])
        #expect(!world.monitor.isWatched)
        kept.withLock { $0 = nil }
        #expect(world.finish() == [])
    }

    @Test("a call that waits when the watching ends is not made, T-NET-07")
    func endWhileWaiting() {
        let (monitor, queue) = world.makeMonitor()
        var kept: NetworkMonitor.Observation?
        let heard = Heard<NetworkPath>()
        kept = monitor.observe(on: .global()) { heard.add($0) }
        queue.stop()
        world.settle()
        #expect(kept != nil && queue.count == 1)

        // Let go of, not cancelled.
        kept = nil
        queue.goOn()
        world.run()

        #expect(heard.all.isEmpty)
        #expect(!world.monitor.isWatched)
        #expect(world.finish() == [])
    }

    @Test func `watching may end before it has begun, and begin again`() {
        let (monitor, _) = world.makeMonitor()
        for _ in 1...100 { observe(monitor).observation.cancel() }
        let (heard, observation) = observe(monitor)
        observation.cancel()
        observation.cancel()
        let (again, second) = observe(monitor)
        world.settle()

        #expect(heard.all.isEmpty)
        #expect(again.all.map(\.status) == [.unsatisfied])
        second.cancel()
        world.settle()
        #expect(!world.monitor.isWatched)
        #expect(world.finish() == [])
    }

    @Test("a reading that fails is tried again, and what was true stays meanwhile, T-NET-02, T-NET-09")
    func failures() {
        plug()
        let (monitor, _) = world.makeMonitor()
        let (heard, observation) = observe(monitor)
        world.settle()
        world.machine.fail(.unsettled, times: 2)
        change()
        #expect(heard.all.map(\.status) == [.satisfied])

        world.machine.remove(2)
        world.advance(by: .seconds(4))
        #expect(heard.all.map(\.status) == [.satisfied, .unsatisfied])

        world.machine.fail(.refused(SystemCallError(.netlink, code: 1)), times: 100)
        change()
        #expect(heard.all.map(\.status) == [.satisfied, .unsatisfied, .unknown])
        let before = world.machine.readings
        world.advance(by: .seconds(600))
        // After 1, 3, 7, 15, 31, 63, 123 seconds, and every minute from there.
        #expect(world.machine.readings - before == 14)
        world.machine.succeed()
        world.advance(by: .seconds(60))
        #expect(heard.all.map(\.status).last == .unsatisfied && heard.all.count == 4)
        observation.cancel()
        #expect(world.finish() == [])
    }

    // MARK: - Hosts

    @Test func `a host is looked up first, and its status is unknown until then`() {
        plug()
        world.host("api.test", "192.0.2.1", after: .seconds(2))
        let (monitor, _) = world.makeMonitor(host: "API.test")
        #expect(monitor.currentPath.status == .unknown)
        let (heard, observation) = observe(monitor)
        world.advance(by: .seconds(1))
        #expect(heard.all.isEmpty && monitor.currentPath.reason == "api.test has not been looked up yet")

        world.advance(by: .seconds(2))

        #expect(heard.all.map(\.status) == [.satisfied])
        #expect(monitor.currentPath == heard.all.last)
        #expect(world.resolver.names == ["api.test"])
        observation.cancel()
        #expect(world.finish() == [])
    }

    @Test func `a host that cannot be looked up is not reachable, and is looked up again`() {
        plug()
        let (monitor, _) = world.makeMonitor(host: "api.test")
        let (heard, observation) = observe(monitor)
        world.advance(by: .seconds(600))
        #expect(heard.all.map(\.status) == [.unsatisfied])
        // At 0, 1, 3, 7, 15, 31, 63, 123 and every minute from there.
        #expect(world.resolver.names.count == 15)

        world.host("api.test", "192.0.2.1")
        change(.seconds(2))
        #expect(heard.all.map(\.status) == [.unsatisfied, .satisfied])
        let before = world.resolver.names.count
        world.advance(by: .seconds(1000))
        #expect(world.resolver.names.count == before)
        observation.cancel()
        #expect(world.finish() == [])
    }

    @Test("a name is looked up every five seconds at most, however much the network changes, T-NET-11")
    func rate() {
        plug()
        world.host("api.test", "192.0.2.1")
        let (monitor, _) = world.makeMonitor(host: "api.test")
        let (heard, observation) = observe(monitor)
        world.settle()
        for _ in 1...100 { change(.milliseconds(200)) }

        // In 20 seconds.
        #expect((4...5).contains(world.resolver.names.count))
        #expect(heard.all.map(\.status) == [.satisfied])
        // Routes do not wait for a name.
        world.machine.set(.refused(101), for: "192.0.2.1")
        change()
        #expect(heard.all.map(\.status) == [.satisfied, .unsatisfied])
        observation.cancel()
        #expect(world.finish() == [])
    }

    @Test func `a host that has moved is looked for where it is now`() {
        plug()
        world.host("api.test", "192.0.2.1")
        world.machine.set(.refused(101), for: "192.0.2.1")
        let (monitor, _) = world.makeMonitor(host: "api.test")
        let (heard, observation) = observe(monitor)
        world.settle()
        world.host("api.test", "192.0.2.2")
        change(.seconds(6))

        #expect(heard.all.map(\.status) == [.unsatisfied, .satisfied])
        observation.cancel()
        #expect(world.finish() == [])
    }

    @Test func `a change during a lookup means another one`() {
        plug()
        world.host("api.test", "192.0.2.1", after: .seconds(3))
        world.machine.set(.refused(101), for: "192.0.2.1")
        let (monitor, _) = world.makeMonitor(host: "api.test")
        let (heard, observation) = observe(monitor)
        world.advance(by: .seconds(1))
        change()
        world.advance(by: .seconds(2))
        world.host("api.test", "192.0.2.2")
        world.advance(by: .seconds(10))

        #expect(world.resolver.names.count == 2)
        #expect(heard.all.map(\.status) == [.unsatisfied, .satisfied])
        observation.cancel()
        #expect(world.finish() == [])
    }

    @Test("a lookup without a client is given up, and that of an invalid name is never begun, T-NET-11")
    func lookups() {
        world.host("api.test", "192.0.2.1", after: .seconds(20))
        let (monitor, _) = world.makeMonitor(host: "api.test")
        let (heard, observation) = observe(monitor)
        world.advance(by: .seconds(1))
        #expect(world.resolver.waiting == 1)
        observation.cancel()
        world.settle()
        #expect(world.resolver.waiting == 0 && heard.all.isEmpty)

        let (nonsense, second) = observe(world.makeMonitor(host: "no host at all").monitor)
        world.settle()
        #expect(nonsense.all.map(\.status) == [.unsatisfied])
        #expect(world.resolver.names == ["api.test"])
        second.cancel()
        #expect(world.finish() == [])
    }

    @Test func `a name service that is overloaded says nothing about a name`() {
        plug()
        world.resolver.set(.init(.failure(ResolutionFailure(kind: .overloaded, message: "too many"))), for: "api.test")
        let (monitor, _) = world.makeMonitor(host: "api.test")
        let (heard, observation) = observe(monitor)
        world.advance(by: .milliseconds(500))
        #expect(heard.all.isEmpty)

        world.host("api.test", "192.0.2.1")
        world.advance(by: .seconds(1))
        #expect(heard.all.map(\.status) == [.satisfied])
        observation.cancel()
        #expect(world.finish() == [])
    }

    // MARK: - Streams and advice

    @Test func `a stream watches without its monitor, for as long as the caller holds it`() {
        plug()
        var stream: AsyncStream<NetworkPath>? = world.makeMonitor().monitor.paths
        world.settle()
        world.machine.remove(2)
        change()
        #expect(stream != nil && world.monitor.isWatched)

        stream = nil
        world.settle()

        #expect(!world.monitor.isWatched)
        #expect(world.finish() == [])
    }

    @Test("requests do not ask whether the network is reachable, T-NET-10")
    func advice() {
        world.serveEcho("api.test")
        let (heard, observation) = observe(world.makeMonitor(host: "api.test").monitor)
        world.machine.fail(.refused(SystemCallError(.netlink, code: 1)))
        world.settle()
        #expect(heard.all.map(\.status) == [.unknown])
        world.advance(by: .seconds(2))
        #expect(heard.all.map(\.status) == [.unknown, .unsatisfied])

        #expect(world.load("http://api.test/").body == "/")
        observation.cancel()
        #expect(world.finish() == [])
    }
}
