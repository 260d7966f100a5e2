import Dispatch

extension NetworkReachabilityManager {
    /// Chosen for `NetworkReachabilityManager()` only as long as there is no initializer without arguments.
    fileprivate convenience init(inPlaceOfTheMissingOne isMissing: Void = ()) {
        self.init(forDomain: "missing.test")
    }
}

/// Section 13.9 of the behaviour, on the machine the tests run on: its loopback interface is all they need.
@Suite(.timeLimit(.minutes(1)))
struct ReachabilityCatalogueTests {
    /// Where callbacks are made: the main queue belongs to the test runner.
    private let queue = DispatchQueue(label: "ReachabilityCatalogueTests")

    private func domainManager() -> NetworkReachabilityManager {
        let manager = NetworkReachabilityManager.manager(forDomain: "localhost")
        manager.callbackQueue = queue
        return manager
    }

    private func addressManager() throws -> NetworkReachabilityManager {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let manager = withUnsafePointer(to: &address) {
            NetworkReachabilityManager.manager(forAddress: UnsafeRawPointer($0))
        }
        manager.callbackQueue = queue
        return manager
    }

    /// The status of the first notification of a manager, and what else its user info has.
    private func firstNotification(of manager: NetworkReachabilityManager) async throws -> (Int, isPoster: Bool) {
        let (stream, heard) = AsyncStream.makeStream(of: (Int, Bool).self)
        let center = NotificationCenter.default
        let name = Notification.Name("com.alamofire.networking.reachability.change")
        let observer = center.addObserver(forName: name, object: manager, queue: nil) { [weak manager] notification in
            let status = notification.userInfo?["AFNetworkingReachabilityNotificationStatusItem"] as? Int
            heard.yield((status ?? -100, notification.object as AnyObject === manager))
        }
        defer { center.removeObserver(observer) }
        manager.startMonitoring()
        for await first in stream { return first }
        return (-100, false)
    }

    private func firstBlock(of manager: NetworkReachabilityManager) async -> NetworkReachabilityStatus? {
        let (stream, heard) = AsyncStream.makeStream(of: NetworkReachabilityStatus.self)
        manager.setReachabilityStatusChange { heard.yield($0) }
        manager.startMonitoring()
        for await first in stream { return first }
        return nil
    }

    @Test("13.9.1 and 13.9.2 there is no plain init, nor new")
    func plainInit() {
        #expect(NetworkReachabilityManager().reachability.currentPath.status == .unknown)
    }

    @Test("13.9.3 a manager for an address begins as unknown")
    func addressBegins() throws {
        #expect(try addressManager().networkReachabilityStatus == .unknown)
    }

    @Test("13.9.4 a manager for a domain begins as unknown")
    func domainBegins() {
        #expect(domainManager().networkReachabilityStatus == .unknown)
    }

    @Test("13.9.5 a notification says that an address is reachable")
    func addressNotification() async throws {
        let manager = try addressManager()
        #expect(try await firstNotification(of: manager).0 == NetworkReachabilityStatus.reachableViaWiFi.rawValue)
        #expect(manager.isReachable)
    }

    @Test("13.9.6 a notification says that a domain is reachable")
    func domainNotification() async throws {
        let manager = domainManager()
        #expect(try await firstNotification(of: manager).0 == NetworkReachabilityStatus.reachableViaWiFi.rawValue)
        #expect(manager.isReachable)
    }

    @Test("13.9.7 the block is called when an address is reachable")
    func addressBlock() async throws {
        let manager = try addressManager()
        #expect(await firstBlock(of: manager) == .reachableViaWiFi)
        #expect(manager.isReachableViaWiFi)
    }

    @Test("13.9.8 the block is called when a domain is reachable")
    func domainBlock() async {
        let manager = domainManager()
        #expect(await firstBlock(of: manager) == .reachableViaWiFi)
        #expect(manager.isReachableViaWiFi)
    }

    @Test("13.9.9 the object of a notification is its manager")
    func notificationObject() async throws {
        let manager = domainManager()
        #expect(try await firstNotification(of: manager).isPoster)
    }
}
