@testable import AFNetworking

@Suite("The life of an operation")
struct OperationMachineTests {
    private enum Step: CaseIterable { case start, pause, resume, cancel, finish }

    private static func take(_ step: Step, _ machine: inout OperationMachine) {
        switch step {
        case .start: _ = machine.start(mayRun: true)
        case .pause: _ = machine.pause()
        case .resume: _ = machine.resume()
        case .cancel: _ = machine.cancel()
        case .finish: _ = machine.finish()
        }
    }

    @Test("2.2 14 operations: the changes there are, and no other: every sequence of six steps")
    func table() {
        let legal: Set<[OperationPhase]> = [
            [.ready, .paused], [.ready, .executing], [.executing, .paused], [.executing, .finished], [.paused, .ready],
            // Resumed after it had begun: ready and started at once.
            [.paused, .executing],
        ]
        var seen: Set<[OperationPhase]> = []
        func walk(_ machine: OperationMachine, _ depth: Int) {
            guard depth > 0 else { return }
            for step in Step.allCases {
                var next = machine
                Self.take(step, &next)
                if next.phase != machine.phase {
                    seen.insert([machine.phase, next.phase])
                    if next.phase == .finished, machine.phase != .executing {
                        #expect(machine.isCancelled, "\(machine.phase) finished without having been cancelled")
                    } else {
                        #expect(legal.contains([machine.phase, next.phase]), "\(machine.phase) to \(next.phase)")
                    }
                }
                #expect(machine.phase != .finished || next.phase == .finished)
                walk(next, depth - 1)
            }
        }
        walk(OperationMachine(), 6)
        #expect(legal.isSubset(of: seen))
    }

    @Test("16 2.8 notifications balance: never two starts in a row, never an end without a start")
    func announcements() {
        func walk(_ machine: OperationMachine, _ depth: Int) {
            guard depth > 0 else { return }
            for step in Step.allCases {
                var next = machine
                let before = next.isAnnounced
                Self.take(step, &next)
                if next.phase == .executing, machine.phase != .executing { #expect(!before && next.isAnnounced) }
                if next.phase != .executing { _ = next.takeAnnouncement() }
                walk(next, depth - 1)
            }
        }
        walk(OperationMachine(), 6)
    }

    @Test("2.3 a paused operation that was cancelled before it began waits to be started, and then fails")
    func pausedAndCancelled() {
        var machine = OperationMachine()
        #expect(machine.pause() == .ready)
        #expect(machine.cancel() == .wait && machine.phase == .ready)
        #expect(machine.start(mayRun: false) == .fail)
    }

    @Test("a call for one attempt has no effect on the next")
    func attempts() {
        var machine = OperationMachine()
        #expect(machine.start(mayRun: true) == .connect(attempt: 1))
        #expect(machine.start(mayRun: true) == .nothing)
        #expect(machine.pause() == .executing && machine.pause() == nil)
        #expect(machine.resume() == .connect(attempt: 2) && machine.resume() == .nothing)
        #expect(machine.finish() && !machine.finish())
        #expect(machine.cancel() == .nothing && machine.pause() == nil && machine.resume() == .nothing)
    }
}
