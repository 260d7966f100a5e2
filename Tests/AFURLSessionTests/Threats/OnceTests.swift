@Suite("Exactly one end")
struct OnceTests {
    @Test(arguments: Scenario.allCases)
    func `T-API-05 a task completes once, with a delegate and with a handler`(scenario: Scenario) throws {
        let world = VirtualWorld()
        scenario.prepare(world)
        if scenario.needsWarmUp { world.load("http://api.test/warm-up") }
        var request = URLRequest(url: try #require(URL(string: "http://api.test/")))
        request.httpMethod = scenario.method
        request.httpBody = scenario.body
        let calls = Lock(0)
        let handled = world.session.dataTask(with: request) { _, _, _ in calls.withLock { $0 += 1 } }

        handled.resume()
        let events = world.send(scenario.method, "http://api.test/", body: scenario.body)
        world.advance(by: .seconds(3600))

        #expect(calls.withLock { $0 } == 1)
        #expect(events.record.completions == 1)
        #expect(handled.state == .completed && events.task.state == .completed)
        #expect(world.finish() == [])
    }
}
