@testable import AFURLSession
@testable import AFURLTypes

/// What a download does next, in each state and at each event.
@Suite struct DownloadMachineTests {
    typealias State = DownloadMachine.State
    typealias Event = DownloadMachine.Event
    typealias Action = DownloadMachine.Action

    /// The way to each state.
    private static let ways: [State: [Event]] = [
        .new: [],
        .looking: [.look],
        .asking: [.begin],
        .askingRest: [.look, .found],
        .gathering: [.begin, .whole],
        .writing: [.begin, .whole, .enough],
        .behind: [.begin, .whole, .enough, .tooMuch],
        .skipping: [.look, .found, .complete],
        .flushing: [.begin, .whole, .end],
        .naming: [.begin, .whole, .end, .flushed],
        .overtaken: [.begin, .whole, .end, .cancelled],
        .done: [.begin, .whole, .end, .flushed, .named],
        .saving: [.begin, .whole, .failed],
        .over: [.begin, .whole, .failed, .saved],
    ]

    private static func machine(in state: State) -> DownloadMachine {
        var machine = DownloadMachine()
        for event in ways[state] ?? [] { _ = machine.handle(event) }
        return machine
    }

    /// The action, and the state that follows if it is another. `-`: too late to matter. `x`: impossible.
    private static let receiving = """
                      new                 looking               asking         askingRest          gathering            writing          behind            skipping
        begin         wait>asking         x                     x              x                   x                    x                x                 x
        look          lookForPart>looking x                     x              x                   x                    x                x                 x
        found         x                   askForRest>askingRest x              x                   x                    x                x                 x
        missing       x                   askForWhole>asking    x              x                   x                    x                x                 x
        whole         x                   x                     wait>gathering dropPart>gathering  x                    x                x                 x
        other         x                   x                     x              leavePart>gathering x                    x                x                 x
        rest          x                   x                     x              append>gathering    x                    x                x                 x
        complete      x                   x                     x              showWhole>skipping  x                    x                x                 x
        unusable      x                   x                     x              askAnew>asking      x                    x                x                 x
        bytes         x                   x                     x              x                   gather               gather           gather            skip
        little        x                   x                     x              x                   writeLater           writeLater       x                 x
        enough        x                   x                     x              x                   write>writing        wait             x                 x
        tooMuch       x                   x                     x              x                   writeAndPause>behind pause>behind     wait              x
        waited        x                   x                     x              x                   writeAll>writing     writeLater       writeLater        x
        broken        x                   x                     x              x                   breakOff             breakOff         breakOff          x
        end           x                   x                     x              x                   flush>flushing       wait>flushing    wait>flushing     flush>flushing
        written       x                   x                     x              x                   x                    goOn>gathering   goOn>gathering   x
        flushed       x                   x                     x              x                   x                    x                x                 x
        named         x                   x                     x              x                   x                    x                x                 x
        diskFailed    x                   x                     x              x                   x                    fail>gathering   fail>gathering    x
        again         x                   x                     startOver      x                   startOver>asking     startOver>asking startOver>asking  x
        failed        save>saving         save>saving           save>saving    save>saving         save>saving          save>saving      save>saving       save>saving
        spoilt        leave               save>saving           leave          save>saving         leave                leave            leave             leave
        timedOut      save>saving         save>saving           save>saving    save>saving         save>saving          save>saving      save>saving       save>saving
        cancelled     save>saving         save>saving           save>saving    save>saving         save>saving          save>saving      save>saving       save>saving
        dropped       leave               leave                 leave          leave               leave                leave            leave             leave
        nothingToSave x                   x                     x              x                   x                    x                x                 x
        saved         x                   x                     x              x                   x                    x                x                 x
        overdue       x                   x                     x              x                   x                    x                x                 x
        completed     discard>over        discard>over          discard>over   discard>over        discard>over         discard>over     discard>over      discard>over
        """

    private static let ending = """
                      flushing             naming               overtaken     done         saving           over
        begin         x                    x                    x             x            x                -
        look          x                    x                    x             x            x                -
        found         x                    x                    x             x            -                -
        missing       x                    x                    x             x            -                -
        whole         x                    x                    x             x            -                -
        other         x                    x                    x             x            -                -
        rest          x                    x                    x             x            -                -
        complete      x                    x                    x             x            -                -
        unusable      x                    x                    x             x            -                -
        bytes         x                    x                    x             x            -                -
        little        x                    x                    x             x            x                -
        enough        x                    x                    x             x            x                -
        tooMuch       x                    x                    x             x            x                -
        waited        x                    x                    x             x            x                -
        broken        x                    x                    x             x            -                -
        end           x                    x                    x             x            -                -
        written       flush                x                    flush         x            -                -
        flushed       name>naming          x                    name          x            x                -
        named         x                    handOver>done        handOver>done x            -                -
        diskFailed    fail                 fail                 fail>over     x            -                -
        again         x                    x                    x             x            x                -
        failed        save>saving          save>saving          wait          leave        wait             leave
        spoilt        leave                leave                leave         leave        leave            leave
        timedOut      save>saving          finishFile>overtaken wait          leave        wait             leave
        cancelled     finishFile>overtaken finishFile>overtaken wait          leave        wait             leave
        dropped       leave                leave                leave         leave        leave            leave
        nothingToSave x                    x                    x             x            leave>over       -
        saved         x                    x                    x             x            report>over      -
        overdue       x                    x                    giveUp        x            giveUp           -
        completed     discard>over         discard>over         discard>over  deliver>over discardPart>over discard
        """

    @Test func `each state answers each event as the table says`() {
        let all = State.allCases
        for (table, states) in [(Self.receiving, all.prefix(8)), (Self.ending, all.dropFirst(8))] {
            expectTable(table, of: states, Event.self) { state, event in
                var machine = Self.machine(in: state)
                #expect(machine.state == state)
                return (machine.handle(event), machine.state)
            }
        }
    }

    @Test func `its drawing has the arrows of the table`() throws {
        try expectDrawing(in: "AFURLSession/Downloads/DownloadMachine.swift", of: Self.receiving, Self.ending)
    }

    @Test func `an event that cannot be says why`() {
        for state in State.allCases {
            for event in Event.allCases {
                var machine = Self.machine(in: state)
                guard machine.handle(event) == .impossible else { continue }
                let objection = DownloadMachine.objection(to: event, in: state)
                #expect(objection.hasPrefix("\(event) while \(state): ") && !objection.contains("at any time"))
            }
        }
    }

    @Test func `the task waits for a download whose file is not made, and for no other`() {
        for state in State.allCases {
            let machine = Self.machine(in: state)
            #expect(machine.isHolding == ![.done, .saving, .over].contains(state), "\(state)")
            #expect(machine.mayStartOver == [.asking, .gathering, .writing, .behind].contains(state), "\(state)")
        }
    }

    // MARK: - Orders of events

    /// Tells a machine in this state one event after the other.
    private static func actions(in state: State, _ events: Event...) -> [Action] {
        var machine = machine(in: state)
        return events.map { machine.handle($0) }
    }

    @Test func `a file that is as good as made is delivered to a caller who asks for resume data`() {
        #expect(
            Self.actions(in: .flushing, .cancelled, .written, .flushed, .named, .completed)
                == [.finishFile, .flush, .name, .handOver, .deliver]
        )
        #expect(Self.actions(in: .naming, .cancelled, .named, .completed) == [.finishFile, .handOver, .deliver])
        // The disk hangs, or is full: there is neither a file nor resume data.
        #expect(Self.actions(in: .naming, .cancelled, .overdue, .completed) == [.finishFile, .giveUp, .discard])
        #expect(Self.actions(in: .naming, .cancelled, .diskFailed, .completed) == [.finishFile, .fail, .discard])
        // Another caller cancels, who does not wait.
        #expect(Self.actions(in: .naming, .cancelled, .dropped, .completed) == [.finishFile, .leave, .discard])
    }

    @Test func `a write that ends after the download has failed starts no other`() {
        #expect(Self.actions(in: .behind, .failed, .written, .saved) == [.save, .nothing, .report])
        #expect(Self.actions(in: .behind, .dropped, .completed, .written) == [.leave, .discard, .nothing])
    }

    @Test func `a full disk ends the download once, with what it had written`() {
        #expect(
            Self.actions(in: .behind, .diskFailed, .failed, .diskFailed, .saved, .completed)
                == [.fail, .save, .nothing, .report, .discard]
        )
        #expect(Self.actions(in: .naming, .diskFailed, .failed, .saved) == [.fail, .save, .report])
    }

    @Test func `a part that is saved after a minute is removed again`() {
        #expect(
            Self.actions(in: .saving, .overdue, .completed, .saved, .overdue)
                == [.giveUp, .discardPart, .nothing, .nothing]
        )
    }

    @Test func `a part to which no byte was added outlives any failure but its caller's`() {
        for state in [State.looking, .askingRest] {
            for event in [Event.failed, .spoilt, .timedOut, .cancelled] {
                #expect(Self.actions(in: state, event) == [.save], "\(event) in \(state)")
            }
            #expect(Self.actions(in: state, .dropped, .completed) == [.leave, .discard], "\(state)")
        }
        // What was asked for is not waited for any more.
        #expect(Self.actions(in: .looking, .cancelled, .found, .saved) == [.save, .nothing, .report])
    }

    @Test func `a failure after the end waits for nothing`() {
        for event in [Event.failed, .spoilt, .timedOut, .cancelled, .dropped] {
            #expect(Self.actions(in: .over, event) == [.leave])
            #expect(Self.actions(in: .done, event) == [.leave])
        }
    }

    // MARK: - The driver

    @Test(arguments: [false, true])
    func `an event that cannot be ends the task with an error that names both`(isSaving: Bool) throws {
        let folder = try ScratchFolder()
        let world = VirtualWorld()
        world.configure {
            $0.temporaryFolder = folder.url
            $0.timeoutIntervalForRequest = 5
        }
        let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 100\r\n\r\nsome of it"
        world.script("a.test", .expectRequest, .reply(head), .stall)
        world.workers.take(.seconds(3 * 3600))
        let outcomes = DownloadOutcomes()
        let url = try #require(URL(string: "http://a.test/"))
        let task = world.session.downloadTask(with: url, completionHandler: outcomes.handler)
        task.resume()
        // The bytes wait for the disk; later the load has failed, and waits for what the disk saves.
        world.advance(by: isSaving ? .seconds(10) : .seconds(1))
        let action = Lock<Action?>(nil)
        world.loop.enqueue { [load = task.load] in
            let load = load.value
            action.withLock { $0 = (load.consumer as? DownloadConsumer)?.take(.flushed, for: load) }
        }
        world.settle()

        #expect(action.withLock { $0 } == .impossible)
        let error = try #require(outcomes.all.value.first?.error)
        let state = isSaving ? "saving" : "writing"
        #expect(error.code == .unknown && error.loadFailure?.reason == .fault)
        #expect(error.loadFailure?.message.contains("flushed while \(state): the body has not arrived") == true)
        #expect(world.finish() == [])
        #expect(folder.leftovers.isEmpty)
    }
}
