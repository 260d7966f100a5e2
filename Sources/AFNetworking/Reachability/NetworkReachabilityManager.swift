import AFBase
public import Dispatch
public import Foundation

/// Watches whether a host or an address can be reached, and by which kind of network.
///
/// ```swift
/// let manager = NetworkReachabilityManager.manager(forDomain: "api.example.com")
/// manager.setReachabilityStatusChange { status in
///     status.isReachable ? queue.resume() : queue.suspend()
/// }
/// manager.startMonitoring()
/// ```
///
/// It reports what this machine knows about its own network, and sends nothing to find out. Do not use it to decide
/// whether a request is sent. Use it to send one again, or to explain why it failed.
///
/// **Calls.** After ``startMonitoring()`` there is at least one call, even if nothing changes. After that there is one
/// for each change of the network, even if the status remains the same: another address, another interface. The status
/// is set first, then the block is called, then the notification posted, both on ``callbackQueue`` and in the order of
/// the changes. After ``stopMonitoring()`` on that queue, or once the manager is released, there are no calls.
///
/// **The first value.** When ``startMonitoring()`` returns, ``networkReachabilityStatus`` is up to date. Only a status
/// that depends on a host name stays as it was until the name has been looked up.
///
/// Command-line programs whose main thread does not run the main queue set ``callbackQueue``, or read ``statuses``.
///
/// Safe to use, start and stop from any thread.
open class NetworkReachabilityManager: NSObject, @unchecked Sendable {
    /// Called with a status.
    public typealias StatusBlock = @Sendable (NetworkReachabilityStatus) -> Void

    private struct State: Sendable {
        var status = NetworkReachabilityStatus.unknown
        var block: StatusBlock?
        var callbackQueue: DispatchQueue?
        /// Counts starts and stops: an observation that began before the last of them has ended.
        var generation = 0
        var observation: NetworkMonitor.Observation?
    }

    /// Where changes arrive in order, even while the callback queue is busy.
    private static let arrivals = DispatchQueue(label: "AFNetworking.reachability")

    /// What is watched.
    public let reachability: NetworkMonitor
    private let state = Lock(State())

    /// A manager for what `reachability` watches.
    public required init(reachability: NetworkMonitor) {
        self.reachability = reachability
        super.init()
    }

    /// Unavailable: there is nothing to watch. Use `manager()` for the route to the internet.
    @available(*, unavailable, message: "use manager(), manager(forDomain:) or manager(forAddress:)")
    public override init() {
        reachability = NetworkMonitor()
        super.init()
    }

    deinit {
        stopMonitoring()
    }

    // MARK: - Making one

    private static let sharedInstance = NetworkReachabilityManager(reachability: NetworkMonitor())

    /// The manager of the process, for the route to the internet. Start it to watch.
    open class var shared: NetworkReachabilityManager { sharedInstance }

    /// ``shared`` by its other name.
    open class func sharedManager() -> NetworkReachabilityManager { shared }

    /// A manager for the route to the internet, by IPv4 or IPv6.
    open class func manager() -> Self { self.init(reachability: NetworkMonitor()) }

    /// A manager for the route to a host.
    ///
    /// - Parameter domain: The name of the host, or its address as text. One that cannot be a host is not reachable.
    open class func manager(forDomain domain: String) -> Self { self.init(reachability: NetworkMonitor(host: domain)) }

    /// A manager for the route to an address. The unspecified addresses (0.0.0.0, ::) stand for the internet.
    open class func manager(forAddress address: NetworkAddress) -> Self {
        self.init(reachability: NetworkMonitor(address: address))
    }

    /// A manager for the route to an address as system calls use it.
    ///
    /// - Parameter address: A `sockaddr_in` or `sockaddr_in6`. Nothing is reachable at one of another family.
    open class func manager(forAddress address: UnsafeRawPointer) -> Self {
        let address = NetworkAddress(address.assumingMemoryBound(to: sockaddr.self))
        return manager(for: address)
    }

    /// A manager for the route to an address as system calls use it. Nothing is reachable at one of another family than
    /// `AF_INET` and `AF_INET6`.
    open class func manager(forAddress address: sockaddr_storage) -> Self { manager(for: NetworkAddress(address)) }

    private class func manager(for address: NetworkAddress?) -> Self {
        // A host without a name is not reachable.
        guard let address else { return manager(forDomain: "") }
        return manager(forAddress: address)
    }

    /// ``manager(forDomain:)`` as an initializer.
    public convenience init(forDomain domain: String) {
        self.init(reachability: NetworkMonitor(host: domain))
    }

    /// `manager(forAddress:)` as an initializer.
    public convenience init(forAddress address: NetworkAddress) {
        self.init(reachability: NetworkMonitor(address: address))
    }

    // MARK: - The status

    /// The latest status; `unknown` before the first start. It stays after a stop.
    open var networkReachabilityStatus: NetworkReachabilityStatus { state.withLock { $0.status } }

    /// Whether there is a route.
    open var isReachable: Bool { networkReachabilityStatus.isReachable }

    /// Whether there is a route, by a cellular modem.
    open var isReachableViaWWAN: Bool { networkReachabilityStatus == .reachableViaWWAN }

    /// Whether there is a route, by another network than a cellular one.
    open var isReachableViaWiFi: Bool { networkReachabilityStatus == .reachableViaWiFi }

    /// The status as text, in the language of the user.
    open func localizedNetworkReachabilityStatusString() -> String {
        networkReachabilityStatus.localizedDescription
    }

    // MARK: - Observing

    /// Where the block is called and notifications are posted; nil, as it is at first, for the main queue.
    ///
    /// Calls that are already enqueued stay on their queue.
    open var callbackQueue: DispatchQueue? {
        get { state.withLock { $0.callbackQueue } }
        set { state.withLock { $0.callbackQueue = newValue } }
    }

    /// Sets what is called with each status. One takes the place of the other; nil means none.
    @preconcurrency
    open func setReachabilityStatusChange(_ block: StatusBlock?) {
        state.set(\.block, block)
    }

    /// The status, and then that of each change.
    ///
    /// A stream watches by itself, from the moment it is made until its reader stops. It needs neither a start nor a
    /// queue, and does not hold the manager. A slow reader misses values in between, never the latest.
    open var statuses: AsyncStream<NetworkReachabilityStatus> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observation = reachability.observe(on: NetworkReachabilityManager.arrivals) { path in
                continuation.yield(NetworkReachabilityStatus(path))
            }
            continuation.onTermination = { _ in observation.cancel() }
        }
    }

    // MARK: - Watching

    /// Starts watching; starts anew if it is already watching.
    ///
    /// Asks the kernel for the status on the calling thread, which takes a fraction of a millisecond. A name is looked
    /// up on another thread.
    open func startMonitoring() {
        let generation = supersede()
        let status = NetworkReachabilityStatus(reachability.currentPath)
        state.withLock { state in
            if state.generation == generation, status != .unknown { state.status = status }
        }
        let observation = reachability.observe(on: NetworkReachabilityManager.arrivals) { [weak self] path in
            self?.arrived(NetworkReachabilityStatus(path), generation: generation)
        }
        // If another thread has started or stopped it meanwhile, this observation ends here.
        state.withLock { if $0.generation == generation { $0.observation = observation } }
    }

    /// Stops watching. Does nothing if it is not watching.
    open func stopMonitoring() {
        _ = supersede()
    }

    /// Ends the present observation, and returns the generation of the next.
    private func supersede() -> Int {
        let (generation, former) = state.withLock { state in
            defer { state.observation = nil }
            state.generation += 1
            return (state.generation, state.observation)
        }
        former?.cancel()
        return generation
    }

    private func arrived(_ status: NetworkReachabilityStatus, generation: Int) {
        let (isWanted, queue) = state.withLock { state -> (Bool, DispatchQueue?) in
            guard state.generation == generation else { return (false, nil) }
            state.status = status
            return (true, state.callbackQueue)
        }
        if isWanted { MainQueue.async(on: queue) { [weak self] in self?.publish(status, generation: generation) } }
    }

    private func publish(_ status: NetworkReachabilityStatus, generation: Int) {
        let (isOver, block) = state.withLock { ($0.generation != generation, $0.block) }
        guard !isOver else { return }
        block?(status)
        // The block may have stopped it.
        guard state.withLock({ $0.generation == generation }) else { return }
        NotificationCenter.default.post(
            name: .networkingReachabilityDidChange,
            object: self,
            userInfo: [Self.statusKey: NSNumber(value: status.rawValue)]
        )
    }
}

extension Notification.Name {
    /// What a ``NetworkReachabilityManager`` watches has another status, or it has begun to watch. The object is the
    /// manager; the user info has the status under ``NetworkReachabilityManager/statusKey``. Posted on the
    /// manager's ``NetworkReachabilityManager/callbackQueue``.
    public static let networkingReachabilityDidChange = Notification.Name(
        "com.alamofire.networking.reachability.change"
    )
}

extension NetworkReachabilityManager {
    /// The key of the status, a number as in `NetworkReachabilityStatus.rawValue`, in the user info of
    /// `Notification.Name.networkingReachabilityDidChange`.
    public static let statusKey = "AFNetworkingReachabilityNotificationStatusItem"
}
