import AFBase
import AFFaults
import Foundation
import Testing

@testable import AFLoop

/// Writes down what the loop calls, in order.
private final class Notes: TimerTarget, ChannelTarget, TurnEndTarget, DeferredClosing {
    var all: [String] = []
    var onTimer: () -> Void = {}
    var onReady: () -> Void = {}
    var onTurnEnd: () -> Void = {}

    func timerFired(_ timer: TimerID) {
        all.append("timer")
        onTimer()
    }

    func channelReady(_ readiness: Readiness) {
        all.append("ready \(readiness.rawValue)")
        onReady()
    }

    func turnEnded() {
        all.append("end")
        onTurnEnd()
    }

    func closeNow() { all.append("close") }
}

final class EventLoopTests {
    private let poller: StillPoller
    private let loop: EventLoop
    private let notes = Notes()

    init() {
        poller = StillPoller()
        loop = EventLoop(poller: poller)
    }

    @Test func `the first job sees the present time, however long ago the loop was made`() {
        poller.now = LoopInstant(nanoseconds: 68_000_000_000)
        let loop = loop
        var seen: LoopInstant?
        enqueue { seen = loop.now }

        loop.runTurn(until: poller.now)

        #expect(seen == poller.now)
    }

    /// The closures of a test capture the objects that hold them.
    deinit {
        poller.onPoll = {}
        notes.onTimer = {}
        notes.onReady = {}
        notes.onTurnEnd = {}
        loop.retire()
    }

    private func enqueue(in modes: LoopModes = .common, _ body: @escaping () -> Void) {
        nonisolated(unsafe) let body = body
        loop.enqueue(in: modes) { body() }
    }

    @Test func `a turn does its seven steps in order`() throws {
        let (notes, loop, poller) = (notes, loop, poller)
        let token = try loop.register(7, for: notes)
        poller.now = LoopInstant(nanoseconds: 100)
        loop.runTurn(until: poller.now)
        _ = loop.startTimer(at: LoopInstant(nanoseconds: 50), for: notes)
        loop.add(LoopObserver(activities: .all) { notes.all.append("observer \($0.rawValue)") })
        poller.onPoll = {
            notes.all.append("poll")
            poller.now = LoopInstant(nanoseconds: 200)
        }
        poller.events = [ReadyEvent(token: token, readiness: .readable)]
        notes.onReady = {
            notes.all.append("now \(loop.now.nanoseconds)")
            loop.deferClose(notes)
            loop.atTurnEnd(notes)
        }
        enqueue { notes.all.append("job") }

        loop.runTurn()

        #expect(
            notes.all == [
                "job", "observer 2", "timer", "observer 4", "poll", "observer 8", "ready 1", "now 200", "end", "close",
            ]
        )
    }

    @Test func `end-of-turn work that begets more of itself is done in the same turn`() {
        let (notes, loop) = (notes, loop)
        var left = 3
        notes.onTurnEnd = {
            left -= 1
            if left > 0 { loop.atTurnEnd(notes) }
        }
        enqueue { loop.atTurnEnd(notes) }

        loop.runTurn()

        #expect(notes.all == ["end", "end", "end"])
    }

    @Test(arguments: [false, true])
    func `what a job or a timer lets go of is closed in the same turn, which does not wait`(byTimer: Bool) {
        let (notes, loop) = (notes, loop)
        notes.onTimer = { loop.deferClose(notes) }
        if byTimer {
            _ = loop.startTimer(at: loop.now, for: notes)
        } else {
            enqueue { loop.deferClose(notes) }
        }

        loop.runTurn()

        #expect(notes.all.last == "close" && poller.deadlines == [poller.now])
    }

    @Test func `a job enqueued by a job runs in the next turn, which does not wait`() {
        let (notes, loop) = (notes, loop)
        nonisolated(unsafe) let sent = (notes, loop)
        enqueue { sent.1.enqueue { sent.0.all.append("second") } }

        loop.runTurn()
        #expect(notes.all.isEmpty)
        #expect(poller.deadlines == [poller.now])
        loop.runTurn()

        #expect(notes.all == ["second"])
    }

    @Test func `a timer re-armed in its callback fires in a later turn`() {
        let (notes, loop) = (notes, loop)
        notes.onTimer = { if notes.all.count < 5 { _ = loop.startTimer(at: loop.now, for: notes) } }
        _ = loop.startTimer(at: loop.now, for: notes)

        for count in 1...5 {
            loop.runTurn()
            #expect(notes.all.count == count)
        }
        loop.runTurn(until: loop.now)
        #expect(notes.all.count == 5 && loop.armedTimers == 0)
    }

    @Test func `a timer cancelled by one that is due at the same time does not fire`() {
        let (notes, loop) = (notes, loop)
        var timers: [TimerID] = []
        notes.onTimer = { for timer in timers { loop.cancelTimer(timer) } }
        timers = (1...3).map { _ in loop.startTimer(at: loop.now, for: notes) }

        loop.runTurn(until: loop.now)

        #expect(notes.all == ["timer"] && loop.armedTimers == 0)
    }

    @Test func `a channel closed in a turn hears nothing more of that turn's events`() throws {
        let (notes, loop) = (notes, loop)
        let tokens = try (1...2).map { try loop.register(Int32($0), for: notes) }
        notes.onReady = {
            for (index, token) in tokens.enumerated() { loop.deregister(token, descriptor: Int32(index + 1)) }
        }
        poller.events = tokens.map { ReadyEvent(token: $0, readiness: .readable) }

        loop.runTurn()

        #expect(notes.all == ["ready 1"] && poller.registered.isEmpty && loop.registeredChannels == 0)
    }

    @Test func `T-RES-26 every readiness reaches its channel once`() throws {
        let token = try loop.register(1, for: notes)
        for mask in 1...7 as ClosedRange<UInt32> {
            poller.events = [ReadyEvent(token: token, readiness: Readiness(rawValue: mask))]
            loop.runTurn()
            loop.runTurn(until: loop.now)
        }

        #expect(notes.all == (1...7).map { "ready \($0)" })
    }

    @Test func `T-RES-27 a channel that goes on is served once in a turn, whatever it asks for and becomes ready for`()
        throws
    {
        let (notes, loop) = (notes, loop)
        let token = try loop.register(7, for: notes)
        notes.onReady = {
            loop.deliverAgain(.readable, to: token)
            loop.deliverAgain(.writable, to: token)
        }

        for turns in 1...20 {
            poller.events = [ReadyEvent(token: token, readiness: .hangup)]
            loop.runTurn(until: poller.now)
            #expect(notes.all.count == turns)
        }

        #expect(notes.all.first == "ready 4")
        #expect(notes.all.dropFirst().allSatisfy { $0 == "ready 7" })
    }

    @Test func `of two channels that go on each is served in each turn, also if the poller reports one`() throws {
        let (loop, poller) = (loop, poller)
        let goingOn = [Notes(), Notes()]
        let tokens = try goingOn.enumerated().map { try loop.register(Int32(7 + $0), for: $1) }
        defer { for notes in goingOn { notes.onReady = {} } }
        for (notes, token) in zip(goingOn, tokens) { notes.onReady = { loop.deliverAgain(.readable, to: token) } }
        poller.events = tokens.map { ReadyEvent(token: $0, readiness: .readable) }
        loop.runTurn(until: poller.now)

        for _ in 0..<10 {
            poller.events = [ReadyEvent(token: tokens[1], readiness: .writable)]
            loop.runTurn(until: poller.now)
        }

        #expect(goingOn[0].all == Array(repeating: "ready 1", count: 11))
        #expect(goingOn[1].all == ["ready 1"] + Array(repeating: "ready 3", count: 10))
    }

    @Test func `what waits for quiet waits for 2 ms at most, however many turns that are`() throws {
        let (notes, loop, poller) = (notes, loop, poller)
        let busy = Notes()
        let token = try loop.register(7, for: busy)
        func turn(after nanoseconds: Int64) {
            poller.events = [ReadyEvent(token: token, readiness: .readable)]
            poller.now = LoopInstant(nanoseconds: poller.now.nanoseconds + nanoseconds)
            loop.runTurn(until: poller.now)
        }
        turn(after: 1)

        for _ in 0..<3 {
            loop.whenQuiet(notes)
            for _ in 0..<99 { turn(after: 20_000) }
            #expect(notes.all.isEmpty)
            turn(after: 20_000)
            #expect(notes.all == ["end"])
            notes.all = []
        }
    }

    @Test func `a channel that only goes on keeps no callback waiting`() throws {
        let (notes, loop, poller) = (notes, loop, poller)
        let flooded = Notes()
        defer { flooded.onReady = {} }
        let token = try loop.register(7, for: flooded)
        flooded.onReady = { loop.deliverAgain(.readable, to: token) }
        poller.events = [ReadyEvent(token: token, readiness: .readable)]
        loop.runTurn(until: poller.now)
        loop.whenQuiet(notes)

        poller.events = [ReadyEvent(token: token, readiness: .readable)]
        loop.runTurn(until: poller.now)

        #expect(notes.all == ["end"])
    }

    @Test func `a registration the poller refuses leaves nothing behind`() {
        #expect(throws: SystemCallError.self) { try loop.register(-1, for: notes) }
        #expect(loop.registeredChannels == 0)
    }

    // MARK: - Modes

    @Test func `jobs, timers and channels of another mode wait for it and come in order`() throws {
        let (notes, loop) = (notes, loop)
        let token = try loop.register(1, in: .default, for: notes)
        _ = loop.startTimer(at: loop.now, in: .default, for: notes)
        for number in 1...2 { enqueue(in: .default) { notes.all.append("default \(number)") } }
        enqueue(in: .all) { notes.all.append("any") }
        poller.events = [ReadyEvent(token: token, readiness: .readable)]

        loop.runTurn(in: .tracking, until: loop.now)
        #expect(notes.all == ["any"])
        loop.runTurn(in: .default, until: loop.now)

        #expect(notes.all == ["any", "default 1", "default 2", "timer", "ready 1"])
    }

    @Test func `a parked timer does not keep the loop from waiting`() {
        _ = loop.startTimer(at: loop.now, in: .tracking, for: notes)
        loop.runTurn(in: .default)

        loop.runTurn(in: .default)

        #expect(poller.deadlines.last == .some(nil))
        #expect(notes.all.isEmpty && loop.armedTimers == 1)
    }

    @Test func `a run inside a callback serves its mode only, and the rest comes afterwards`() {
        let (notes, loop) = (notes, loop)
        var isDone = false
        enqueue {
            notes.all.append("outer")
            nonisolated(unsafe) let sent = notes
            loop.enqueue(in: .default) { sent.all.append("later") }
            self.enqueue(in: .tracking) {
                notes.all.append("inner")
                isDone = true
            }
            loop.run(in: .tracking) { isDone }
            notes.all.append("back")
        }

        loop.runTurn()
        loop.runTurn(until: loop.now)

        #expect(notes.all == ["outer", "inner", "back", "later"])
    }

    @Test func `a run inside a callback goes on with what the turn had collected`() throws {
        let (loop, notes) = (loop, notes)
        let polls = { [poller] in poller.deadlines.count }
        var isDone = false
        enqueue {
            loop.run(in: .default) { isDone || polls() > 3 }
            notes.all.append("job 1 over")
        }
        enqueue {
            notes.all.append("job 2")
            isDone = true
        }

        loop.runTurn()

        #expect(notes.all == ["job 2", "job 1 over"])

        notes.all = []
        isDone = false
        notes.onReady = { [weak notes] in
            guard notes?.all.count == 1 else { return isDone = true }
            loop.run(in: .default) { isDone || polls() > 8 }
        }
        enqueue {
            for descriptor in [3, 4] as [Int32] { _ = try? loop.register(descriptor, for: notes) }
        }
        loop.runTurn()
        poller.events = poller.registered.values.map { ReadyEvent(token: $0, readiness: .readable) }

        loop.runTurn()

        #expect(notes.all == ["ready 1", "ready 1"] && isDone)
    }

    @Test func `a run does not wait once a job or a timer has met its condition`() {
        let loop = loop
        var isDone = false
        poller.onPoll = { [poller] in
            if poller.deadlines.last == .some(nil) { Issue.record("the loop would sleep for ever") }
        }
        enqueue { isDone = true }
        loop.run(in: .default) { isDone }

        isDone = false
        notes.onTimer = { isDone = true }
        _ = loop.startTimer(at: loop.now, for: notes)
        loop.run(in: .default) { isDone }
    }

    // MARK: - Wake-ups

    /// Takes a turn in which callbacks run while the loop naps, or sleeps if it expects none.
    private func turn(expectsEcho: Bool = true, _ callbacks: @escaping () -> Void) {
        if expectsEcho { loop.expectEcho() }
        poller.onPoll = callbacks
        loop.runTurn()
        poller.onPoll = {}
    }

    @Test func `callbacks that run together wake the loop once, at their end`() {
        turn { [self] in
            loop.batchingWakes {
                enqueue {}
                enqueue {}
                #expect(poller.wakes.count == 0)
            }
            #expect(poller.wakes.count == 1)
        }

        #expect(poller.wakes.count == 1)
    }

    @Test func `of callbacks that run apart the last one wakes the loop, also if others enqueued`() {
        turn { [self] in
            let batch = ScatteredBatch(count: 3)
            for _ in 1...2 {
                loop.batchingWakes(in: batch) { enqueue {} }
                #expect(poller.wakes.count == 0)
            }
            loop.batchingWakes(in: batch) {}
            #expect(poller.wakes.count == 1)
        }

        #expect(poller.wakes.count == 1)
    }

    @Test func `callbacks that enqueue nothing do not wake the loop`() {
        turn { [self] in
            loop.batchingWakes {}
            loop.batchingWakes(in: ScatteredBatch(count: 1)) {}
        }

        #expect(poller.wakes.count == 0)
    }

    @Test(arguments: [false, true])
    func `a loop that sleeps is woken at once`(isInBatch: Bool) {
        turn(expectsEcho: false) { [self] in
            let enqueuing = { [self] in
                enqueue {}
                #expect(poller.wakes.count == 1)
            }
            if isInBatch { loop.batchingWakes(enqueuing) } else { enqueuing() }
        }

        #expect(poller.wakes.count == 1)
    }

    // MARK: - Threads

    @Test func `T-RES-28 no job of sixteen threads is lost, and those of one thread stay in order`() async throws {
        let loop = EventLoop(poller: EpollPoller())
        let (threads, jobs) = (16, 10_000)
        let seen = Lock([Int](repeating: 0, count: threads))
        let disorder = Lock(0)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            loop.run(in: .default) { seen.withLock { $0.allSatisfy { $0 == jobs } } }
            ended.signal()
        }

        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            for number in 0..<jobs {
                loop.enqueue {
                    let before = seen.withLock { seen in
                        defer { seen[thread] += 1 }
                        return seen[thread]
                    }
                    if before != number { disorder.withLock { $0 += 1 } }
                }
            }
        }

        let isOver = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: ended.wait(timeout: .now() + 30) == .success)
            }
        }
        #expect(isOver)
        #expect(disorder.withLock { $0 } == 0)
    }

    @Test func `a loop-bound value opened elsewhere ends the process`() async {
        await #expect(processExitsWith: .failure) {
            let bound = LoopBound(1, on: EventLoop(poller: EpollPoller()))
            _ = bound.value
        }
    }

    @Test func `a loop-bound value opens on its loop`() {
        let bound = LoopBound(41, on: loop)
        var value = 0
        enqueue { value = bound.value + 1 }

        loop.runTurn()

        #expect(value == 42 && !loop.isOnLoop)
    }
}
