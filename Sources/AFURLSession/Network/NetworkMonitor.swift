import AFBase
import AFLoop
public import Dispatch

/// Watches the network of this machine, as a whole or as far as one host or address is concerned.
///
/// ```swift
/// let monitor = NetworkMonitor()
/// print(monitor.currentPath.status)
/// for await path in monitor.paths {
///     print(path.status, path.interface?.name ?? "-", path.reason ?? "")
/// }
/// ```
///
/// The kernel tells when something has changed (by netlink, on the network thread), and is then asked for everything.
/// Nothing is sent to anybody, but for the lookup of a host's name. Changes come in bursts; they are told 200 ms after
/// the first of a burst, once, and only if the path is another one than before.
///
/// The name of a host is looked up when somebody begins to watch, after changes, but at most every 5 seconds, and after 1, 2,
/// 4 … 60 seconds as long as it is not found. A host that cannot be looked up cannot be reached.
///
/// Safe to use from any thread. A monitor at rest costs nothing.
public final class NetworkMonitor: Sendable {
    private let target: PathTarget
    private let world: World
    /// What those who watch have found out last.
    private let finding = Lock(HostFinding.pending)

    package init(host: String?, in world: World) {
        target = host.map(PathTarget.init(host:)) ?? .machine
        self.world = world
    }

    package init(address: NetworkAddress, in world: World) {
        target = PathTarget(address)
        self.world = world
    }

    /// For the way to the internet.
    public convenience init() {
        self.init(host: nil, in: .system)
    }

    /// For the way to a host.
    ///
    /// - Parameter host: Its name, or its address as text. One that cannot be a host cannot be reached; nothing is
    ///   looked up for it.
    public convenience init(host: String) {
        self.init(host: host, in: .system)
    }

    /// For the way to an address. 0.0.0.0 and :: stand for the internet.
    public convenience init(address: NetworkAddress) {
        self.init(address: address, in: .system)
    }

    /// The path at this moment. The kernel is asked, on the calling thread; that takes a fraction of a millisecond.
    ///
    /// The name of a host is not looked up for it: before somebody who watches has found its addresses the status is
    /// `unknown`.
    public var currentPath: NetworkPath {
        let finding = self.finding.withLock { $0 }
        let addresses = FarAddresses.all + target.knownAddresses + finding.addresses
        return NetworkPath(to: target, finding, in: world.networkSource.read(routesTo: addresses))
    }

    /// Calls `handler` with the path, and again with each other one.
    ///
    /// The first call comes soon; for a host, as soon as its name has been looked up. In the child of a `fork`, which
    /// has no network thread, it is the only one.
    ///
    /// - Parameters:
    ///   - queue: Where `handler` is called, one call at a time and in order. A concurrent queue is used as if it were serial.
    ///   - handler: Is given the path.
    /// - Returns: What to keep for as long as the calls should come.
    public func observe(
        on queue: DispatchQueue,
        _ handler: @escaping @Sendable (NetworkPath) -> Void
    ) -> Observation {
        let executor = world.callbackExecutor
        let subscriber = PathSubscriber(target, finding)
        let lane = DispatchQueue(label: "AFURLSession.network", target: queue)
        subscriber.begin { [weak subscriber] path in
            // Looked at again where it is called, so that nothing comes after the end.
            let call: @Sendable () -> Void = { [weak subscriber] in if subscriber?.isOver == false { handler(path) } }
            if let executor { executor.run([.block(call)]) } else { lane.async(execute: call) }
        }
        return Observation(subscriber, in: world, current: { [self] in currentPath })
    }

    /// The path, and then each other one.
    ///
    /// Every stream watches for itself, from the moment it is made until nobody reads it any more; it needs neither a
    /// queue nor the monitor. Who reads slowly misses what lies in between, never the latest.
    public var paths: AsyncStream<NetworkPath> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let subscriber = PathSubscriber(target, finding)
            subscriber.begin { continuation.yield($0) }
            let observation = Observation(subscriber, in: world, current: { [self] in currentPath })
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}

extension NetworkMonitor {
    /// The interest in a path. It ends when it is cancelled, or let go of.
    public final class Observation: Sendable {
        private let subscriber: PathSubscriber
        private let world: World

        fileprivate init(_ subscriber: PathSubscriber, in world: World, current: @Sendable () -> NetworkPath) {
            self.subscriber = subscriber
            self.world = world
            guard world.unavailability() == nil else {
                // Nobody will look for us: what can be known is told at once.
                subscriber.deliver(current())
                return
            }
            world.enqueue { [world] in world.paths.value.add(subscriber) }
        }

        /// No call begins after this one has returned, but for one that another thread is about to make. On the serial
        /// queue of the calls themselves there is none. Calling it again does nothing.
        public func cancel() {
            guard subscriber.end() else { return }
            world.enqueue { [world, subscriber] in world.paths.value.remove(subscriber) }
        }

        deinit {
            cancel()
        }
    }
}
