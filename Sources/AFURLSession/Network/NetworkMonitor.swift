import AFBase
import AFLoop
public import Dispatch

/// Watches the network of this machine, or its route to one host or address.
///
/// ```swift
/// let monitor = NetworkMonitor()
/// print(monitor.currentPath.status)
/// for await path in monitor.paths {
///     print(path.status, path.interface?.name ?? "-", path.reason ?? "")
/// }
/// ```
///
/// The kernel reports each change (by netlink, on the network thread); then the monitor reads the whole state from it.
/// The monitor sends no packets, except to look up a host's name. Changes come in bursts: it reports 200 ms after the
/// first change of a burst, once, and only if the path differs from the one before.
///
/// It looks the name of a host up when you begin to watch, and after changes, but at most every 5 seconds. While the
/// lookup fails, it tries again after 1, 2, 4 … 60 seconds. A host without addresses cannot be reached.
///
/// Safe to use from any thread. A monitor that is not watched costs nothing.
public final class NetworkMonitor: Sendable {
    private let target: PathTarget
    private let world: World
    /// What the observers' lookups have found last.
    private let finding = Lock(HostFinding.pending)

    package init(host: String?, in world: World) {
        target = host.map(PathTarget.init(host:)) ?? .machine
        self.world = world
    }

    package init(address: NetworkAddress, in world: World) {
        target = PathTarget(address)
        self.world = world
    }

    /// Watches the route to the internet.
    public convenience init() {
        self.init(host: nil, in: .system)
    }

    /// Watches the route to a host.
    ///
    /// - Parameter host: Its name, or its address as text. Text that is neither cannot be reached, and the monitor
    ///   looks nothing up for it.
    public convenience init(host: String) {
        self.init(host: host, in: .system)
    }

    /// Watches the route to an address. 0.0.0.0 and :: stand for the internet.
    public convenience init(address: NetworkAddress) {
        self.init(address: address, in: .system)
    }

    /// The path at this moment. Asks the kernel on the calling thread, which takes a fraction of a millisecond.
    ///
    /// It does not look up the name of a host: the status is `unknown` until an observer or a stream of this monitor
    /// has found the addresses.
    public var currentPath: NetworkPath {
        let finding = self.finding.withLock { $0 }
        let addresses = FarAddresses.all + target.knownAddresses + finding.addresses
        return NetworkPath(to: target, finding: finding, in: world.networkSource.read(routesTo: addresses))
    }

    /// Calls `handler` with the path, and again each time it changes.
    ///
    /// The first call comes soon; for a host, as soon as the monitor has looked up its name. In the child of a `fork`,
    /// which has no network thread, it is the only one.
    ///
    /// - Parameters:
    ///   - queue: The queue that calls `handler`, one call at a time and in order. A concurrent queue is used as if it
    ///   were serial.
    ///   - handler: Takes the path.
    /// - Returns: The observation. Keep it for as long as the calls should come.
    public func observe(
        on queue: DispatchQueue,
        _ handler: @escaping @Sendable (NetworkPath) -> Void
    ) -> Observation {
        let executor = world.callbackExecutor
        let subscriber = PathSubscriber(target: target, finding: finding)
        let lane = DispatchQueue(label: "AFURLSession.network", target: queue)
        subscriber.begin { [weak subscriber] path in
            // Looks on the queue whether the observation is over, so that no call comes after its end.
            let call: @Sendable () -> Void = { [weak subscriber] in if subscriber?.isOver == false { handler(path) } }
            if let executor { executor.run([.block(call)]) } else { lane.async(execute: call) }
        }
        return Observation(subscriber: subscriber, in: world, current: { [self] in currentPath })
    }

    /// The path, and then each other one.
    ///
    /// Every stream watches by itself, from the moment it is made until its reader stops; it needs neither a queue nor
    /// the monitor. A slow reader misses paths in between, but never the latest.
    public var paths: AsyncStream<NetworkPath> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let subscriber = PathSubscriber(target: target, finding: finding)
            subscriber.begin { continuation.yield($0) }
            let observation = Observation(subscriber: subscriber, in: world, current: { [self] in currentPath })
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}

extension NetworkMonitor {
    /// An observer of a path. It ends when you cancel it, or release it.
    public final class Observation: Sendable {
        private let subscriber: PathSubscriber
        private let world: World

        fileprivate init(subscriber: PathSubscriber, in world: World, current: @Sendable () -> NetworkPath) {
            self.subscriber = subscriber
            self.world = world
            guard world.unavailability() == nil else {
                // There is no network thread to report changes: deliver what the kernel says now.
                subscriber.deliver(current())
                return
            }
            world.enqueue { [world] in world.paths.value.add(subscriber) }
        }

        /// Ends the observation. No call begins after this returns, except one that another thread is about to make;
        /// called on the serial queue of the calls, not even that one. Calling it again does nothing.
        public func cancel() {
            guard subscriber.end() else { return }
            world.enqueue { [world, subscriber] in world.paths.value.remove(subscriber) }
        }

        deinit {
            cancel()
        }
    }
}
