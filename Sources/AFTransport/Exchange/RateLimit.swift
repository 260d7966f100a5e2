import AFBase
package import AFLoop

/// A client of a `RateLimit`: it moves bytes, and has to stop now and then.
package protocol RateClient: AnyObject {
    /// The client may ask again, and will get something.
    func rateAllows(_ limit: RateLimit)
}

/// Limits how many bytes all its clients together move in a second.
///
/// It serves clients in turn: one that wants more than there is waits behind the others. When its turn comes, it gets
/// what is there, or its share of it if more are waiting. What clients did not use during the last eighth of a second
/// is lost, so no flood follows a pause. There is one timer, armed only while a client waits.
package final class RateLimit: TimerTarget {
    /// What a client gets in one turn at most, so that the others have theirs soon.
    private static let largestGrant = 64 << 10
    /// Faster is no limit on any machine, and would overflow.
    private static let highestRate = 1 << 36
    private static let second: Int64 = 1_000_000_000

    private let rate: Int64
    /// For how long unused bytes are remembered: an eighth of a second, or what the next byte takes.
    private let memory: Int64
    private let loop: EventLoop
    /// Up to here everything is used up.
    private var spentUntil: LoopInstant
    /// All have one key: they are served in the order in which they asked.
    private var waiting = Heap<Int, any RateClient>()
    private var places: [ObjectIdentifier: HeapPlace] = [:]
    /// The clients that were told to go on and have not asked yet, with what is put by for each.
    private var granted: [ObjectIdentifier: Int] = [:]
    private var timer: TimerID?

    /// Nil if there is no limit. Do not call this for each request without a limit: even a class whose initializer
    /// fails has been allocated.
    package init?(bytesPerSecond: Int, on loop: EventLoop) {
        guard bytesPerSecond > 0 else { return nil }
        rate = Int64(min(bytesPerSecond, RateLimit.highestRate))
        memory = max(RateLimit.second / 8, RateLimit.second / rate + 1)
        self.loop = loop
        spentUntil = LoopInstant(nanoseconds: .min)
    }

    /// How many bytes `client` may move now. 0: it waits, and is told.
    package func request(for client: any RateClient) -> Int {
        if let grant = granted.removeValue(forKey: ObjectIdentifier(client)) {
            take(-grant)
            return grant
        }
        let available = available
        if waiting.isEmpty, granted.isEmpty, available >= least { return min(available, RateLimit.largestGrant) }
        if places[ObjectIdentifier(client)] == nil { places[ObjectIdentifier(client)] = waiting.add(client, 0) }
        arm()
        return 0
    }

    /// A client has moved `count` bytes.
    package func take(_ count: Int) {
        spentUntil = LoopInstant(nanoseconds: spent + Int64(count) * RateLimit.second / rate)
    }

    private var spent: Int64 { max(spentUntil.nanoseconds, loop.now.nanoseconds - memory) }

    /// Forgets a client that moves nothing more.
    package func leave(_ client: any RateClient) {
        if let grant = granted.removeValue(forKey: ObjectIdentifier(client)) { take(-grant) }
        if let place = places.removeValue(forKey: ObjectIdentifier(client)) { waiting.remove(place) }
        if waiting.isEmpty { stop() }
    }

    package func shutDown() {
        waiting = Heap()
        places = [:]
        granted = [:]
        stop()
    }

    // MARK: - Turns

    private var available: Int { Int(max(0, loop.now.nanoseconds - spent) * rate / RateLimit.second) }

    /// A smaller grant is not worth a turn.
    private var least: Int { Int(min(max(1, rate / 16), 16 << 10)) }

    private func arm() {
        guard timer == nil else { return }
        let missing = Int64(least) * RateLimit.second / rate + 1
        timer = loop.startTimer(at: max(loop.now, LoopInstant(nanoseconds: spent + missing)), in: .all, for: self)
    }

    private func stop() {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
    }

    package func timerFired(_ timer: TimerID) {
        self.timer = nil
        var left = available
        var served: [any RateClient] = []
        while left >= least, let client = waiting.popFirst() {
            let share = min(max(left / (waiting.count + 1), least), RateLimit.largestGrant)
            places[ObjectIdentifier(client)] = nil
            granted[ObjectIdentifier(client)] = share
            take(share)
            left -= share
            served.append(client)
        }
        for client in served where granted[ObjectIdentifier(client)] != nil { client.rateAllows(self) }
        if !waiting.isEmpty { arm() }
    }
}
