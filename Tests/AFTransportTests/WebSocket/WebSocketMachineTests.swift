@testable import AFTransport

/// What a WebSocket does next, in each state and at each event.
@Suite struct WebSocketMachineTests {
    typealias Machine = WebSocketMachine

    /// The action, and the state that follows if it is another. `-`: nothing. `x`: impossible, which ends the connection.
    private static let table = """
                        open                  closing          skipping         failing        ending          over
        sendAsked       send                  refuse           refuse           refuse         refuse          refuse
        closeAsked      sendClose>closing     -                -                -              -               -
        dropAsked       sayGoodbye>over       drop>over        drop>over        drop>over      drop>over       -
        message         deliver               deliver          skip             x>over         x>over          -
        unwantedMessage deliver               skip>skipping    skip             x>over         x>over          -
        serverPing      pong                  pong             pong             x>over         x>over          -
        serverClosed    answerClose>ending    noteClose>ending noteClose>ending x>over         x>over          -
        violation       failWithClose>failing fail>failing     fail>failing     x>over         x>over          -
        bytesLeft       -                     restartTimer     restartTimer     -              -               -
        allLeft         -                     -                -                endWriting     -               -
        sendingFailed   readRest              readRest         readRest         readRest       readRest        -
        lost            end>over              end>over         end>over         endFailed>over endInOrder>over -
        closeOverdue    x>over                end>over         end>over         endFailed>over endInOrder>over -
        """

    @Test(arguments: [false, true], [false, true])
    func `each state answers each event as the table says`(isSuspended: Bool, isBroken: Bool) {
        func wanted(_ cell: String) -> String {
            // A Close frame needs a server that takes it, and a task that goes on.
            if cell == "sayGoodbye>over", isSuspended || isBroken { return "drop>over" }
            // The server fails to take bytes once.
            return cell == "readRest" && isBroken ? "x>over" : cell
        }
        expectTable(Self.table, of: Machine.State.allCases, Machine.Event.self, wanted: wanted) { state, event in
            var machine = Machine(state: state, isSuspended: isSuspended, isBroken: isBroken)
            let action = machine.handle(event)
            #expect(machine.isSuspended == isSuspended)
            #expect(machine.isBroken == isBroken || action == .readRest, "\(event) in \(state)")
            return (action, machine.state)
        }
    }

    @Test func `its drawing has the arrows of the table`() throws {
        try expectDrawing(in: "AFTransport/WebSocket/WebSocketMachine.swift", of: Self.table)
    }

    @Test func `an event that cannot be says why`() {
        for state in Machine.State.allCases {
            for event in Machine.Event.allCases {
                for isBroken in [false, true] {
                    var machine = Machine(state: state, isBroken: isBroken)
                    guard machine.handle(event) == .impossible else { continue }
                    let objection = Machine.objection(to: event, in: state)
                    #expect(!objection.contains("at any time"), "\(objection)")
                }
            }
        }
        #expect(Machine.objection(to: .closeOverdue, in: .open) == "closeOverdue while open: neither side has closed")
    }

    @Test func `only an open connection lets the server wait for its client, and a suspended one for everybody`() {
        for state in Machine.State.allCases {
            let wanted = Machine(state: state).reads(isWanted: true)
            #expect(wanted == (state != .over), "\(state)")
            let unwanted = Machine(state: state).reads(isWanted: false)
            #expect(unwanted == (state != .open && state != .over), "\(state)")
            // What has arrived is not lost when the server goes away.
            let broken = Machine(state: state, isBroken: true).reads(isWanted: false)
            #expect(broken == (state != .over), "\(state)")
            let suspended = Machine(state: state, isSuspended: true, isBroken: true).reads(isWanted: true)
            #expect(!suspended, "\(state)")
            #expect(Machine(state: state).decodes == [.open, .closing, .skipping].contains(state), "\(state)")
        }
    }

    @Test func `a machine is resumed once`() {
        var machine = Machine()
        let early = machine.resume()
        machine.suspend()
        machine.suspend()
        #expect(!early && machine.isSuspended)
        let (first, second) = (machine.resume(), machine.resume())
        #expect(first && !second && !machine.isSuspended)
    }
}
