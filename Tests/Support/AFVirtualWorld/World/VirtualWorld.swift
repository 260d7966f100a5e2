import AFBase
package import AFLoop
import AFTestSupport
package import AFURLSession
package import Foundation

/// A world of its own for whole sessions: clock, network, names and delegate queues,
/// all on the test's thread and all from one seed.
///
/// ```swift
/// let world = VirtualWorld()
/// world.script("api.test", .expectRequest, .reply("HTTP/1.1 204 No Content\r\n\r\n"))
/// let events = world.get("http://api.test/")
/// world.run()
/// #expect(events.all == [.response(204), .finished])
/// #expect(world.finish() == [])
/// ```
package final class VirtualWorld {
    package let seed: UInt64
    package let clock = VirtualClock()
    package let network: VirtualNetwork
    package let resolver: VirtualResolver
    package let monitor = VirtualMonitor()
    /// The interfaces and routes of the machine.
    package let machine = VirtualMachine()
    package let loop: EventLoop
    package let ready: ReadyList
    /// What goes wrong here: nothing, unless the test arms it.
    package let faults: Faults
    /// Who reads and writes files, and reads streams.
    package let workers: VirtualWorkers
    package private(set) var trace: [String] = []

    /// The time of day, where it is virtual.
    package let wall: VirtualWallClock
    private let ends = LoopEnds()
    private var random: SeededGenerator
    private var queues: [VirtualQueue] = []
    private var sessions: [URLSession] = []
    private var usual: (session: URLSession, recorder: EventRecorder, queue: VirtualQueue)?
    private var hosts: [String: [String]] = [:]
    private var tracesTurns = false

    /// What sessions find in the environment of their process.
    package var environment: @Sendable () -> [String: String] = { [:] }

    /// Whether the time of day is virtual as well: it begins on 14 November 2023. Certificates are not made for that.
    package var hasVirtualDate = false

    /// Turns the loop has made.
    package private(set) var turns = 0
    /// The most turns it made without time going on.
    package private(set) var longestStandstill = 0
    private var standstill = 0
    private var lastNow = LoopInstant(nanoseconds: 0)

    /// Part of what is ready is sometimes reported late.
    package let holdsBack: Bool

    package init(seed: UInt64 = 1, holdsBack: Int = 0) {
        self.seed = seed
        self.holdsBack = holdsBack > 0
        random = SeededGenerator(seed: seed)
        faults = Faults(random: random.fork(3))
        wall = VirtualWallClock(clock: clock, faults: faults)
        ready = ReadyList(random: random.fork(1), holdsBack: holdsBack, faults: faults)
        network = VirtualNetwork(clock: clock, ready: ready, random: random.fork(2))
        loop = EventLoop(poller: VirtualPoller(clock: ThreadBound(clock), readiness: ThreadBound(ready)))
        workers = VirtualWorkers(loop: loop, faults: faults)
        resolver = VirtualResolver(clock: clock, faults: faults) { [ends] in ends.loop }
        ends.loop = loop
        for address in VirtualResolver.deadAddresses.prefix(1) { set(.neverAnswers, for: address) }
        // The first cookies of a process wait for a real disk, which has no virtual time.
        HTTPCookieStorage.shared.readSuffixes()
    }

    package var now: LoopInstant { clock.now }

    // MARK: - Hosts

    /// Gives a host its addresses, in the resolver's order.
    package func host(_ name: String, _ addresses: String..., after delay: Duration = .zero) {
        host(name, addresses, after: delay)
    }

    package func host(_ name: String, _ addresses: [String], after delay: Duration = .zero) {
        hosts[name] = addresses
        let found = addresses.compactMap { VirtualWorld.address($0, port: 0) }
        resolver.set(.init(.success(found), after: delay), for: name)
    }

    package static func address(_ text: String, port: UInt16 = 80) -> SocketAddress? {
        SocketAddress(ipv4: text, port: port) ?? SocketAddress(ipv6: text, port: port)
    }

    /// Serves every address of a host. A host not known yet gets one.
    package func serve(_ name: String, port: UInt16 = 80, _ makeProgram: @escaping () -> any ServerProgram) {
        if hosts[name] == nil { host(name, "192.0.2.\(hosts.count + 1)") }
        for text in hosts[name] ?? [] {
            guard let address = VirtualWorld.address(text, port: port) else { continue }
            network.listen(address, host: name, makeProgram)
        }
    }

    package func respond(_ name: String, port: UInt16 = 80, _ answer: @escaping HTTPResponder.Answer) {
        serve(name, port: port) { HTTPResponder(answer) }
    }

    /// Plays the same script on every connection.
    package func script(_ name: String, _ steps: ScriptStep...) {
        serve(name) { ScriptedServer(steps) }
    }

    /// Plays one script after the other, the last one on all further connections.
    package func scripts(_ name: String, _ scripts: [[ScriptStep]]) {
        var next = 0
        serve(name) {
            defer { next += 1 }
            return ScriptedServer(scripts[min(next, scripts.count - 1)])
        }
    }

    package func set(_ reachability: VirtualNetwork.Reachability, for address: String, port: UInt16 = 80) {
        if let address = VirtualWorld.address(address, port: port) { network.set(reachability, for: address) }
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
        let dice = Lock(random.fork(2000 + queues.count))
        let world = World(
            loop: loop,
            opener: VirtualOpener(network: ThreadBound(network)),
            resolver: LoopBound(ResolverDoor(resolver: ThreadBound(resolver)), on: loop),
            network: LoopBound(MonitorDoor(monitor: ThreadBound(monitor)), on: loop),
            networkSource: machine,
            callbackExecutor: queue,
            workers: workers,
            environment: environment,
            random: { dice.withLock { $0.next() } },
            wallClock: hasVirtualDate ? virtualDate : VirtualWorld.realDate
        )
        return (world, queue)
    }

    /// Watches the way to a host of this world, or to the internet.
    package func makeMonitor(host: String? = nil) -> (monitor: NetworkMonitor, queue: VirtualQueue) {
        let (world, queue) = makeParts()
        return (NetworkMonitor(host: host, in: world), queue)
    }

    /// The time of day of this world.
    package var virtualDate: @Sendable () -> Int64 {
        let wall = ThreadBound(wall)
        return { wall.value.seconds() }
    }

    private static let realDate: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }

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

    /// Starts a request.
    package func get(_ url: String, idleTimeout: Duration? = nil, priority: Float? = nil) -> TaskEvents {
        send("GET", url, idleTimeout: idleTimeout, priority: priority)
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

    /// Sessions that outlive the world have nothing to ask of its loop any more.
    deinit {
        network.forgetEverything()
        loop.retire()
    }
}

// MARK: - Time

extension VirtualWorld {
    /// Lets everything happen that will happen by itself within `limit`. Time stays
    /// where the last thing happened.
    package func run(limit: Duration = .seconds(3600)) {
        run(limit: limit) { false }
    }

    /// Runs until `condition` holds, and says whether it came to that.
    @discardableResult
    package func run(limit: Duration = .seconds(3600), until condition: () -> Bool) -> Bool {
        let end = now + limit
        while !condition() {
            guard step(until: end) else { return condition() }
        }
        return true
    }

    /// Runs for exactly this long.
    package func advance(by duration: Duration) {
        let end = now + duration
        while step(until: end) {}
        passTime(until: end)
    }

    /// Runs what can run without time going on.
    package func settle() {
        advance(by: .zero)
    }

    /// One turn of the loop, or one callback. False if nothing more happens before
    /// `end`.
    package func step(until end: LoopInstant) -> Bool {
        let runnable = queues.filter { queue in queue.next.map { $0 <= now } ?? false }
        if !runnable.isEmpty, random.chance(60) {
            let chosen = random.pick(runnable)
            if chosen !== runnable[0] { faults.note(.queueOutOfTurn) }
            chosen.runNext()
            return true
        }
        let callbacks = queues.compactMap(\.next).min() ?? .distantFuture
        turn(horizon: max(now, min(end, callbacks)))
        guard ready.isQuiet else { return true }
        // A turn may have posted callbacks.
        guard let next = queues.compactMap(\.next).min(), next <= max(now, end) else { return false }
        passTime(until: next)
        return true
    }

    /// The loop reads the clock once per turn, so time that passes outside of one
    /// needs a turn to be noticed before a callback acts.
    private func passTime(until end: LoopInstant) {
        guard end > now else { return }
        clock.advance(to: end)
        turn(horizon: now)
    }

    private func turn(horizon: LoopInstant) {
        ready.horizon = horizon
        turns += 1
        standstill = lastNow == now ? standstill + 1 : 0
        lastNow = now
        longestStandstill = max(longestStandstill, standstill)
        loop.runTurn()
    }
}

// MARK: - The end

extension VirtualWorld {
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
        let alive = weakly.count { $0.object != nil }
        return leftovers + (expectsRelease && alive > 0 ? ["\(alive) sessions are still alive"] : [])
    }

    private var leftovers: [String] {
        var found = network.violations + network.ledger.violations
        func expectNone(_ count: Int, _ what: String) {
            if count != 0 { found.append("\(count) \(what) left") }
        }
        expectNone(network.ledger.open, "open descriptors")
        expectNone(ready.watched, "watched descriptors")
        expectNone(loop.registeredChannels, "registered channels")
        expectNone(loop.armedTimers, "armed timers")
        expectNone(resolver.waiting, "lookups")
        expectNone(monitor.isWatched ? 1 : 0, "watches of the network")
        expectNone(queues.reduce(0) { $0 + $1.count }, "callbacks")
        if longestStandstill > 100_000 { found.append("the loop spun \(longestStandstill) times at one moment") }
        return found
    }

    /// Writes down what happens on the network and in the loop.
    package func startTracing() {
        network.tracer = { [unowned self] line in append("\(now.nanoseconds / 1000)us \(line)") }
    }

    /// What is closed in one turn is closed in the order in which dictionaries hold it,
    /// which is another one in each run and of no consequence.
    private func append(_ line: String) {
        guard line.hasSuffix(" closed") else { return trace.append(line) }
        var place = trace.count
        while place > 0, trace[place - 1].hasSuffix(" closed"), trace[place - 1] > line { place -= 1 }
        trace.insert(line, at: place)
    }

    package func note(_ line: @autoclosure () -> String) {
        network.trace(line())
    }
}

/// Breaks the circle of loop, poller and resolver while they are made.
private final class LoopEnds {
    weak var loop: EventLoop?
}

private struct WeakReference {
    weak var object: URLSession?

    init(_ object: URLSession) {
        self.object = object
    }
}

/// One resolver behind the worlds of several sessions.
private final class ResolverDoor: Resolver {
    private let resolver: ThreadBound<VirtualResolver>

    init(resolver: ThreadBound<VirtualResolver>) {
        self.resolver = resolver
    }

    func resolve(_ name: String, for client: any ResolverClient) {
        resolver.value.resolve(name, for: client)
    }

    func cancel(_ client: any ResolverClient) {
        resolver.value.cancel(client)
    }
}
