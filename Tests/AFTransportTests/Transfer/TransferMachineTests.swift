@testable import AFTransport

/// Where a request stands, in each state and at each event.
@Suite struct TransferMachineTests {
    typealias State = TransferMachine.State
    typealias Event = TransferMachine.Event

    /// The way to each state.
    private static let ways: [State: [Event]] = [
        .idle: [],
        .preparing: [.prepare],
        .waiting: [.ready],
        .aside: [.ready, .suspended],
        .redialing: [.ready, .began, .again],
        .following: [.ready, .sentAhead],
        .exchanging: [.ready, .began],
        .arrived: [.ready, .began, .finished],
        .over: [.left],
    ]

    private static func machine(in state: State, held pause: Transfer.Pauses? = nil) -> TransferMachine {
        var machine = TransferMachine()
        if state == .arrived { _ = machine.pause(.unanswered) }
        for event in ways[state] ?? [] { _ = machine.handle(event) }
        if let pause { _ = machine.pause(pause) }
        return machine
    }

    /// The action, and the state that follows if it is another. `-`: nothing to do. `x`: impossible.
    private static let table = """
                     idle         preparing          waiting        aside          redialing        following      exchanging           arrived over
        prepare      ->preparing  x                  x              x              x                x              x                    x       -
        ready        join>waiting join>waiting       x              x              x                x              x                    x       -
        began        x            x                  ->exchanging   x              ->exchanging     x              x                    x       -
        sentAhead    x            x                  ->following    x              x                x              x                    x       -
        itsTurn      x            x                  x              x              x                ->exchanging   x                    x       -
        lostTurn     x            x                  x              x              x                join>waiting   x                    x       -
        rewind       x            x                  x              x              x                x              rewindBody>preparing x       -
        again        x            redial>redialing   x              x              x                x              redial>redialing     x       -
        rulesChanged x            join>waiting       join           x              join>waiting     x              join>waiting         x       -
        suspended    -            -                  withdraw>aside -              cancelDial>aside -              -                    -       -
        resumed      -            -                  -              rejoin>waiting -                -              -                    -       -
        finished     x            x                  x              x              x                x              ->over               x       -
        ended        ->over       leavePlace>over    ->over         ->over         ->over           ->over         ->over               ->over  -
        left         ->over       leavePlace>over    withdraw>over  ->over         cancelDial>over  abandon>over   abandon>over         ->over  -
        """

    @Test func `its drawing has the arrows of the table`() throws {
        try expectDrawing(in: "AFTransport/Transfer/TransferMachine.swift", of: Self.table)
    }

    @Test func `each state answers each event as the table says`() {
        expectTable(Self.table, of: State.allCases, Event.self) { state, event in
            var machine = Self.machine(in: state)
            #expect(machine.state == state)
            return (machine.handle(event), machine.state)
        }
    }

    @Test func `each impossible pair says why`() {
        for state in State.allCases {
            for event in Event.allCases {
                var machine = Self.machine(in: state)
                guard machine.handle(event) == .impossible else { continue }
                let words = TransferMachine.objection(to: event, in: state)
                #expect(machine.state == state && words.hasPrefix("\(event) while \(state): "))
                #expect(!words.contains("any time"), "\(words)")
            }
        }
    }

    @Test(arguments: [State.idle, .preparing, .exchanging, .following])
    func `the request of a suspended task joins no queue`(state: State) {
        let events: [State: [Event]] = [
            .idle: [.ready], .preparing: [.ready, .again, .rulesChanged], .exchanging: [.again, .rulesChanged],
            .following: [.lostTurn],
        ]
        for event in events[state] ?? [] {
            var machine = Self.machine(in: state, held: .suspended)
            #expect(machine.handle(event) == .joinAside, "\(event)")
            #expect(machine.state == .aside)
            #expect(machine.unpause(.suspended) && machine.handle(.resumed) == .rejoin)
        }
    }

    @Test(arguments: [Transfer.Pauses.unanswered, .undecided, .undecoded])
    func `a response that has arrived in full waits for what holds up its task`(pause: Transfer.Pauses) {
        var machine = Self.machine(in: .exchanging, held: pause)
        #expect(machine.handle(.finished) == .nothing)
        #expect(machine.state == .arrived && machine.clocks == .task)
    }

    @Test(arguments: [Transfer.Pauses.suspended, .backPressure, .full, .share])
    func `other pauses let a response that has arrived in full end`(pause: Transfer.Pauses) {
        var machine = Self.machine(in: .exchanging, held: pause)
        #expect(machine.handle(.finished) == .nothing && machine.state == .over)
    }

    @Test func `a request is sent once more by itself, and not again`() {
        var machine = Self.machine(in: .exchanging)
        #expect(machine.mayBeRepeated && machine.mayFollow)
        _ = machine.handle(.again)
        #expect(!machine.mayBeRepeated && !machine.mayFollow)
    }

    @Test func `a request that lost its turn is not pipelined again, and may still be sent once more`() {
        var machine = Self.machine(in: .following)
        _ = machine.handle(.lostTurn)
        #expect(machine.mayBeRepeated && !machine.mayFollow)
    }

    @Test func `what is sent once more waits for neither the body nor the share of its former connection`() {
        var machine = Self.machine(in: .exchanging, held: [.share, .unanswered])
        machine.isBodyAwaited = true
        machine.beginAnew()
        #expect(machine.pauses == .unanswered && !machine.isBodyAwaited)
    }

    @Test func `no clock runs while the task is suspended`() {
        for state in State.allCases { #expect(Self.machine(in: state, held: .suspended).clocks == .none) }
    }

    @Test func `a peer that the transfer keeps waiting is not late`() {
        for pause in [Transfer.Pauses.unanswered, .backPressure, .undecided, .undecoded, .full, .share] {
            #expect(Self.machine(in: .exchanging, held: pause).clocks == .task)
            #expect(Self.machine(in: .waiting, held: pause).clocks == .all, "in the queue only others go on")
        }
        var machine = Self.machine(in: .exchanging)
        #expect(machine.clocks == .all)
        machine.isBodyAwaited = true
        #expect(machine.clocks == .task)
    }

    @Test func `a body that is being opened takes the time of its task only`() {
        #expect(Self.machine(in: .preparing).clocks == .task)
    }
}
