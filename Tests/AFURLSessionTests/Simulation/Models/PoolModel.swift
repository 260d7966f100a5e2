@testable import AFTransport
@testable import AFURLSession
@testable import AFURLTypes

/// What the pool of one peer has to do, said without any thought of speed: everybody in one list, sorted when needed.
struct PoolModel {
    struct Waiting {
        let name: Int
        var priority: Float
        let arrival: Int
    }

    let limit: Int
    var waiting: [Waiting] = []
    var idle: [(name: Int, expires: Int)] = []
    var inUse: Set<Int> = []
    var dialing = 0
    var redialing = 0
    var arrivals = 0

    var connections: Int { idle.count + inUse.count + dialing + redialing }

    var first: Int? {
        waiting.max { $0.priority == $1.priority ? $0.arrival > $1.arrival : $0.priority < $1.priority }?.name
    }

    mutating func arrive(_ name: Int, _ priority: Float) {
        arrivals += 1
        waiting.append(Waiting(name: name, priority: priority, arrival: arrivals))
    }

    mutating func leave(_ name: Int) { waiting.removeAll { $0.name == name } }

    /// The request that fails with a dial: the next one, if no other dial is for it.
    mutating func dialFailed() -> Int? {
        dialing -= 1
        guard waiting.count > dialing, let next = first else { return nil }
        leave(next)
        return next
    }

    /// What there is to do at this time, in order. A waiting request gets the connection used last, or a dial.
    mutating func actions(at now: Int, someoneLeft: Bool) -> [String] {
        var actions: [String] = []
        while let waiter = first, let freshest = idle.popLast() {
            if freshest.expires <= now {
                actions.append("close \(freshest.name)")
            } else {
                leave(waiter)
                inUse.insert(freshest.name)
                actions.append("assign \(waiter) \(freshest.name)")
            }
        }
        while someoneLeft, dialing > waiting.count {
            dialing -= 1
            actions.append("cancel a dial")
        }
        while waiting.count > dialing, connections < limit {
            dialing += 1
            actions.append("dial")
        }
        return actions
    }
}

/// The pool against its model, step by step.
enum PoolComparison {
    private final class Connection: PooledConnection {
        let name: Int
        var capacity: Int { 1 }
        var load: Int { 1 }
        var answersInOrder: Bool { true }

        init(_ name: Int) { self.name = name }
    }

    private final class Waiter: QueuedWaiter {
        let name: Int
        var ticket = WaitTicket()
        var mayBePipelined: Bool { false }

        init(_ name: Int) { self.name = name }
    }

    /// Says what differed, if anything did.
    static func run(seed: UInt64, operations: Int) -> String? {
        var random = SeededGenerator(seed: seed ^ 0x9001)
        let limit = random.pick([1, 2, 6, 20])
        var machine = PoolMachine<Connection, Waiter>(limit: limit)
        var model = PoolModel(limit: limit)
        var waiters: [Int: Waiter] = [:]
        var connections: [Int: Connection] = [:]
        var names = 0
        var now = 0

        for step in 0..<operations {
            var someoneLeft = false
            names += 1
            now += random.pick(0...1)
            let expires = now + random.pick(0...40)
            func instant(_ time: Int) -> LoopInstant { LoopInstant(nanoseconds: Int64(time)) }
            switch random.pick(0...15) {
            case 0...5:
                let waiter = Waiter(names)
                // Those that hardly differ are equal.
                let priority = Float(random.pick(0...4)) / 4
                machine.requestArrived(waiter, priority: priority)
                model.arrive(names, priority)
                waiters[names] = waiter
            case 6 where !model.waiting.isEmpty:
                let index = random.pick(0...(model.waiting.count - 1))
                let priority = Float(random.pick(0...4)) / 4
                guard let waiter = waiters[model.waiting[index].name] else { continue }
                machine.priorityChanged(waiter, priority: priority)
                model.waiting[index].priority = priority
            case 7 where !model.waiting.isEmpty:
                let name = random.pick(model.waiting.map(\.name))
                guard let waiter = waiters[name] else { continue }
                machine.requestLeft(waiter)
                model.leave(name)
                someoneLeft = true
            case 8...9 where model.dialing > 0:
                let connection = Connection(names)
                connections[names] = connection
                machine.dialSucceeded(connection, expires: instant(expires))
                model.dialing -= 1
                model.idle.append((names, expires))
            case 10 where model.dialing > 0:
                let failed = machine.dialFailed()?.name
                let expected = model.dialFailed()
                if failed != expected { return "step \(step): the dial failed \(failed ?? 0), not \(expected ?? 0)" }
            case 11...12 where !model.inUse.isEmpty:
                guard let name = model.inUse.sorted().first, let connection = connections[name] else { continue }
                machine.connectionFreed(connection, expires: instant(expires))
                model.inUse.remove(name)
                model.idle.append((name, expires))
            case 13 where !model.inUse.isEmpty:
                guard let name = model.inUse.sorted().last else { continue }
                model.inUse.remove(name)
                if random.chance(50) {
                    machine.connectionLost()
                } else {
                    machine.exchangeRetried()
                    model.redialing += 1
                }
            case 14:
                if model.redialing > 0 {
                    model.redialing -= 1
                    machine.redialEnded()
                } else if let name = model.idle.first?.name, let connection = connections[name] {
                    if !machine.idleConnectionClosed(connection) { return "step \(step): \(name) was not idle" }
                    model.idle.removeFirst()
                }
            default:
                let expired = machine.takeIdle(expiringUntil: instant(now)).map(\.name)
                let expected = model.idle.filter { $0.expires <= now }.map(\.name)
                model.idle.removeAll { $0.expires <= now }
                if expired != expected { return "step \(step): \(expired) have expired, not \(expected)" }
            }
            var actions: [String] = []
            while let action = machine.nextAction(at: instant(now)) {
                switch action {
                case .assign(let waiter, let connection): actions.append("assign \(waiter.name) \(connection.name)")
                case .append: actions.append("append")
                case .dial: actions.append("dial")
                case .cancelDial:
                    machine.dialCancelled()
                    actions.append("cancel a dial")
                case .close(let connection): actions.append("close \(connection.name)")
                }
            }
            let expected = model.actions(at: now, someoneLeft: someoneLeft)
            if actions != expected { return "step \(step): \(actions), not \(expected)" }
            if machine.connections != model.connections || machine.waiters.count != model.waiting.count {
                return "step \(step): \(machine.connections) connections, not \(model.connections)"
            }
            if machine.connections > limit { return "step \(step): \(machine.connections) connections of \(limit)" }
            if machine.firstWaiter?.name != model.first { return "step \(step): the next is another" }
        }
        return nil
    }
}
