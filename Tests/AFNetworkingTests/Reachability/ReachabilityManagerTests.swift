import AFBase
import AFLoop
import AFVirtualWorld
import Dispatch

@Suite struct ReachabilityManagerTests {
    /// What a manager reports, in order, by its block and its notifications.
    private final class Tape: Sendable {
        enum Entry: Sendable, Equatable {
            case block(NetworkReachabilityStatus, seen: NetworkReachabilityStatus?)
            case notification(Int?, isPoster: Bool)
        }

        private let list = Lock<[Entry]>([])

        var entries: [Entry] { list.withLock { $0 } }

        var statuses: [NetworkReachabilityStatus] {
            entries.compactMap { entry in if case .block(let status, _) = entry { status } else { nil } }
        }

        func add(_ entry: Entry) {
            list.withLock { $0.append(entry) }
        }
    }

    private let world = VirtualWorld()
    private let queue = DispatchQueue(label: "ReachabilityManagerTests")

    private func makeManager(host: String? = nil) -> (manager: NetworkReachabilityManager, tape: Tape) {
        let manager = NetworkReachabilityManager(reachability: world.makeMonitor(host: host).monitor)
        manager.callbackQueue = queue
        let tape = Tape()
        manager.setReachabilityStatusChange { [weak manager] status in
            tape.add(.block(status, seen: manager?.networkReachabilityStatus))
        }
        return (manager, tape)
    }

    private func plug(_ kind: InterfaceKind = .wired) {
        world.machine.set(InterfaceState(index: 2, name: "if2", kind: kind))
        world.machine.setDefaultRoute(by: 2)
    }

    /// Waits until all pending reports have arrived.
    private func settle() {
        world.changeNetwork()
        world.advance(by: .milliseconds(10))
        queue.sync {}
    }

    @Test("a status is told after a start although nothing changes, 14 reachability: initial callback, T-NET-07")
    func initialCallback() {
        plug()
        let (manager, tape) = makeManager()
        #expect(manager.networkReachabilityStatus == .unknown)

        manager.startMonitoring()
        // At once, and before the first call.
        #expect(manager.networkReachabilityStatus == .reachableViaWiFi && tape.entries.isEmpty)
        for _ in 1...3 { settle() }

        #expect(tape.entries == [.block(.reachableViaWiFi, seen: .reachableViaWiFi)])
        manager.stopMonitoring()
        #expect(world.finish() == [])
    }

    @Test("only a cellular modem is WWAN", arguments: [InterfaceKind.wired, .wifi, .virtual, .cellular])
    func kinds(kind: InterfaceKind) {
        plug(kind)
        let (manager, _) = makeManager()
        manager.startMonitoring()

        #expect(manager.isReachable)
        #expect(manager.isReachableViaWWAN == (kind == .cellular) && manager.isReachableViaWiFi == (kind != .cellular))
        world.machine.remove(2)
        manager.startMonitoring()
        #expect(!manager.isReachable && !manager.isReachableViaWWAN && !manager.isReachableViaWiFi)
        manager.stopMonitoring()
        #expect(manager.networkReachabilityStatus == .notReachable)
    }

    @Test("changes are told in their order, block before notification, 14 reachability: ordered delivery")
    func order() throws {
        let (manager, tape) = makeManager()
        let observer = NotificationCenter.default.addObserver(
            forName: .networkingReachabilityDidChange,
            object: manager,
            queue: nil
        ) { [weak manager] notification in
            let status = notification.userInfo?[NetworkReachabilityManager.statusKey] as? NSNumber
            tape.add(.notification(status?.intValue, isPoster: notification.object as AnyObject === manager))
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        manager.startMonitoring()
        settle()
        // The queue is slower than the network.
        queue.suspend()
        for kind in [InterfaceKind.wired, .cellular, .wifi] {
            plug(kind)
            world.changeNetwork()
            world.advance(by: .milliseconds(10))
        }
        world.machine.remove(2)
        world.changeNetwork()
        world.advance(by: .milliseconds(10))
        queue.resume()
        settle()

        let expected: [NetworkReachabilityStatus] = [
            .notReachable, .reachableViaWiFi, .reachableViaWWAN, .reachableViaWiFi, .notReachable,
        ]
        #expect(tape.statuses == expected)
        let notifications = tape.entries.filter { if case .notification = $0 { true } else { false } }
        #expect(notifications == expected.map { .notification($0.rawValue, isPoster: true) })
        for (index, entry) in tape.entries.enumerated() {
            if case .notification = entry { #expect(index % 2 == 1) } else { #expect(index % 2 == 0) }
        }
        manager.stopMonitoring()
        #expect(world.finish() == [])
    }

    @Test("equal statuses of different paths are told")
    func equalStatuses() {
        plug()
        let (manager, tape) = makeManager()
        manager.startMonitoring()
        settle()
        plug(.wifi)
        settle()
        world.machine.set(InterfaceState(index: 5, name: "br0", kind: .wired))
        settle()

        #expect(tape.statuses == [.reachableViaWiFi, .reachableViaWiFi, .reachableViaWiFi])
        manager.stopMonitoring()
        #expect(world.finish() == [])
    }

    @Test("a domain stays unknown until it is looked up, 14 reachability: begins as unreachable, no query in init")
    func domain() {
        plug()
        world.host("api.test", "192.0.2.1", after: .seconds(3))
        let (manager, tape) = makeManager(host: "api.test")
        world.advance(by: .seconds(1))
        #expect(world.resolver.names.isEmpty && world.machine.readings == 0)

        manager.startMonitoring()
        world.advance(by: .seconds(1))
        #expect(manager.networkReachabilityStatus == .unknown && tape.entries.isEmpty)
        world.advance(by: .seconds(3))
        queue.sync {}

        #expect(tape.entries == [.block(.reachableViaWiFi, seen: .reachableViaWiFi)])
        manager.stopMonitoring()
        #expect(world.finish() == [])
    }

    @Test(
        "a domain that cannot be one is not reachable, 14 reachability: invalid host names",
        arguments: [
            "", " ", "http://api.test/path", "a\0b.test", "..", "exämple.test", String(repeating: "x.", count: 400),
        ]
    )
    func invalidNames(name: String) {
        plug()
        let (manager, tape) = makeManager(host: name)
        manager.startMonitoring()
        #expect(manager.networkReachabilityStatus == .notReachable)
        settle()

        #expect(tape.statuses == [.notReachable])
        #expect(world.resolver.names.isEmpty)
        manager.stopMonitoring()
        #expect(world.finish() == [])
    }

    @Test("the kernel does not say: unknown, once, T-NET-09")
    func refused() {
        world.machine.fail(.refused(SystemCallError(.netlink, code: 1)), times: 100)
        let (manager, tape) = makeManager()
        manager.startMonitoring()
        for _ in 1...5 { settle() }

        #expect(manager.networkReachabilityStatus == .unknown)
        #expect(tape.statuses == [.unknown])
        manager.stopMonitoring()
        #expect(world.finish() == [])
    }

    // MARK: - Starting and stopping

    @Test("starting twice is starting anew, and stopping twice is stopping, T-NET-07")
    func twice() {
        let (manager, tape) = makeManager()
        manager.stopMonitoring()
        manager.startMonitoring()
        manager.startMonitoring()
        settle()
        #expect(tape.statuses == [.notReachable])
        manager.stopMonitoring()
        manager.stopMonitoring()
        plug()
        settle()
        #expect(tape.statuses == [.notReachable] && manager.networkReachabilityStatus == .notReachable)
        #expect(!world.monitor.isWatched)

        manager.startMonitoring()
        #expect(manager.networkReachabilityStatus == .reachableViaWiFi)
        settle()
        #expect(tape.statuses == [.notReachable, .reachableViaWiFi])
        manager.stopMonitoring()
        #expect(world.finish() == [])
    }

    @Test("a block may stop its manager, and pending calls are not made, T-NET-07")
    func stopInside() {
        let (manager, tape) = makeManager()
        let notified = Lock(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .networkingReachabilityDidChange,
            object: manager,
            queue: nil
        ) { _ in notified.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(observer) }
        manager.setReachabilityStatusChange { [weak manager] status in
            tape.add(.block(status, seen: nil))
            manager?.stopMonitoring()
        }
        queue.suspend()
        manager.startMonitoring()
        for kind in [InterfaceKind.wired, .cellular] {
            plug(kind)
            world.changeNetwork()
            world.advance(by: .milliseconds(10))
        }
        queue.resume()
        settle()

        #expect(tape.entries.count == 1 && notified.withLock { $0 } == 0)
        #expect(world.finish() == [])
    }

    @Test("observing does not retain a manager, and a released one makes no calls, T-NET-07")
    func released() {
        var made: (manager: NetworkReachabilityManager, tape: Tape)? = makeManager()
        let tape = made?.tape
        weak var gone: NetworkReachabilityManager?
        gone = made?.manager
        queue.suspend()
        made?.manager.startMonitoring()
        world.advance(by: .milliseconds(10))
        #expect(world.monitor.isWatched)

        made = nil
        #expect(gone == nil)
        queue.resume()
        settle()

        #expect(tape?.entries == [])
        #expect(!world.monitor.isWatched)
        #expect(world.finish() == [])
    }

    @Test("a block that is replaced is released")
    func replaced() {
        final class Owned: Sendable {}
        let (manager, _) = makeManager()
        var owned: Owned? = Owned()
        weak var gone: Owned?
        gone = owned
        manager.setReachabilityStatusChange { [owned] _ in _ = owned }
        owned = nil
        #expect(gone != nil)

        manager.setReachabilityStatusChange(nil)
        #expect(gone == nil)
    }

    @Test("T-API-22 observing twice, ending within a call, ending twice and never ending do no harm")
    func oddWatchers() {
        let monitor = world.makeMonitor().monitor
        let tape = Lock<[String]>([])
        let ending = Lock<NetworkMonitor.Observation?>(nil)
        func watch(_ name: String, _ body: @escaping @Sendable () -> Void = {}) -> NetworkMonitor.Observation {
            monitor.observe(on: queue) { _ in
                tape.withLock { $0.append(name) }
                body()
            }
        }
        let twice = [watch("twice"), watch("twice")]
        let once = watch("once") {
            let observation = ending.withLock { $0 }
            observation?.cancel()
            observation?.cancel()
        }
        ending.withLock { $0 = once }
        var forgotten: NetworkMonitor.Observation? = watch("forgotten")
        settle()
        #expect(tape.withLock { $0.sorted() } == ["forgotten", "once", "twice", "twice"] && forgotten != nil)

        forgotten = nil
        twice[0].cancel()
        for kind in [InterfaceKind.wired, .cellular] {
            plug(kind)
            settle()
        }
        #expect(tape.withLock { Array($0[4...]) } == ["twice", "twice"])

        for observation in twice + [once] { observation.cancel() }
        world.settle()
        #expect(!world.monitor.isWatched)
        #expect(world.finish() == [])
    }

    @Test("T-API-22 a block and an observer may be released within their calls")
    func leavingInside() {
        let (manager, tape) = makeManager()
        let token = Lock<(any NSObjectProtocol)?>(nil)
        let notified = Lock(0)
        for _ in 1...2 {
            let own = NotificationCenter.default.addObserver(
                forName: .networkingReachabilityDidChange,
                object: manager,
                queue: nil
            ) { _ in
                notified.withLock { $0 += 1 }
                if let first = token.withLock({ $0.take() }) { NotificationCenter.default.removeObserver(first) }
            }
            token.withLock { $0 = own }
        }
        manager.setReachabilityStatusChange { [weak manager] status in
            tape.add(.block(status, seen: nil))
            manager?.setReachabilityStatusChange(nil)
        }
        manager.startMonitoring()
        settle()
        #expect(tape.entries.count == 1)
        let first = notified.withLock { $0 }

        plug()
        settle()
        #expect(tape.entries.count == 1 && notified.withLock { $0 } == first + 1 && (1...2).contains(first))
        manager.stopMonitoring()
        #expect(world.finish() == [])
    }

    @Test("statuses come without a start and without a queue")
    func statuses() throws {
        plug()
        let (manager, tape) = makeManager()
        var stream: AsyncStream<NetworkReachabilityStatus>? = manager.statuses
        settle()
        #expect(stream != nil && world.monitor.isWatched)
        #expect(manager.networkReachabilityStatus == .unknown && tape.entries.isEmpty)
        stream = nil
        world.settle()

        #expect(!world.monitor.isWatched)
        #expect(world.finish() == [])
    }

    // MARK: - Names and forms

    @Test func `statuses have their numbers and texts`() {
        let texts = ["Unknown", "Not Reachable", "Reachable via WWAN", "Reachable via WiFi"]
        for (rawValue, text) in zip(-1...2, texts) {
            let status = NetworkReachabilityStatus(rawValue: rawValue)
            #expect(status?.localizedDescription == text && status?.description == text)
            #expect(status.map(AFStringFromNetworkReachabilityStatus) == text)
        }
        #expect(NetworkReachabilityStatus(rawValue: 3) == nil)
        #expect(NetworkReachabilityManager.manager().localizedNetworkReachabilityStatusString() == "Unknown")
        #expect(NetworkReachabilityManager.statusKey == "AFNetworkingReachabilityNotificationStatusItem")
        #expect(Notification.Name.AFNetworkingReachabilityDidChange == .networkingReachabilityDidChange)
    }

    @Test func `there is one shared manager, and a new one is not started`() {
        #expect(NetworkReachabilityManager.shared === NetworkReachabilityManager.sharedManager())
        #expect(NetworkReachabilityManager.manager().networkReachabilityStatus == .unknown)
        #expect(NetworkReachabilityManager.manager() !== NetworkReachabilityManager.manager())
    }

    @Test func `the factories make subclasses, which may override the status`() {
        final class Optimist: NetworkReachabilityManager, @unchecked Sendable {
            override var networkReachabilityStatus: NetworkReachabilityStatus { .reachableViaWiFi }
        }
        let manager = Optimist.manager(forDomain: "api.test")

        #expect(type(of: manager) == Optimist.self && manager.isReachable)
        #expect(manager.localizedNetworkReachabilityStatusString() == "Reachable via WiFi")
    }

    @Test func `addresses come in several forms`() throws {
        var storage = sockaddr_storage()
        // Of no family at all: nothing is reachable there.
        let nowhere = NetworkReachabilityManager.manager(forAddress: storage)
        nowhere.startMonitoring()
        #expect(nowhere.networkReachabilityStatus == .notReachable)
        storage.ss_family = sa_family_t(AF_INET)
        withUnsafeMutableBytes(of: &storage) { $0[4] = 127 }
        withUnsafeMutableBytes(of: &storage) { $0[7] = 1 }
        let address = try #require(NetworkAddress("::1"))
        let managers = [
            NetworkReachabilityManager.manager(forAddress: storage),
            withUnsafePointer(to: &storage) { .manager(forAddress: UnsafeRawPointer($0)) },
            .manager(forAddress: address), NetworkReachabilityManager(forAddress: address),
            .manager(forDomain: "127.0.0.1"), NetworkReachabilityManager(forDomain: "::1"),
        ]

        // True without a name to look up: the loopback interface of this machine is up.
        for manager in managers {
            manager.startMonitoring()
            #expect(manager.networkReachabilityStatus == .reachableViaWiFi)
            manager.stopMonitoring()
        }
        nowhere.stopMonitoring()
    }
}
