package import AFLoop
import Foundation

/// Everything a session touches outside itself: the loop with its clock and
/// poller, a way to open channels, a resolver, and somewhere to run callbacks.
///
/// Production has one; tests make their own, with a virtual clock, a scripted
/// network and callbacks in a seeded order, and run whole sessions in it.
package final class World: Sendable {
    package let loop: EventLoop
    package let opener: any ChannelOpener
    package let resolver: LoopBound<any Resolver>
    /// Tells those who wait for a network when it has changed.
    let network: LoopBound<any ChangeMonitor>
    /// Tells what there is of a network.
    let networkSource: any NetworkSource
    /// Those who watch it.
    let paths: LoopBound<PathCenter>
    /// Nil: callbacks run on the session's delegate queue.
    package let callbackExecutor: (any CallbackExecutor)?
    /// Where files are read and written, and streams are read.
    let workers: any BlockingWorkers
    let readBuffer: LoopBound<ReadBuffer>
    let tlsBuffers: LoopBound<TLSBuffers>
    let contentPage: LoopBound<ContentPage>
    let handshakeBudget: LoopBound<HandshakeBudget>
    let trustStores = TrustStoreLoader()
    /// Seconds since 1970: certificates live by it.
    let wallClock: @Sendable () -> Int64
    /// 64 random bits, not for secrets.
    let random: @Sendable () -> UInt64
    /// The variables of the process. Asked once by each session, where it is made.
    let environment: @Sendable () -> [String: String]
    /// Where interceptors run. Nil: on the threads of Swift tasks.
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
        wallClock: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) {
        self.loop = loop
        self.opener = opener
        self.resolver = resolver
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
        self.wallClock = wallClock
        self.environment = environment ?? ProxyEnvironment.ofProcess
        self.random = random ?? { .random(in: .min ... .max) }
        interceptorExecutor = callbackExecutor.map(CallbackTaskExecutor.init)
        self.workers = workers
        readBuffer = LoopBound(ReadBuffer(), on: loop)
        tlsBuffers = LoopBound(TLSBuffers(), on: loop)
        contentPage = LoopBound(ContentPage(), on: loop)
        handshakeBudget = LoopBound(HandshakeBudget(), on: loop)
    }

    /// Why a task that is resumed now could never complete, if so: the network thread
    /// does not exist.
    func unavailability() -> TransferError? {
        guard self === World.system else { return nil }
        if NetworkThread.isLostToFork { return .forked }
        do throws(SystemCallError) {
            try NetworkThread.ensureRunning()
            return nil
        } catch {
            return .noThread(error)
        }
    }

    /// Runs `body` on the loop. If the network thread cannot be started now, when a
    /// later call succeeds in starting it.
    func enqueue(_ body: sending @escaping () -> Void) {
        if self === World.system { try? NetworkThread.ensureRunning() }
        loop.enqueue(body)
    }

    /// The machine we run on, served by the network thread.
    package static let system = World(
        loop: NetworkThread.loop,
        opener: SocketOpener(),
        resolver: LoopBound(GetaddrinfoResolver(loop: NetworkThread.loop), on: NetworkThread.loop)
    )
}
