import AFFaults

/// A world like the system's, with a loop and a thread of its own that end with the
/// test: whatever the engine opens must be closed again.
final class OwnWorld: Sendable {
    let world: World
    private static let isWarm = Lock(false)
    private let isStopped = Watched(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - names: Who finds names in place of the system.
    ///   - wallClock: What certificates live by in place of the system's clock.
    ///   - workers: Who does what may wait for a disk.
    ///   - stackSize: What the thread has, in bytes, if it is not as much as usual.
    init(
        names: HeldNames? = nil,
        workers: any BlockingWorkers = DispatchWorkers(),
        stackSize: Int? = nil,
        wallClock: @escaping @Sendable () -> WallTime = WallTime.now
    ) {
        let loop = EventLoop(poller: EpollPoller())
        let resolver: any Resolver =
            names.map { LocalResolver($0, loop: loop) } ?? GetaddrinfoResolver(loop: loop)
        world = World(
            loop: loop,
            opener: SocketOpener(),
            resolver: LoopBound(resolver, on: loop),
            workers: workers,
            wallClock: wallClock
        )
        let thread = Thread { [isStopped, hasEnded] in
            loop.serve { isStopped.value }
            hasEnded.signal()
        }
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }

    private func session(
        delegate: (any URLSessionDelegate)?,
        _ configure: (URLSessionConfiguration) -> Void
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil, world: world)
    }

    /// Makes a world, and a session in it for `body`, and waits until its thread has
    /// left the loop.
    ///
    /// The session is gone before the loop stops: what a released session asks of its
    /// loop would stay in the inbox otherwise, and keep the loop alive.
    static func run<Result>(
        delegate: (any URLSessionDelegate)? = nil,
        names: HeldNames? = nil,
        workers: any BlockingWorkers = DispatchWorkers(),
        stackSize: Int? = nil,
        wallClock: @escaping @Sendable () -> WallTime = WallTime.now,
        _ configure: (URLSessionConfiguration) -> Void = { _ in },
        _ body: (URLSession) async throws -> Result
    ) async throws -> Result {
        let own = OwnWorld(names: names, workers: workers, stackSize: stackSize, wallClock: wallClock)
        let sessions = Weak()
        let result = try await own.inSession(delegate, configure) { session in
            sessions.session = session
            return try await body(session)
        }
        try await eventually { sessions.session == nil }
        #expect(own.stop(), "the loop does not stop")
        return result
    }

    /// What a process holds, after Dispatch and the network thread, which the shared
    /// session starts, have opened whatever they open on first use.
    static func leakCheck() async throws -> LeakCheck {
        guard !isWarm.withLock({ $0 }) else { return LeakCheck.now }
        isWarm.withLock { $0 = true }
        let server = try TestServer()
        try await run { session in
            _ = try await session.outcome(of: server.url())
            _ = try await session.data(from: server.url())
            _ = try await URLSession.shared.data(from: server.url())
            // Runs into its timeout, by when Dispatch has the descriptors of its timers.
            _ = try? await Watched(0).wait(seconds: 1) { _ in false }
        }
        server.stop()
        return LeakCheck.now
    }

    private final class Weak {
        weak var session: URLSession?
    }

    private func inSession<Result>(
        _ delegate: (any URLSessionDelegate)?,
        _ configure: (URLSessionConfiguration) -> Void,
        _ body: (URLSession) async throws -> Result
    ) async throws -> Result {
        try await body(session(delegate: delegate, configure))
    }

    func stop() -> Bool {
        world.loop.enqueue { [isStopped] in isStopped.change { $0 = true } }
        defer { world.loop.retire() }
        return hasEnded.wait(timeout: .now() + 10) == .success
    }
}
