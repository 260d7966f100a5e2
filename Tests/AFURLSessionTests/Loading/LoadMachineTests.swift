@testable import AFURLSession
@testable import AFURLTypes

/// What a load does next, in each state and at each event.
@Suite struct LoadMachineTests {
    typealias State = LoadMachine.State
    typealias Event = LoadMachine.Event

    /// The way to each state.
    private static let ways: [State: [Event]] = [
        .new: [],
        .preparing: [.start],
        .exchanging: [.start, .prepared],
        .judging: [.start, .prepared, .head],
        .mending: [.start, .prepared, .failure],
        .delivering: [.start, .prepared, .head, .accepted],
        .holding: [.start, .prepared, .head, .accepted, .held],
        .storing: [.start, .prepared, .head, .accepted, .done],
        .saving: [.start, .fail],
        .completed: [.start, .fail, .saved],
    ]

    private static func machine(in state: State) -> LoadMachine {
        var machine = LoadMachine()
        for event in ways[state] ?? [] { _ = machine.handle(event) }
        return machine
    }

    /// The action, and the state that follows if it is another. `-`: too late to matter. `x`: impossible.
    private static let table = """
                   new               preparing          exchanging        judging            mending           delivering        holding            storing            saving             completed
        start      prepare>preparing x                  x                 x                  x                 x                 x                  x                  -                  -
        prepared   x                 wait>exchanging    x                 x                  x                 x                 x                  x                  -                  -
        head       x                 judge>judging      judge>judging     x                  x                 judge>judging     x                  x                  -                  -
        accepted   x                 deliver>delivering x                 deliver>delivering x                 x                 x                  x                  -                  -
        part       x                 -                  -                 keep               -                 deliver           -                  -                  -                  -
        end        x                 -                  -                 keep               -                 deliver           -                  -                  -                  -
        failure    x                 mend>mending       mend>mending      keep               -                 mend>mending      mend>mending       -                  -                  -
        again      x                 prepare            prepare>preparing prepare>preparing  prepare>preparing prepare>preparing prepare>preparing  x                  -                  -
        held       x                 x                  x                 x                  x                 hold>holding      x                  x                  -                  -
        done       x                 x                  x                 x                  x                 store>storing     x                  x                  -                  -
        released   x                 -                  x                 x                  x                 -                 store>storing      -                  -                  -
        stored     x                 x                  x                 x                  x                 x                 x                  complete>completed -                  -
        handedOver x                 -                  x                 x                  x                 -                 deliver>delivering x                  -                  -
        fail       save>saving       save>saving        save>saving       save>saving        save>saving       save>saving       save>saving        save>saving        hurry              -
        saved      x                 x                  x                 x                  x                 x                 x                  x                  complete>completed -
        """

    @Test func `its drawing has the arrows of the table`() throws {
        try expectDrawing(in: "AFURLSession/Loading/LoadMachine.swift", of: Self.table)
    }

    @Test func `each state answers each event as the table says`() {
        expectTable(Self.table, of: State.allCases, Event.self) { state, event in
            var machine = Self.machine(in: state)
            #expect(machine.state == state)
            return (machine.handle(event), machine.state)
        }
    }

    @Test func `an event that cannot be says why, and ends the task with that`() throws {
        for state in State.allCases {
            for event in Event.allCases where Self.machine(in: state).answers(event) == .impossible {
                let objection = LoadMachine.objection(to: event, in: state)
                #expect(!objection.contains("at any time"), "\(objection)")
            }
        }

        let world = VirtualWorld()
        world.script("a.test", .expectRequest, .stall)
        let events = world.get("http://a.test/")
        world.settle()
        let action = Lock<LoadMachine.Action?>(nil)
        world.loop.enqueue { [load = events.task.load] in action.withLock { $0 = load.value.take(.stored) } }
        world.run { events.isComplete }

        #expect(action.withLock { $0 } == .impossible)
        let failure = try #require(events.error?.loadFailure)
        #expect(events.error?.code == .unknown && failure.reason == .fault)
        #expect(failure.message.contains("stored while exchanging: the cache was given nothing"), "\(failure)")
        #expect(world.finish() == [])
    }

    // MARK: - Waits

    @Test func `the first answer ends a wait, and later ones come too late`() {
        var machine = Self.machine(in: .judging)
        let ticket = machine.beginWait()
        #expect(machine.isWaiting(with: ticket))
        #expect(machine.answer(ticket) == .now)
        #expect(!machine.isWaiting(with: ticket))
        #expect(machine.answer(ticket) == .tooLate)
    }

    @Test func `the answer to an earlier wait does not end the present one`() {
        var machine = Self.machine(in: .preparing)
        let former = machine.beginWait()
        let present = machine.beginWait()
        #expect(machine.answer(former) == .tooLate)
        #expect(machine.answer(present) == .now)
    }

    @Test(arguments: [Event.fail, .again])
    func `an answer comes too late once the load has failed or begun again`(event: Event) {
        for state in [State.preparing, .judging, .mending] {
            var machine = Self.machine(in: state)
            let ticket = machine.beginWait()
            _ = machine.handle(event)
            #expect(machine.answer(ticket) == .tooLate, "\(state)")
        }
    }

    @Test func `what arrives of a response does not end the wait for the decision about it`() {
        var machine = Self.machine(in: .judging)
        let ticket = machine.beginWait()
        for event in [Event.part, .end, .failure] { #expect(machine.handle(event) == .keep) }
        #expect(machine.answer(ticket) == .now)
    }

    @Test func `the answer to a suspended load waits until it is resumed`() {
        var machine = Self.machine(in: .judging)
        let ticket = machine.beginWait()
        _ = machine.suspend()
        #expect(machine.answer(ticket) == .onResumption)
        _ = machine.resume()
        #expect(machine.answer(ticket) == .now)
    }

    // MARK: - Suspension

    @Test func `only a load under way has something to pause`() {
        for state in State.allCases {
            var machine = Self.machine(in: state)
            let isUnderWay = ![.new, .saving, .completed].contains(state)
            let mayPause = machine.suspend()
            #expect(mayPause == isUnderWay, "\(state)")
            #expect(machine.isSuspended && machine.state == state)
            let mayGoOn = machine.resume()
            #expect(mayGoOn == isUnderWay, "\(state)")
            #expect(!machine.isSuspended)
        }
    }
}

extension LoadMachine {
    fileprivate func answers(_ event: Event) -> Action {
        var copy = self
        return copy.handle(event)
    }
}
