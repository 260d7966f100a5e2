package import AFLoop
package import AFTransport
import Foundation

/// Everything that a session uses outside itself: the loop with its clock and poller, a way to open channels, a
/// resolver, and an executor for callbacks.
///
/// Production has one world; tests make their own, with a virtual clock, a scripted network and callbacks in a seeded
/// order, and run whole sessions in it.
package final class World: Sendable {
    package let platform: Platform
    package let loop: EventLoop
    /// Tells tasks that wait for a network when it has changed.
    let network: LoopBound<any ChangeMonitor>
    /// Reads the state of the network.
    let networkSource: any NetworkSource
    /// Knows all subscribers to network paths.
    let paths: LoopBound<PathCenter>
    /// Nil: callbacks run on the session's delegate queue.
    package let callbackExecutor: (any CallbackExecutor)?
    let readBuffer: LoopBound<ReadBuffer>
    /// 64 random bits, not for secrets.
    let random: @Sendable () -> UInt64
    /// The variables of the process. Each session asks once, where it is made.
    let environment: @Sendable () -> [String: String]
    /// Runs interceptors. Nil: the threads of Swift tasks do.
    let interceptorExecutor: (any TaskExecutor)?

    package init(
        loop: EventLoop,
        opener: any ChannelOpener,
        resolver: LoopBound<any Resolver>,
        network: LoopBound<any ChangeMonitor>? = nil,
        networkSource: any NetworkSource = KernelNetwork(),
        callbackExecutor: (any CallbackExecutor)? = nil,
        workers: any BlockingWorkers = DispatchWorkers(),
        environment: (@Sendable () -> [String: String])? = nil,
        random: (@Sendable () -> UInt64)? = nil,
        wallClock: @escaping @Sendable () -> WallTime = WallTime.now
    ) {
        self.loop = loop
        platform = Platform(loop: loop, opener: opener, resolver: resolver, workers: workers, wallClock: wallClock)
        readBuffer = platform.readBuffer
        let changes = network ?? LoopBound(NetlinkMonitor(loop: loop), on: loop)
        self.network = changes
        self.networkSource = networkSource
        let center = PathCenter(
            loop: loop,
            changes: changes,
            resolver: resolver,
            source: networkSource,
            workers: workers
        )
        paths = LoopBound(center, on: loop)
        self.callbackExecutor = callbackExecutor
        self.environment = environment ?? ProxyEnvironment.ofProcess
        self.random = random ?? { .random(in: .min ... .max) }
        interceptorExecutor = callbackExecutor.map(CallbackTaskExecutor.init)
    }

    package var opener: any ChannelOpener { platform.opener }
    package var resolver: LoopBound<any Resolver> { platform.resolver }
    var workers: any BlockingWorkers { platform.workers }
    var wallClock: @Sendable () -> WallTime { platform.wallClock }

    /// From 0 to just below 1, for waits that should differ from client to client.
    func jitter() -> Double { Double(random() >> 11) * 0x1p-53 }

    /// A wait that doubles with each failure, and gets up to a quarter longer at random: clients that lost a server
    /// together do not come back together.
    func backOff(_ wait: Duration, after failures: Int, upTo most: Duration) -> Duration {
        var bounded = max(min(wait, most), .zero)
        // Twenty are enough for a wait of a second to become one of a week.
        for _ in 0..<min(max(failures - 1, 0), 20) { bounded = min(bounded * 2, most) }
        return bounded + bounded * (jitter() / 4)
    }

    /// Why a task that is resumed now could never complete, if so: there is no network thread.
    func unavailability() -> LoadError? {
        guard self === World.system else { return nil }
        if NetworkThread.isLostToFork { return .forked }
        do throws(SystemCallError) {
            try NetworkThread.ensureRunning()
            return nil
        } catch {
            return .noThread(error)
        }
    }

    /// Runs `body` on the loop. If the network thread cannot be started now, `body` runs once a later call has started
    /// it.
    func enqueue(_ body: sending @escaping () -> Void) {
        if self === World.system { try? NetworkThread.ensureRunning() }
        loop.enqueue(body: body)
    }

    /// The machine that the process runs on, served by the network thread.
    package static let system = World(
        loop: NetworkThread.loop,
        opener: SocketOpener(),
        resolver: LoopBound(GetaddrinfoResolver(loop: NetworkThread.loop), on: NetworkThread.loop)
    )
}

/// Runs Swift tasks as callbacks of the session, for tests whose world runs callbacks on the test's own thread.
package final class CallbackTaskExecutor: TaskExecutor {
    private let callbacks: any CallbackExecutor

    package init(_ callbacks: any CallbackExecutor) {
        self.callbacks = callbacks
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        callbacks.run([.block { job.runSynchronously(on: executor) }])
    }
}
