@testable import AFURLSession
@testable import AFURLTypes

/// What a stream does next, in each state and at each event.
@Suite struct StreamMachineTests {
    typealias Machine = StreamMachine

    /// The action, and the phase that follows if it is another. `-`: nothing. `x`: impossible. `R` and `W`: as the table of
    /// the direction says. `both`: TLS, if both directions are open. `whole`: the streams, unless a direction was given up.
    private static let phases = """
                        idle               connecting clear            securing    secured          body          captured         over
        start           connect>connecting x          x                x           x                x             x                -
        tookConnection  use>clear          x          x                x           x                x             x                -
        tookSecured     use>secured        x          x                x           x                x             x                -
        tookBody        use>body           x          x                x           x                x             x                -
        connected       x                  use>clear  x                x           x                x             x                -
        handshakeDone   x                  x          x                use>secured x                x             x                -
        readAsked       R                  R          R                R           R                R             refuse           refuse
        writeAsked      W                  W          W                W           W                W             refuse           refuse
        closeReadAsked  R                  R          R                R           R                R             -                -
        closeWriteAsked W                  W          W                W           W                W             -                -
        changeAsked     queue              queue      queue            queue       queue            queue         -                -
        closeReadDue    x                  x          R                x           R                R             x                -
        closeWriteDue   x                  x          W                x           W                W             x                -
        secureDue       x                  x          both>securing    x           skip             refuseTLS     x                -
        captureDue      x                  x          whole>captured   x           whole>captured   refuseCapture x                -
        inputEnded      x                  x          R                x           R                R             x                -
        readOverdue     x                  R          R                R           R                R             x                -
        writeOverdue    x                  W          W                W           W                W             x                -
        completed       end>over           end>over   end>over         end>over    end>over         end>over      endSilently>over -
        """

    private static let reading = """
                        open                  dropping ended  failed
        readAsked       queue                 refuse   refuse refuse
        closeReadAsked  queue                 -        -      -
        closeReadDue    closeReading>dropping x        x      x
        inputEnded      endReading>ended      ->ended  x      x
        readOverdue     failReading>failed    x        x      x
        """

    private static let writing = """
                        open                closed failed
        writeAsked      queue               refuse refuse
        closeWriteAsked queue               -      -
        closeWriteDue   closeWriting>closed x      x
        writeOverdue    failWriting>failed  x      x
        """

    private static var states: [Machine.State] {
        Machine.Phase.allCases.flatMap { phase in
            Machine.Reading.allCases.flatMap { reading in
                Machine.Writing.allCases.map { Machine.State(phase: phase, reading: reading, writing: $0) }
            }
        }
    }

    @Test func `each state answers each event as the tables say, and a direction changes nothing but itself`() {
        let (phases, reading, writing) = (
            MachineTable(Self.phases), MachineTable(Self.reading), MachineTable(Self.writing)
        )
        #expect(phases.events == Machine.Event.allCases.map { "\($0)" })
        #expect(phases.states == Machine.Phase.allCases.map { "\($0)" })
        #expect(reading.states == Machine.Reading.allCases.map { "\($0)" })
        #expect(writing.states == Machine.Writing.allCases.map { "\($0)" })
        for state in Self.states {
            for event in Machine.Event.allCases {
                var machine = Machine(state)
                let action = machine.handle(event)
                let next = machine.state
                let (isPhase, isReading, isWriting) = (
                    state.phase == next.phase, state.reading == next.reading, state.writing == next.writing
                )
                var wanted = phases[event, state.phase]
                var found = MachineTable.cell(action, from: state.phase, to: next.phase)
                var isRestSame = isReading && isWriting
                switch wanted {
                case "R":
                    wanted = reading[event, state.reading]
                    found = MachineTable.cell(action, from: state.reading, to: next.reading)
                    isRestSame = isPhase && isWriting
                case "W":
                    wanted = writing[event, state.writing]
                    found = MachineTable.cell(action, from: state.writing, to: next.writing)
                    isRestSame = isPhase && isReading
                case "both>securing":
                    wanted = state.reading == .open && state.writing == .open ? "startTLS>securing" : "refuseTLS"
                case "whole>captured":
                    let isWhole = state.reading != .failed && state.writing != .failed
                    wanted = isWhole ? "capture>captured" : "refuseCapture"
                // A body is for reading only.
                case "use>body": isRestSame = next.reading == .open && next.writing == .closed
                default: break
                }
                #expect(found == wanted && isRestSame, "\(event) in \(state)")
            }
        }
    }

    @Test func `its drawing has the arrows of the tables`() throws {
        try expectDrawing(
            in: "AFURLSession/StreamTasks/StreamMachine.swift",
            of: Self.phases,
            Self.reading,
            Self.writing
        )
    }

    @Test func `an event that cannot be says why`() {
        for state in Self.states {
            for event in Machine.Event.allCases {
                var machine = Machine(state)
                guard machine.handle(event) == .impossible else { continue }
                let objection = Machine.objection(to: event, in: state)
                #expect(!objection.contains("at any time"), "\(objection)")
                #expect(machine.state == state)
            }
        }
        let early = Machine.objection(to: .inputEnded, in: Machine.State(phase: .securing))
        #expect(
            early == "inputEnded while securing, reading open, writing open: the handshake has the connection"
        )
    }

    @Test func `an event that cannot be ends the task with an error that names both`() throws {
        let world = VirtualWorld()
        let log = StreamLog()
        world.script("api.test", .stall)
        let task = world.makeSession(delegate: log).session.streamTask(withHostName: "api.test", port: 80)
        log.read(task, 1, 1)
        task.resume()
        world.settle()
        let action = Lock<Machine.Action?>(nil)
        world.loop.enqueue { [load = task.load] in
            let connector = load.value.consumer as? StreamConnector
            action.withLock { $0 = connector?.take(.handshakeDone) }
        }
        world.run()

        #expect(action.withLock { $0 } == .impossible)
        #expect(log.events.value == [.readFailed(-1, nil), .completed(-1)])
        let failure = try #require(log.error.withLock { $0?.loadFailure })
        #expect(failure.reason == .fault)
        #expect(failure.message.contains("handshakeDone while clear"), "\(failure)")
        #expect(failure.message.contains("no handshake is under way"), "\(failure)")
        #expect(world.finish() == [])
    }
}
