package import AFLoop

/// Somebody who moves bytes and has to stop now and then.
package protocol RateClient: AnyObject {
    /// It may ask again, and will get something.
    func rateAllows(_ limit: RateLimit)
}

/// So many bytes in a second, for all who share it, and no more.
///
/// Nobody is served out of turn: who wants more than there is waits behind the others, and gets what is there when its
/// turn comes, or its share of it if more are waiting. What was not used during the last eighth of a second is lost, so
/// a pause is not followed by a flood. One timer, armed only while somebody waits.
package final class RateLimit: TimerTarget {
    /// What one turn may bring at most, so that the others have theirs soon.
    private static let largestGrant = 64 << 10
    /// Faster is no limit on any machine, and would overflow.
    private static let highestRate = 1 << 36
    private static let second: Int64 = 1_000_000_000

    private let rate: Int64
    /// For how long what was not used is remembered: an eighth of a second, or what the next byte takes.
    private let memory: Int64
    private let loop: EventLoop
    /// Up to here everything is used up.
    private var spentUntil: LoopInstant
    private var waiting: [any RateClient] = []
    /// Of those told to go on, who has not asked yet, and what is put by for each.
    private var granted: [ObjectIdentifier: Int] = [:]
    private var timer: TimerID?

    /// Nil if there is nothing to keep to. Not to be asked for each request that says nothing: even a class that refuses
    /// to be made has been allocated.
    package init?(_ bytesPerSecond: Int, on loop: EventLoop) {
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
        if !waiting.contains(where: { $0 === client }) { waiting.append(client) }
        arm()
        return 0
    }

    /// So many bytes were moved.
    package func take(_ count: Int) {
        spentUntil = LoopInstant(nanoseconds: spent + Int64(count) * RateLimit.second / rate)
    }

    private var spent: Int64 { max(spentUntil.nanoseconds, loop.now.nanoseconds - memory) }

    /// The client moves nothing more, and wants to.
    package func leave(_ client: any RateClient) {
        if let grant = granted.removeValue(forKey: ObjectIdentifier(client)) { take(-grant) }
        waiting.removeAll { $0 === client }
        if waiting.isEmpty { stop() }
    }

    package func shutDown() {
        waiting = []
        granted = [:]
        stop()
    }

    // MARK: - Turns

    private var available: Int {
        Int(max(0, loop.now.nanoseconds - spent) * rate / RateLimit.second)
    }

    /// Less is not worth a turn.
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
        while !waiting.isEmpty, left >= least {
            let share = min(max(left / waiting.count, least), RateLimit.largestGrant)
            let client = waiting.removeFirst()
            granted[ObjectIdentifier(client)] = share
            take(share)
            left -= share
            served.append(client)
        }
        for client in served where granted[ObjectIdentifier(client)] != nil { client.rateAllows(self) }
        if !waiting.isEmpty { arm() }
    }
}
