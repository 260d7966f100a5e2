@Suite("Cancelling at every point")
struct CancellationTests {
    @Test(arguments: Scenario.allCases)
    func `T-API-01 T-MSG-44 a task cancelled after any event completes once and leaves nothing behind`(
        scenario: Scenario
    ) {
        var steps = 0
        var isOver = false
        while !isOver, steps < 2000 {
            let running = RunningScenario(scenario)
            isOver = running.run(steps: steps)
            let before = running.events.record.events

            running.events.task.cancel()
            running.world.run(limit: .seconds(1))

            expectOneEnd(running, before, wasOver: isOver, steps)
            let next = running.world.get("http://api.test/next")
            running.world.run { next.isComplete }
            if scenario == .plain || scenario == .reused { #expect(next.body == "hello") }
            #expect(running.world.finish() == [], "after step \(steps)")
            steps += 1
        }
        #expect(isOver && steps > 3)
    }

    private func expectOneEnd(_ running: RunningScenario, _ before: [TaskEvent], wasOver: Bool, _ steps: Int) {
        let record = running.events.record
        #expect(record.completions == 1, "after step \(steps): \(record.events)")
        #expect(record.events.count { $0 == .metrics } == 1 && record.events.dropLast().last == .metrics)
        #expect(record.events.starts(with: before), "after step \(steps)")
        if wasOver { #expect(record.events == before) }
        #expect(running.events.task.state == .completed)
    }

    @Test(arguments: Scenario.allCases)
    func `T-API-07 a session invalidated after any event ends its task and says so last`(scenario: Scenario) {
        var steps = 0
        var isOver = false
        while !isOver, steps < 2000 {
            let running = RunningScenario(scenario)
            isOver = running.run(steps: steps)
            let recorder = running.world.recorder

            running.world.session.invalidateAndCancel()
            running.world.session.finishTasksAndInvalidate()
            let late = running.world.get("http://api.test/late")
            running.world.run()

            #expect(running.events.record.completions == 1)
            #expect(running.events.record.events.count { $0 == .metrics } == 1)
            #expect(late.task.state == .completed && late.task.error != nil)
            #expect(recorder.invalidations == 1)
            #expect(recorder.eventsAfterInvalidation == 0)
            #expect(running.world.finish() == [], "after step \(steps)")
            steps += 1
        }
        #expect(isOver && steps > 3)
    }

    @Test func `T-API-02 cancelling before resume, twice and after the end is one completion`() {
        let world = VirtualWorld()
        world.serveEcho("api.test")
        let unborn = world.make("GET", "http://api.test/")
        let twice = world.get("http://api.test/")

        unborn.task.cancel()
        unborn.task.resume()
        twice.task.cancel()
        twice.task.cancel()
        world.run()
        unborn.task.cancel()
        twice.task.resume()
        world.run()

        #expect(unborn.record.events == [.failed(.cancelled)])
        #expect(twice.record.events == [.metrics, .failed(.cancelled)])
        #expect(world.finish() == [])
    }
}
