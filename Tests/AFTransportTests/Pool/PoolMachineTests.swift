import AFLoop

@testable import AFTransport

private final class Connection: PooledConnection {
    var load = 0
    /// Its first request lets others go behind it.
    var isPipeline = false
    var capacity: Int { 3 }
    var answersInOrder: Bool { true }
    var takesMore: Bool { load < capacity }
}

private final class Waiter: QueuedWaiter {
    var ticket = WaitTicket()
    let mayBePipelined: Bool

    init(mayBePipelined: Bool = false) {
        self.mayBePipelined = mayBePipelined
    }
}

/// Drives the machine with random events and keeps its own books.
private struct PoolBooks {
    var machine: PoolMachine<Connection, Waiter>
    var waiting: [Waiter] = []
    var idle: [(connection: Connection, expires: LoopInstant)] = []
    var inUse: [Connection] = []
    var dialing = 0
    var redialing = 0
    /// Since the last time that nothing was left to do.
    var someoneLeft = false
    var now = LoopInstant(nanoseconds: 0)
    let limit: Int

    init(limit: Int) {
        self.limit = limit
        machine = PoolMachine(limit: limit)
    }

    /// - Parameter mayDial: Whether other peers leave this one any connection.
    mutating func settle(mayDial: Bool = true) {
        while let action = machine.nextAction(at: now, mayDial: mayDial) {
            switch action {
            case .assign(let waiter, let connection):
                #expect(waiting.first === waiter, "all have one priority, so the first in line is served")
                waiting.removeFirst()
                #expect(idle.last?.connection === connection, "the connection used last is used next")
                #expect((idle.popLast()?.expires ?? now) > now)
                connection.load = 1
                connection.isPipeline = waiter.mayBePipelined
                inUse.append(connection)
            case .append(let waiter, let connection):
                #expect(waiting.first === waiter && waiter.mayBePipelined, "who is served out of turn, or unasked")
                #expect(waiting.count > dialing, "a connection is on its way")
                waiting.removeFirst()
                #expect(idle.isEmpty && (!mayDial || isFull), "there could be another connection")
                #expect(pipelines.contains { $0 === connection } && connection.takesMore)
                #expect(connection.load == pipelines.map(\.load).min())
                connection.load += 1
            case .dial:
                #expect(mayDial)
                dialing += 1
            case .cancelDial:
                #expect(dialing > waiting.count && someoneLeft, "only who waited and left leaves a dial behind")
                machine.dialCancelled()
                dialing -= 1
            case .close(let connection):
                #expect(idle.last?.connection === connection && (idle.popLast()?.expires ?? now) <= now)
            }
            #expect(idle.count + inUse.count + dialing + redialing <= limit)
        }
        // No request waits while the machine could serve it.
        #expect(waiting.isEmpty || idle.isEmpty)
        if waiting.count > dialing {
            #expect(!mayDial || isFull)
            #expect(waiting.first?.mayBePipelined != true || pipelines.allSatisfy { !$0.takesMore })
        }
        let made = inUse.count + dialing + redialing
        #expect(machine.inUse == inUse.count && machine.dialing == dialing && machine.idle.count == idle.count)
        #expect(machine.redialing == redialing && machine.connections == idle.count + made)
        #expect(machine.waiters.count == waiting.count && machine.firstWaiter === waiting.first)
        #expect(machine.unclaimedDials == max(0, dialing - waiting.count))
        #expect(machine.isEmpty == (waiting.isEmpty && idle.isEmpty && made == 0))
        someoneLeft = false
    }

    private var isFull: Bool { idle.count + inUse.count + dialing + redialing == limit }
    private var pipelines: [Connection] { inUse.filter(\.isPipeline) }

    /// Nothing goes behind the requests of a connection that is lost.
    private mutating func take(_ index: Int) -> Connection {
        let connection = inUse.remove(at: index)
        connection.isPipeline = false
        connection.load = 0
        return connection
    }

    mutating func step(_ random: inout PoolDice) {
        now = now + .nanoseconds(1)
        let later = now + .nanoseconds(Int64.random(in: 1..<40, using: &random))
        switch Int.random(in: 0..<17, using: &random) {
        case 0..<3: arrive(mayBePipelined: Bool.random(using: &random))
        case 3 where !waiting.isEmpty:
            machine.requestLeft(waiting.remove(at: Int.random(in: 0..<waiting.count, using: &random)))
            someoneLeft = true
            if Bool.random(using: &random) {
                let claimed = min(dialing, waiting.count)
                settle()
                #expect(dialing <= max(claimed, waiting.count), "no action ends a dial without a request")
            }
        case 4 where dialing > 0:
            let connection = Connection()
            dialing -= 1
            idle.append((connection, later))
            machine.dialSucceeded(connection, expires: later)
        case 5 where dialing > 0:
            dialing -= 1
            let failed = machine.dialFailed()
            #expect(waiting.count > dialing ? failed === waiting.first : failed == nil, "who waits has a dial left")
            if let failed { waiting.removeAll { $0 === failed } }
        case 6 where !inUse.isEmpty:
            let connection = take(Int.random(in: 0..<inUse.count, using: &random))
            idle.append((connection, later))
            machine.connectionFreed(connection, expires: later)
        case 7 where !inUse.isEmpty:
            machine.connectionClosed(take(inUse.count - 1))
            machine.connectionLost()
        case 8 where !idle.isEmpty:
            let gone = idle.remove(at: Int.random(in: 0..<idle.count, using: &random)).connection
            #expect(machine.idleConnectionClosed(gone) == true)
            #expect(machine.idleConnectionClosed(gone) == false)
        case 9 where !inUse.isEmpty:
            machine.connectionClosed(take(inUse.count - 1))
            redialing += 1
            machine.exchangeRetried()
        case 10 where redialing > 0:
            redialing -= 1
            inUse.append(Connection())
            machine.redialSucceeded()
        case 11 where redialing > 0:
            redialing -= 1
            machine.redialEnded()
        case 12 where dialing > 0: refuseDial(&random)
        case 13:
            let expired = machine.takeIdle(expiringUntil: now)
            let due = idle.filter { $0.expires <= now }.map(\.connection)
            #expect(expired.map(ObjectIdentifier.init) == due.map(ObjectIdentifier.init))
            idle.removeAll { $0.expires <= now }
        case 16 where !isFull:
            redialing += 1
            machine.warmUpBegan()
        case 14 where !inUse.isEmpty:
            // One of its requests is answered.
            let connection = inUse[Int.random(in: 0..<inUse.count, using: &random)]
            if connection.load > 1 { connection.load -= 1 }
        case 15 where !inUse.isEmpty:
            // The peer announced the end of the connection.
            let connection = inUse[Int.random(in: 0..<inUse.count, using: &random)]
            machine.connectionClosed(connection)
            connection.isPipeline = false
        default: break
        }
    }

    /// On behalf of a request that waits, or has left.
    private mutating func refuseDial(_ random: inout PoolDice) {
        dialing -= 1
        let gone = Waiter()
        let waiter = Bool.random(using: &random) ? waiting.randomElement(using: &random) : gone
        let mustFail = waiting.count > dialing && waiter != nil && waiter !== gone

        let failed = machine.dialRefused(for: waiter)

        #expect(mustFail ? failed === waiter : failed == nil)
        if let failed { waiting.removeAll { $0 === failed } }
    }

    private mutating func arrive(mayBePipelined: Bool) {
        let waiter = Waiter(mayBePipelined: mayBePipelined)
        waiting.append(waiter)
        machine.requestArrived(waiter, priority: 0.5)
    }
}

/// Where the machine counts a connection.
private enum Place: CaseIterable {
    case none, dialing, idle, inUse, redialing
}

/// What moves a connection to another place: the actions and events of the machine.
private enum Move: CaseIterable {
    case dial, dialSucceeded, dialFailed, dialRefused, dialCancelled
    case assign, close, takeIdle, idleConnectionClosed
    case connectionFreed, connectionLost, exchangeRetried, redialSucceeded, redialEnded
    case warmUpBegan
}

/// A machine with one request, and one connection at most.
private struct OneConnection {
    private var machine = PoolMachine<Connection, Waiter>(limit: 1)
    private let connection = Connection()
    private let expiry = LoopInstant(nanoseconds: 1)

    init(at place: Place) {
        machine.requestArrived(Waiter(), priority: 0.5)
        let way: [(Place, Move)] = [
            (.none, .dial), (.dialing, .dialSucceeded), (.idle, .assign), (.inUse, .exchangeRetried),
        ]
        for (former, move) in way.prefix(while: { $0.0 != place }) {
            #expect(self.place == former)
            take(move)
        }
    }

    var place: Place {
        let counts: [(Place, Int)] = [
            (.dialing, machine.dialing), (.idle, machine.idle.count), (.inUse, machine.inUse),
            (.redialing, machine.redialing),
        ]
        #expect(machine.connections == counts.map(\.1).reduce(0, +) && machine.connections <= 1)
        return counts.first { $0.1 == 1 }?.0 ?? .none
    }

    mutating func take(_ move: Move) {
        switch move {
        case .dial, .assign: _ = machine.nextAction(at: LoopInstant(nanoseconds: 0))
        case .close: _ = machine.nextAction(at: expiry)
        case .dialSucceeded: machine.dialSucceeded(connection, expires: expiry)
        case .dialFailed: _ = machine.dialFailed()
        case .dialRefused: _ = machine.dialRefused(for: nil)
        case .dialCancelled: machine.dialCancelled()
        case .takeIdle: _ = machine.takeIdle(expiringUntil: expiry)
        case .idleConnectionClosed: machine.idleConnectionClosed(connection)
        case .connectionFreed: machine.connectionFreed(connection, expires: expiry)
        case .connectionLost: machine.connectionLost()
        case .exchangeRetried: machine.exchangeRetried()
        case .redialSucceeded: machine.redialSucceeded()
        case .redialEnded: machine.redialEnded()
        case .warmUpBegan: machine.warmUpBegan()
        }
    }
}

struct PoolMachineTests {
    /// The place that follows. `x`: there is no such connection to move.
    private static let places = """
                             none      dialing idle    inUse       redialing
        dial                 ->dialing x       x       x           x
        dialSucceeded        x         ->idle  x       x           x
        dialFailed           x         ->none  x       x           x
        dialRefused          x         ->none  x       x           x
        dialCancelled        x         ->none  x       x           x
        assign               x         x       ->inUse x           x
        close                x         x       ->none  x           x
        takeIdle             x         x       ->none  x           x
        idleConnectionClosed x         x       ->none  x           x
        connectionFreed      x         x       x       ->idle      x
        connectionLost       x         x       x       ->none      x
        exchangeRetried      x         x       x       ->redialing x
        redialSucceeded      x         x       x       x           ->inUse
        redialEnded          x         x       x       x           ->none
        warmUpBegan          ->redialing x     x       x           x
        """

    @Test func `each call moves a connection as the table says, and its drawing has the arrows of that`() throws {
        let table = MachineTable(Self.places)
        #expect(table.states == Place.allCases.map { "\($0)" } && table.events == Move.allCases.map { "\($0)" })
        for place in Place.allCases {
            for move in Move.allCases where table[move, place] != "x" {
                var one = OneConnection(at: place)
                one.take(move)
                #expect(table[move, place] == "->\(one.place)", "\(move) of one that is \(place)")
            }
        }
        try expectDrawing(in: "AFTransport/Pool/PoolMachine.swift", of: Self.places)
    }

    @Test(arguments: [1, 2, 6, 40])
    func `T-RES-44 random events never pass the limit, starve a request or lose a connection`(limit: Int) {
        var random = PoolDice(UInt64(limit))
        var books = PoolBooks(limit: limit)

        for number in 0..<10_000 {
            books.step(&random)
            // Several events in one turn, as on the loop.
            if number % 3 == 0 { books.settle(mayDial: number % 2 == 0) }
        }
        books.settle()
    }

    @Test func `a peer has one connection at least`() {
        for limit in [-1, 0, 1] { #expect(PoolMachine<Connection, Waiter>(limit: limit).limit == 1) }
    }

    @Test func `waiters and idle connections that are taken out are gone from the machine`() {
        var books = PoolBooks(limit: 2)
        let connections = [Connection(), Connection()]
        for waiter in [Waiter(), Waiter()] { books.machine.requestArrived(waiter, priority: 0.5) }
        while case .dial? = books.machine.nextAction(at: books.now) {}
        for connection in connections { books.machine.dialSucceeded(connection, expires: .distantFuture) }

        #expect(books.machine.takeAllWaiters().count == 2 && books.machine.waiters.isEmpty)
        #expect(books.machine.takeIdle(expiringUntil: .distantFuture, atMost: 1).first === connections[0])
        #expect(books.machine.takeIdle(expiringUntil: .distantFuture).map(\.identity) == [connections[1].identity])
        #expect(books.machine.takeIdle(expiringUntil: .distantFuture).isEmpty && books.machine.isEmpty)
    }
}
