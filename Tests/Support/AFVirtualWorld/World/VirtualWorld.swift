import AFBase
import AFLoop
import AFTestSupport
package import AFURLSession
@_exported public import AFVirtualSystem
package import Foundation

/// A world of its own for whole sessions: a virtual system, and delegate queues on the test's thread, all from one seed.
///
/// ```swift
/// let world = VirtualWorld()
/// world.script("api.test", .expectRequest, .reply("HTTP/1.1 204 No Content\r\n\r\n"))
/// let events = world.get("http://api.test/")
/// world.run()
/// #expect(events.all == [.response(204), .finished])
/// #expect(world.finish() == [])
/// ```
package final class VirtualWorld: VirtualSystem {
    package let monitor = VirtualMonitor()
    /// The interfaces and routes of the machine.
    package let machine = VirtualMachine()
    private var queues: [VirtualQueue] = []
    private var sessions: [URLSession] = []
    private var usual: (session: URLSession, recorder: EventRecorder, queue: VirtualQueue)?

    /// What sessions find in the environment of their process.
    package var environment: @Sendable () -> [String: String] = { [:] }

    package override init(seed: UInt64 = 1, holdsBack: Int = 0) {
        super.init(seed: seed, holdsBack: holdsBack)
        // The first cookies of a process wait for a real disk, which has no virtual time.
        HTTPCookieStorage.shared.readSuffixes()
    }

    /// Tells the clients of the monitor that the network has changed.
    package func changeNetwork() {
        let monitor = ThreadBound(monitor)
        loop.enqueue { monitor.value.changed() }
    }

    // MARK: - Sessions

    /// A session of this world with a delegate queue of its own.
    package func makeSession(
        delegate: (any URLSessionDelegate)? = nil,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> (session: URLSession, queue: VirtualQueue) {
        let (world, queue) = makeParts()
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil, world: world)
        sessions.append(session)
        return (session, queue)
    }

    /// What a session would touch, for tests without one.
    package func makeWorld() -> World { makeParts().world }

    private func makeParts() -> (world: World, queue: VirtualQueue) {
        let queue = VirtualQueue(
            clock: ThreadBound(clock),
            ready: ThreadBound(ready),
            random: random.fork(1000 + queues.count)
        )
        queues.append(queue)
        add(queue)
        let dice = Lock(random.fork(2000 + queues.count))
        let world = World(
            loop: loop,
            opener: opener,
            resolver: makeResolver(),
            network: LoopBound(MonitorDoor(monitor: ThreadBound(monitor)), on: loop),
            networkSource: machine,
            callbackExecutor: queue,
            workers: workers,
            environment: environment,
            random: { dice.withLock { $0.next() } },
            wallClock: date
        )
        return (world, queue)
    }

    /// Watches the way to a host of this world, or to the internet.
    package func makeMonitor(host: String? = nil) -> (monitor: NetworkMonitor, queue: VirtualQueue) {
        let (world, queue) = makeParts()
        return (NetworkMonitor(host: host, in: world), queue)
    }

    /// The session of `get` and `send`, made when first used.
    package var session: URLSession { usualParts().session }
    package var recorder: EventRecorder { usualParts().recorder }
    package var queue: VirtualQueue { usualParts().queue }

    /// To be called before the usual session is first used.
    package func configure(_ configure: (URLSessionConfiguration) -> Void) {
        precondition(usual == nil, "the session has been made")
        let recorder = EventRecorder()
        let (session, queue) = makeSession(delegate: recorder, configure)
        usual = (session, recorder, queue)
    }

    private func usualParts() -> (session: URLSession, recorder: EventRecorder, queue: VirtualQueue) {
        if let usual { return usual }
        configure { _ in }
        return usualParts()
    }

    // MARK: - Requests

    /// Starts a request.
    package func get(_ url: String, idleTimeout: Duration? = nil, priority: Float? = nil) -> TaskEvents {
        send("GET", url, idleTimeout: idleTimeout, priority: priority)
    }

    /// Runs a request to its end.
    @discardableResult
    package func load(_ url: String) -> TaskEvents {
        let events = get(url)
        run { events.isComplete }
        return events
    }

    package func send(
        _ method: String,
        _ url: String,
        body: Data? = nil,
        fields: [String: String] = [:],
        idleTimeout: Duration? = nil,
        priority: Float? = nil
    ) -> TaskEvents {
        let events = make(method, url, body: body, fields: fields, idleTimeout: idleTimeout)
        if let priority { events.task.priority = priority }
        events.task.resume()
        return events
    }

    /// Makes a task and does not start it.
    package func make(
        _ method: String,
        _ url: String,
        body: Data? = nil,
        fields: [String: String] = [:],
        idleTimeout: Duration? = nil
    ) -> TaskEvents {
        var request = URLRequest(url: URL(string: url) ?? URL(fileURLWithPath: "/"))
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        if let idleTimeout { request.timeoutInterval = Double(idleTimeout.saturatingNanoseconds) / 1e9 }
        return TaskEvents(task: session.dataTask(with: request), recorder: recorder)
    }

    // MARK: - The end

    /// Invalidates every session, lets everything come to its end, and says what did
    /// not: an empty list is what a test expects.
    ///
    /// - Parameter expectsRelease: The test holds no reference to a session or a task, so the
    ///   sessions must be gone.
    package func finish(expectsRelease: Bool = false) -> [String] {
        for session in sessions { session.invalidateAndCancel() }
        let weakly = sessions.map { WeakReference($0) }
        sessions = []
        usual = nil
        for queue in queues { queue.goOn() }
        run(limit: .seconds(24 * 3600))
        let found = leftovers(besides: [
            "watches of the network": monitor.isWatched ? 1 : 0, "callbacks": queues.reduce(0) { $0 + $1.count },
        ])
        let alive = weakly.count { $0.object != nil }
        return found + (expectsRelease && alive > 0 ? ["\(alive) sessions are still alive"] : [])
    }
}

private struct WeakReference {
    weak var object: URLSession?

    init(_ object: URLSession) {
        self.object = object
    }
}
