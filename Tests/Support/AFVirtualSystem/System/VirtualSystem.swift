package import AFLoop
package import AFTestSupport
package import AFTransport
import Foundation

/// What runs off the loop on the test's thread: the callbacks of a session.
package protocol VirtualCallbacks: AnyObject {
    /// When the next callback can run.
    var next: LoopInstant? { get }
    func runNext()
}

/// A system for the transport: clock, network, names, disk and loop, all on the test's thread and all from one seed. It
/// knows no session; `VirtualWorld` has those.
open class VirtualSystem {
    package let seed: UInt64
    package let clock = VirtualClock()
    package let network: VirtualNetwork
    package let resolver: VirtualResolver
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
    package private(set) var random: SeededGenerator
    private var callbacks: [any VirtualCallbacks] = []
    private var hosts: [String: [String]] = [:]

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
    }

    /// What outlives the system has nothing to ask of its loop any more.
    deinit {
        network.forgetEverything()
        loop.retire()
    }

    package var now: LoopInstant { clock.now }

    // MARK: - What the transport stands on

    package var opener: any ChannelOpener { VirtualOpener(network: ThreadBound(network)) }

    /// One resolver behind the platforms of several users.
    package func makeResolver() -> LoopBound<any Resolver> {
        LoopBound(ResolverDoor(resolver: ThreadBound(resolver)), on: loop)
    }

    package var date: @Sendable () -> WallTime { hasVirtualDate ? virtualDate : WallTime.now }

    /// The time of day of this system.
    package var virtualDate: @Sendable () -> WallTime {
        let wall = ThreadBound(wall)
        return { wall.value.now() }
    }

    package func makePlatform() -> Platform {
        Platform(loop: loop, opener: opener, resolver: makeResolver(), workers: workers, wallClock: date)
    }

    /// Callbacks that come with the turns of the loop.
    package func add(_ callbacks: any VirtualCallbacks) {
        self.callbacks.append(callbacks)
    }

    // MARK: - Hosts

    /// Gives a host its addresses, in the resolver's order.
    package func host(_ name: String, _ addresses: String..., after delay: Duration = .zero) {
        host(name, addresses, after: delay)
    }

    package func host(_ name: String, _ addresses: [String], after delay: Duration = .zero) {
        hosts[name] = addresses
        let found = addresses.compactMap { VirtualSystem.address($0, port: 0) }
        resolver.set(.init(.success(found), after: delay), for: name)
    }

    package static func address(_ text: String, port: UInt16 = 80) -> SocketAddress? {
        SocketAddress(ipv4: text, port: port) ?? SocketAddress(ipv6: text, port: port)
    }

    /// Serves every address of a host. A host not known yet gets one.
    package func serve(_ name: String, port: UInt16 = 80, _ makeProgram: @escaping () -> any ServerProgram) {
        if hosts[name] == nil { host(name, "192.0.2.\(hosts.count + 1)") }
        for text in hosts[name] ?? [] {
            guard let address = VirtualSystem.address(text, port: port) else { continue }
            network.listen(address, host: name, makeProgram)
        }
    }

    package func respond(_ name: String, port: UInt16 = 80, _ answer: @escaping HTTPResponder.Answer) {
        serve(name, port: port) { HTTPResponder(answer) }
    }

    /// Serves a host that answers every request with its own path.
    package func serveEcho(_ host: String, port: UInt16 = 80, after delay: Duration = .zero, fields: String = "") {
        respond(host, port: port) { request, moment, client in
            guard moment == .complete else { return }
            client.connection.isAnswered = true
            let answer = VirtualSystem.echo(request.target, fields: fields)
            guard delay > .zero else { return client.send(answer) }
            client.after(delay) { $0.send(answer) }
        }
    }

    package static func echo(_ target: String, fields: String = "") -> String {
        "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(target.utf8.count)\r\n\r\n\(target)"
    }

    /// Plays the same script on every connection.
    package func script(_ name: String, _ steps: ServerStep...) {
        serve(name) { ScriptedServer(steps) }
    }

    /// Plays one script after the other, the last one on all further connections.
    package func scripts(_ name: String, _ scripts: [[ServerStep]]) {
        var next = 0
        serve(name) {
            defer { next += 1 }
            return ScriptedServer(scripts[min(next, scripts.count - 1)])
        }
    }

    package func set(_ reachability: VirtualNetwork.Reachability, for address: String, port: UInt16 = 80) {
        if let address = VirtualSystem.address(address, port: port) { network.set(reachability, for: address) }
    }

    // MARK: - The end

    /// What is still there and should not be.
    ///
    /// - Parameter others: What else is counted, with how many of each are left.
    package func leftovers(besides others: KeyValuePairs<String, Int> = [:]) -> [String] {
        var found = network.violations + network.ledger.violations
        func expectNone(_ count: Int, _ what: String) {
            if count != 0 { found.append("\(count) \(what) left") }
        }
        expectNone(network.ledger.open, "open descriptors")
        expectNone(ready.watched, "watched descriptors")
        expectNone(loop.registeredChannels, "registered channels")
        expectNone(loop.armedTimers, "armed timers")
        expectNone(resolver.waiting, "lookups")
        for (what, count) in others { expectNone(count, what) }
        if longestStandstill > 100_000 { found.append("the loop spun \(longestStandstill) times at one moment") }
        return found
    }
}

// MARK: - Time

extension VirtualSystem {
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
        let runnable = callbacks.filter { queue in queue.next.map { $0 <= now } ?? false }
        if !runnable.isEmpty, random.chance(60) {
            let chosen = random.pick(runnable)
            if chosen !== runnable[0] { faults.note(.queueOutOfTurn) }
            chosen.runNext()
            return true
        }
        let due = callbacks.compactMap(\.next).min() ?? .distantFuture
        turn(horizon: max(now, min(end, due)))
        guard ready.isQuiet else { return true }
        // A turn may have posted callbacks.
        guard let next = callbacks.compactMap(\.next).min(), next <= max(now, end) else { return false }
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
